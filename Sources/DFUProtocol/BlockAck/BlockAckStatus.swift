extension BlockAck {
    /// How a device judges a command: the first byte of its answer.
    ///
    /// A code that has no name here is representable too.
    public struct Status: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The byte on the wire.
        public let rawValue: UInt8

        /// The status that this byte stands for; any byte is one.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The command was carried out.
        public static let ok = Status(rawValue: 0x00)
        /// The device does not know the command.
        public static let unsupportedCommand = Status(rawValue: 0x01)
        /// The command does not fit what the device is doing, for instance `complete` while blocks are missing.
        public static let wrongState = Status(rawValue: 0x02)
        /// The frame arrived damaged.
        public static let badFrameChecksum = Status(rawValue: 0x03)
        /// The image does not fit into the device.
        public static let imageTooLarge = Status(rawValue: 0x04)
        /// The version is not newer than the one that runs; the same is not newer.
        public static let versionNotNewer = Status(rawValue: 0x05)
        /// The battery is too low for an update.
        public static let batteryTooLow = Status(rawValue: 0x06)
        /// The block's bytes do not have the CRC-32 that its header announced.
        public static let blockMismatch = Status(rawValue: 0x07)
        /// Packets of the block are missing.
        public static let packetsMissing = Status(rawValue: 0x08)
        /// The image's bytes do not have the announced CRC-32; the device has dropped the image.
        public static let imageMismatch = Status(rawValue: 0x09)
        /// The device could not write its flash.
        public static let flashWriteFailed = Status(rawValue: 0x0A)
        /// The device is at work: the command is to be repeated later.
        public static let busy = Status(rawValue: 0x0B)

        /// What it means, with the code: `block CRC mismatch (status 07)`.
        public var description: String {
            "\(meaning) (status \(rawValue.hexadecimal))"
        }

        /// What it means, in words.
        var meaning: String {
            switch self {
            case .ok: "ok"
            case .unsupportedCommand: "unsupported command"
            case .wrongState: "wrong state"
            case .badFrameChecksum: "bad frame checksum"
            case .imageTooLarge: "image too large"
            case .versionNotNewer: "version not newer"
            case .batteryTooLow: "battery too low"
            case .blockMismatch: "block CRC mismatch"
            case .packetsMissing: "packets missing"
            case .imageMismatch: "image CRC mismatch"
            case .flashWriteFailed: "flash write failed"
            case .busy: "busy"
            default: "a status without a known meaning"
            }
        }
    }
}
