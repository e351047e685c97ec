extension SecureDFU {
    /// What is sent: a part of a package.
    public struct Image: Sendable, Hashable {
        /// The init packet, at least one byte.
        public let initPacket: [UInt8]
        /// The firmware, at least one byte.
        public let firmware: [UInt8]

        /// An image of these bytes. An empty one is a programmer's mistake.
        public init(initPacket: [UInt8], firmware: [UInt8]) {
            precondition(!initPacket.isEmpty && !firmware.isEmpty, "a part has an init packet and a firmware")
            precondition(UInt32(exactly: firmware.count) != nil, "a firmware is counted in 32 bits")
            self.initPacket = initPacket
            self.firmware = firmware
        }

        /// The bytes of what objects of a type hold.
        func bytes(of type: ObjectType) -> [UInt8] {
            switch type {
            case .command: initPacket
            case .data: firmware
            }
        }
    }
}
