/// The init packet of Legacy DFU (nRF5 SDK 7 to 11), or its older form, which is a CRC-16 alone (SDK 4 to 6).
public struct LegacyInitPacket: Sendable, Hashable {
    /// What the device checks the firmware with; the generator chose by its `dfu_version`.
    public enum Check: Sendable, Hashable {
        /// CRC-16 (up to 0.5).
        case crc16(UInt16)
        /// CRC-16 behind the extended packet ID 0 (0.6).
        case extendedCRC16(UInt16)
        /// Size and SHA-256 in natural order, extended packet ID 1 (0.7).
        case sha256(size: UInt32, hash: [UInt8])
        /// The same and an ECDSA P-256 signature, R then S, over all bytes before it, extended packet ID 2 (0.8).
        case signed(size: UInt32, hash: [UInt8], signature: [UInt8])
    }

    /// The packet as it is sent.
    public let bytes: [UInt8]
    /// Every field in the order of the bytes.
    public private(set) var fields: [InitPacket.Field] = []
    /// The device type; FFFF stands for any. Nil in the form that is a CRC alone, as are the next ones.
    public private(set) var deviceType: UInt16?
    /// The device revision; FFFF stands for any.
    public private(set) var deviceRevision: UInt16?
    /// The application's version; FFFFFFFF where nothing was said.
    public private(set) var applicationVersion: UInt32?
    /// The firmware IDs of the SoftDevices that it runs with; FFFE stands for any.
    public private(set) var softdevices: [UInt16] = []
    /// What the device checks the firmware with.
    public let check: Check

    /// The bytes that the signature covers, or nil in an unsigned packet.
    public var signedRange: Range<Int>? {
        guard case .signed(_, _, let signature) = check else { return nil }
        return 0..<bytes.count - signature.count
    }

    /// Decodes a whole packet.
    ///
    /// Errors: `.malformed` with the reason `initPacketMalformed`.
    public init(decoding bytes: [UInt8]) throws(PackageError) {
        guard Self.hasItsShape(bytes) else {
            throw PackageError(
                .malformed, reason: "initPacketMalformed",
                message: "the init packet has \(bytes.count) bytes, which is no form of a Legacy DFU init packet")
        }
        self.bytes = bytes
        var cursor = Cursor(bytes: bytes)
        if bytes.count > 2 {
            deviceType = UInt16(cursor.number("device_type", 2))
            deviceRevision = UInt16(cursor.number("device_revision", 2))
            applicationVersion = cursor.number("application_version", 4)
            let count = Int(cursor.number("softdevice_len", 2))
            softdevices = (0..<count).map { _ in UInt16(cursor.number("softdevice", 2)) }
        }
        switch bytes.count - cursor.position {
        case 2: check = .crc16(UInt16(cursor.number("firmware_crc16", 2)))
        case 6:
            _ = cursor.number("ext_packet_id", 4)
            check = .extendedCRC16(UInt16(cursor.number("firmware_crc16", 2)))
        default:
            let id = cursor.number("ext_packet_id", 4)
            let size = cursor.number("firmware_length", 4)
            let hash = cursor.bytes("firmware_hash", 32)
            check =
                id == 1
                ? .sha256(size: size, hash: hash)
                : .signed(size: size, hash: hash, signature: cursor.bytes("init_packet_ecds", 64))
        }
        fields = cursor.fields
    }

    /// Whether `bytes` have a length and inner lengths that one of the forms has.
    static func hasItsShape(_ bytes: [UInt8]) -> Bool {
        if bytes.count == 2 { return true }
        guard bytes.count >= 12 else { return false }
        let count = Int(bytes[8]) | Int(bytes[9]) << 8
        let rest = bytes.dropFirst(10 + 2 * count)
        let extended = rest.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
        switch rest.count {
        case 2: return true
        case 6: return extended == 0
        case 40: return extended == 1
        case 104: return extended == 2
        default: return false
        }
    }

    private struct Cursor {
        let bytes: [UInt8]
        var position = 0
        var fields: [InitPacket.Field] = []

        mutating func number(_ name: String, _ size: Int) -> UInt32 {
            let range = position..<position + size
            let value = bytes[range].reversed().reduce(0) { $0 << 8 | UInt32($1) }
            fields.append(InitPacket.Field(name: name, value: "\(value)", range: range))
            position += size
            return value
        }

        mutating func bytes(_ name: String, _ size: Int) -> [UInt8] {
            let range = position..<position + size
            fields.append(InitPacket.Field(name: name, value: Array(bytes[range]).hexadecimal, range: range))
            position += size
            return Array(bytes[range])
        }
    }
}
