/// What a Nordic bootloader is told of a firmware before it takes it: the content of a `.dat` file.
public enum InitPacket: Sendable, Hashable {
    /// Of Secure DFU (nRF5 SDK 12 to 17).
    case secure(SecureInitPacket)
    /// Of Legacy DFU (SDK 4 to 11, Adafruit, InfiniTime).
    case legacy(LegacyInitPacket)

    /// The bytes as they are sent.
    public var bytes: [UInt8] {
        switch self {
        case .secure(let packet): packet.bytes
        case .legacy(let packet): packet.bytes
        }
    }

    /// Every field in the order of the bytes.
    public var fields: [Field] {
        switch self {
        case .secure(let packet): packet.fields
        case .legacy(let packet): packet.fields
        }
    }

    /// One field, for display: what it is called, what it says, where it lies.
    public struct Field: Sendable, Hashable {
        /// The name of the specification, in the message it is part of: `hw_version`, `hash.hash_type`,
        /// `unknown field 12`.
        public var name: String
        /// The value as text: numbers in decimal, bytes in hexadecimal in the order of the file.
        public var value: String
        /// The field's bytes in the init packet. In the secure form they include key and length.
        public var range: Range<Int>
    }

    /// No init packet is longer: 64 KiB. Bootloaders have room for 512 bytes (nRF5 SDK, nrf_dfu_req_handler.c), and each
    /// field of a longer one would cost far more memory than its bytes.
    public static let maximumSize = 64 << 10

    /// Decodes `bytes` as whichever generation they are.
    ///
    /// Errors: `.malformed` with the reason `initPacketMalformed`, which says how far the decoding came; `.excessive`
    /// with `initPacketTooLarge`.
    public init(decoding bytes: [UInt8]) throws(PackageError) {
        guard bytes.count <= Self.maximumSize else {
            throw PackageError(
                .excessive, reason: "initPacketTooLarge",
                message: "the init packet has \(bytes.count) bytes, past the limit of \(Self.maximumSize)")
        }
        do throws(PackageError) {
            self = .secure(try SecureInitPacket(decoding: bytes))
        } catch {
            guard LegacyInitPacket.hasItsShape(bytes) else { throw error }
            self = .legacy(try LegacyInitPacket(decoding: bytes))
        }
    }
}
