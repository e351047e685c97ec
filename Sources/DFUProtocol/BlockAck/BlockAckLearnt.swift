extension BlockAck {
    /// What a transfer found out about a device and the way to it, for the next one to start from.
    ///
    /// Losing it costs time, never correctness.
    public struct Learnt: Sendable, Hashable, Codable {
        /// The pace of the packets; nil where the gap is fixed or nothing was sent.
        public var pace: Pace?
        /// Bytes of the image in a packet, where the device did not take as many as it offered.
        public var dataLength: Int?

        /// Nothing yet.
        public init() {}
    }
}
