extension SecureDFU {
    /// What a transfer found out about a device and the way to it, for the next one to start from.
    ///
    /// Losing it costs time, never correctness.
    public struct Learnt: Sendable, Hashable, Codable {
        /// How quickly packets can go; nil where none was sent.
        public var pace: Pace?
        /// Whether the device takes the wish for receipts, and sends none.
        public var sendsNoReceipts = false
        /// Whether the device would not take an init packet, and was told to restart.
        public var isStuck = false

        /// Nothing yet.
        public init() {}
    }
}
