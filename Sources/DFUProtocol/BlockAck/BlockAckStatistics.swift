extension BlockAck {
    /// What a transfer went through.
    public struct Statistics: Sendable, Hashable {
        /// Blocks that the device acknowledged to this transfer.
        public var blocksAcknowledged = 0
        /// Blocks and commands that were sent once more.
        public var retries = 0
        /// How often the device was asked anew where to go on.
        public var resyncs = 0
        /// Answers that were late, doubled, damaged or foreign.
        public var droppedReplies = 0
        /// Answers that said busy.
        public var busyReplies = 0

        /// Nothing happened yet.
        public init() {}
    }
}
