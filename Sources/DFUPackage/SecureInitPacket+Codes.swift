// The enumerations of dfu-cc.proto (nRF5 SDK 17). A maker may put in any number, so unknown ones are kept.

/// A number that a secure init packet has for one of several things, known or not.
public protocol SecureInitPacketCode: RawRepresentable<UInt64>, Sendable, Hashable, CustomStringConvertible {
    /// The specification's names, by number from 0.
    static var names: [String] { get }
}

extension SecureInitPacketCode {
    /// The specification's name, or `unknown (9)`.
    public var description: String {
        rawValue < UInt64(Self.names.count) ? Self.names[Int(rawValue)] : "unknown (\(rawValue))"
    }
}

extension SecureInitPacket {
    /// What kind of image the packet is for (`FwType`).
    public struct ImageType: SecureInitPacketCode {
        /// The number in the packet.
        public let rawValue: UInt64
        /// The code with this number.
        public init(rawValue: UInt64) { self.rawValue = rawValue }
        /// `APPLICATION`
        public static let application = ImageType(rawValue: 0)
        /// `SOFTDEVICE`
        public static let softdevice = ImageType(rawValue: 1)
        /// `BOOTLOADER`
        public static let bootloader = ImageType(rawValue: 2)
        /// `SOFTDEVICE_BOOTLOADER`
        public static let softdeviceBootloader = ImageType(rawValue: 3)
        /// `EXTERNAL_APPLICATION`
        public static let externalApplication = ImageType(rawValue: 4)
        /// The specification's names.
        public static let names = [
            "APPLICATION", "SOFTDEVICE", "BOOTLOADER", "SOFTDEVICE_BOOTLOADER", "EXTERNAL_APPLICATION",
        ]
    }

    /// What the hash is made with (`HashType`). Nordic's bootloaders accept SHA-256 alone.
    public struct HashType: SecureInitPacketCode {
        /// The number in the packet.
        public let rawValue: UInt64
        /// The code with this number.
        public init(rawValue: UInt64) { self.rawValue = rawValue }
        /// `NO_HASH`
        public static let none = HashType(rawValue: 0)
        /// `CRC`
        public static let crc = HashType(rawValue: 1)
        /// `SHA128`
        public static let sha128 = HashType(rawValue: 2)
        /// `SHA256`
        public static let sha256 = HashType(rawValue: 3)
        /// `SHA512`
        public static let sha512 = HashType(rawValue: 4)
        /// The specification's names.
        public static let names = [
            "NO_HASH", "CRC", "SHA128", "SHA256", "SHA512",
        ]
    }

    /// What the signature is made with (`SignatureType`).
    public struct SignatureType: SecureInitPacketCode {
        /// The number in the packet.
        public let rawValue: UInt64
        /// The code with this number.
        public init(rawValue: UInt64) { self.rawValue = rawValue }
        /// `ECDSA_P256_SHA256`
        public static let ecdsaP256SHA256 = SignatureType(rawValue: 0)
        /// `ED25519`
        public static let ed25519 = SignatureType(rawValue: 1)
        /// The specification's names.
        public static let names = [
            "ECDSA_P256_SHA256", "ED25519",
        ]
    }

    /// How the bootloader checks an image at each start (`ValidationType`).
    public struct ValidationType: SecureInitPacketCode {
        /// The number in the packet.
        public let rawValue: UInt64
        /// The code with this number.
        public init(rawValue: UInt64) { self.rawValue = rawValue }
        /// `NO_VALIDATION`
        public static let none = ValidationType(rawValue: 0)
        /// `VALIDATE_GENERATED_CRC`
        public static let generatedCRC = ValidationType(rawValue: 1)
        /// `VALIDATE_SHA256`
        public static let sha256 = ValidationType(rawValue: 2)
        /// `VALIDATE_ECDSA_P256_SHA256`
        public static let ecdsaP256SHA256 = ValidationType(rawValue: 3)
        /// The specification's names.
        public static let names = [
            "NO_VALIDATION", "VALIDATE_GENERATED_CRC", "VALIDATE_SHA256", "VALIDATE_ECDSA_P256_SHA256",
        ]
    }
}
