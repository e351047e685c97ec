extension SecureDFU {
    /// What a transfer went through.
    public struct Statistics: Sendable, Hashable {
        /// Objects that the device executed for this transfer, the init packet among them.
        public var objectsExecuted = 0
        /// How often an object was sent once more, or from its beginning instead of from where it had been left.
        public var objectsResent = 0
        /// Requests that were written once more.
        public var requestsRepeated = 0
        /// Bytes in packets, all sends counted.
        public var bytesSent = 0
        /// Receipts that acknowledged bytes.
        public var receipts = 0
        /// Answers and receipts that were late, doubled or foreign.
        public var droppedAnswers = 0

        /// Nothing happened yet.
        public init() {}
    }
}
