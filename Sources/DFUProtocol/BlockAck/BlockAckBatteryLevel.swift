extension BlockAck {
    /// What a device says of its battery.
    public enum BatteryLevel: Sendable, Hashable {
        /// How full it is, 0…100.
        case percent(Int)
        /// The device speaks block-ack, but does not tell, or names more than full.
        case unknown

        /// The level that the answer's byte stands for: tenths of full; above 10 is unknown.
        init(tenths: UInt8) {
            self = tenths <= 10 ? .percent(Int(tenths) * 10) : .unknown
        }
    }
}
