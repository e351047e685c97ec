extension SecureDFU {
    /// The first byte of a request, which its answer repeats (SDK 17: `nrf_dfu_op_t`).
    public struct Opcode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The byte on the wire.
        public let rawValue: UInt8

        /// The opcode of this byte; any byte is one.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Makes a new object, in place of the open one.
        public static let create = Opcode(rawValue: 0x01)
        /// Sets after how many packets the device sends a receipt.
        public static let setReceipts = Opcode(rawValue: 0x02)
        /// Asks what was received.
        public static let checksum = Opcode(rawValue: 0x03)
        /// Has a complete object taken over.
        public static let execute = Opcode(rawValue: 0x04)
        /// Asks what there is of a type of object.
        public static let select = Opcode(rawValue: 0x06)
        /// Ends the update; the device resets.
        public static let abort = Opcode(rawValue: 0x0C)
        /// Goes before every answer.
        static let response = Opcode(rawValue: 0x60)

        /// The request's name, or `request 0A`.
        public var description: String {
            switch self {
            case .create: "create"
            case .setReceipts: "set receipts"
            case .checksum: "checksum"
            case .execute: "execute"
            case .select: "select"
            case .abort: "abort"
            default: "request \(rawValue.hexadecimal)"
            }
        }
    }

    /// A request of the host.
    package enum Request: Sendable, Hashable {
        /// Makes an object of `size` bytes.
        case create(ObjectType, size: UInt32)
        /// Wants a receipt after every so many packets; 0: none.
        case setReceipts(every: UInt16)
        /// Asks what was received.
        case checksum
        /// Has the complete object taken over.
        case execute
        /// Asks what there is of a type.
        case select(ObjectType)
        /// Ends the update; the device resets (SDK 15 and later), without an answer.
        case abort

        /// Which request it is.
        package var opcode: Opcode {
            switch self {
            case .create: .create
            case .setReceipts: .setReceipts
            case .checksum: .checksum
            case .execute: .execute
            case .select: .select
            case .abort: .abort
            }
        }

        /// The packet's bytes.
        package var encoded: [UInt8] {
            switch self {
            case .create(let type, let size): [opcode.rawValue, type.rawValue] + littleEndian(size)
            case .setReceipts(let count): [opcode.rawValue] + littleEndian(count)
            case .select(let type): [opcode.rawValue, type.rawValue]
            case .checksum, .execute, .abort: [opcode.rawValue]
            }
        }

        /// The request in a packet, as bootloaders read it; nil where the opcode or the type of object is unknown.
        ///
        /// They do not look at the length: what is missing reads as zero, and what is too much is not read (SDK 17:
        /// `nrf_dfu_ble.c`).
        package init?(_ bytes: [UInt8]) {
            guard let opcode = bytes.first.map(Opcode.init(rawValue:)) else { return nil }
            func byte(_ index: Int) -> UInt8 { index < bytes.count ? bytes[index] : 0 }
            switch opcode {
            case .create:
                guard let type = ObjectType(rawValue: byte(1)) else { return nil }
                self = .create(type, size: littleEndian(UInt32.self, (2..<6).map(byte)[...]))
            case .setReceipts: self = .setReceipts(every: littleEndian(UInt16.self, (1..<3).map(byte)[...]))
            case .checksum: self = .checksum
            case .execute: self = .execute
            case .select:
                guard let type = ObjectType(rawValue: byte(1)) else { return nil }
                self = .select(type)
            case .abort: self = .abort
            default: return nil
            }
        }
    }
}
