extension MCUbootImage {
    /// A tagged value behind the program, `struct image_tlv`.
    public struct TLV: Sendable, Hashable {
        /// What the value is.
        public let kind: Kind
        /// The value.
        public let value: [UInt8]

        /// What a value is, `IMAGE_TLV_…`. Any number is representable.
        public struct Kind: RawRepresentable, Sendable, Hashable {
            /// The number in the image.
            public let rawValue: UInt16

            /// The kind with this number.
            public init(rawValue: UInt16) {
                self.rawValue = rawValue
            }
        }
    }
}

extension MCUbootImage.TLV.Kind {
    /// The digest of the public key.
    public static let keyHash = Self(rawValue: 0x01)
    /// The public key.
    public static let publicKey = Self(rawValue: 0x02)
    /// SHA-256 of header, program and protected TLVs.
    public static let sha256 = Self(rawValue: 0x10)
    /// SHA-384 of the same.
    public static let sha384 = Self(rawValue: 0x11)
    /// SHA-512 of the same.
    public static let sha512 = Self(rawValue: 0x12)
    /// RSA-2048 signature.
    public static let rsa2048 = Self(rawValue: 0x20)
    /// ECDSA signature on P-224.
    public static let ecdsa224 = Self(rawValue: 0x21)
    /// ECDSA signature; the key has the curve.
    public static let ecdsa = Self(rawValue: 0x22)
    /// RSA-3072 signature.
    public static let rsa3072 = Self(rawValue: 0x23)
    /// Ed25519 signature.
    public static let ed25519 = Self(rawValue: 0x24)
    /// Says that the signature is over the image itself, not over its digest.
    public static let pureSignature = Self(rawValue: 0x25)
    /// The cipher's key, wrapped with RSA-OAEP-2048.
    public static let encryptionRSA2048 = Self(rawValue: 0x30)
    /// The cipher's key, wrapped with AES-KW.
    public static let encryptionKeyWrap = Self(rawValue: 0x31)
    /// The cipher's key, wrapped with ECIES on P-256.
    public static let encryptionEC256 = Self(rawValue: 0x32)
    /// The cipher's key, wrapped with ECIES on X25519.
    public static let encryptionX25519 = Self(rawValue: 0x33)
    /// The cipher's key, wrapped with ECIES on X25519, with SHA-512 in its derivation.
    public static let encryptionX25519SHA512 = Self(rawValue: 0x34)
    /// What another image has to be at least.
    public static let dependency = Self(rawValue: 0x40)
    /// The counter against going back.
    public static let securityCounter = Self(rawValue: 0x50)
    /// The record for attestation, in CBOR.
    public static let bootRecord = Self(rawValue: 0x60)
    /// Bytes of the decompressed program.
    public static let decompressedSize = Self(rawValue: 0x70)
    /// Digest of the decompressed image.
    public static let decompressedDigest = Self(rawValue: 0x71)
    /// Signature of the decompressed image.
    public static let decompressedSignature = Self(rawValue: 0x72)
    /// Bytes of the compressed program when it is decrypted.
    public static let compressedSize = Self(rawValue: 0x73)
    /// The vendor's UUID, as imgtool 2.5 writes it.
    public static let vendorUUID = Self(rawValue: 0x74)
    /// The device class' UUID, as imgtool 2.5 writes it.
    public static let classUUID = Self(rawValue: 0x75)

    /// Whether the number is one of those that vendors may use: those whose low byte is A0 or more.
    public var isVendorReserved: Bool { rawValue & 0xFF >= 0xA0 && rawValue != 0xFFFF }

    /// The algorithm of a digest.
    public var digest: Checksum.Digest? {
        switch self {
        case .sha256: .sha256
        case .sha384: .sha384
        case .sha512: .sha512
        default: nil
        }
    }

    /// Whether the value is a signature of the image.
    public var isSignature: Bool {
        [.rsa2048, .ecdsa224, .ecdsa, .rsa3072, .ed25519].contains(self)
    }

    /// For people: `SHA-256`, `vendor 0x00A0`, `unknown 0x0090`.
    public var name: String {
        if let name = Self.names[self] { return name }
        return "\(isVendorReserved ? "vendor" : "unknown") 0x\(rawValue.hexadecimal)"
    }

    private static let names: [Self: String] = [
        .keyHash: "key hash", .publicKey: "public key",
        .sha256: "SHA-256", .sha384: "SHA-384", .sha512: "SHA-512",
        .rsa2048: "RSA-2048 signature", .ecdsa224: "ECDSA P-224 signature", .ecdsa: "ECDSA signature",
        .rsa3072: "RSA-3072 signature", .ed25519: "Ed25519 signature", .pureSignature: "signature over the image",
        .encryptionRSA2048: "key wrapped with RSA-2048", .encryptionKeyWrap: "key wrapped with AES-KW",
        .encryptionEC256: "key wrapped with EC-256", .encryptionX25519: "key wrapped with X25519",
        .encryptionX25519SHA512: "key wrapped with X25519 and SHA-512",
        .dependency: "dependency", .securityCounter: "security counter", .bootRecord: "boot record",
        .decompressedSize: "decompressed size", .decompressedDigest: "decompressed digest",
        .decompressedSignature: "decompressed signature", .compressedSize: "compressed size",
        .vendorUUID: "vendor UUID", .classUUID: "class UUID",
    ]
}
