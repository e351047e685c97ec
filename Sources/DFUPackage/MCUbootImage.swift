/// An image for MCUboot: header, program, TLV areas, and what follows them in a padded file
/// (mcu-tools/mcuboot, `boot/bootutil/include/bootutil/image.h`, `docs/design.md`).
///
/// A broken image is read as far as it goes; `problems` says what is wrong with it.
public struct MCUbootImage: Sendable, Hashable {
    /// How every image starts, as in the file: `3d b8 f3 96`.
    public static let magic: UInt32 = 0x96F3_B83D

    /// The header; nil where the file has none.
    public let header: Header?
    /// The TLVs that the digest covers.
    public let protectedTLVs: [TLV]
    /// The other TLVs.
    public let tlvs: [TLV]
    /// The digests that the image carries, and whether they are its own; SMP knows an image by the first.
    public let digests: [Digest]
    /// Bytes from the header to the last TLV, as header and TLV area say; more than the file has when it is cut short.
    public let size: Int?
    /// What digests and signatures are over: header, program and protected TLVs; nil where the file does not have them all.
    public let signedRange: Range<Int>?
    /// What the file has behind those.
    public let trailing: Trailing?
    /// What is wrong with the image; nothing for a sound one.
    public let problems: [PackageError]

    /// Whether `bytes` start as an image does.
    public static func hasMagic(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 4 && bytes.uint32(at: 0) == magic
    }

    /// Reads as much of `bytes` as there is.
    public init(reading bytes: [UInt8]) {
        var reader = MCUbootReader(bytes)
        reader.read()
        header = reader.header
        protectedTLVs = reader.protectedTLVs
        tlvs = reader.tlvs
        digests = reader.digests
        size = reader.size
        signedRange = reader.signedRange
        trailing = reader.size.flatMap { Trailing(behind: $0, in: bytes) }
        problems = reader.problems
    }

    /// The version of the header; its fourth number is the build.
    public var version: FirmwareVersion? { header?.version }

    /// The digest by which SMP knows the image.
    public var digest: Digest? { digests.first }

    /// The signatures, each with the key that the TLV before it names.
    public var signatures: [Signature] {
        var key: Signature.Key?
        let isPure = tlvs.contains { $0.kind == .pureSignature }
        return tlvs.compactMap { tlv in
            switch tlv.kind {
            case .keyHash: key = .hash(tlv.value)
            case .publicKey: key = .whole(tlv.value)
            case _ where tlv.kind.isSignature:
                return Signature(kind: tlv.kind, bytes: tlv.value, key: key, isPure: isPure)
            default: break
            }
            return nil
        }
    }

    /// The counter against going back, of a protected TLV.
    public var securityCounter: UInt32? {
        protectedTLVs.first { $0.kind == .securityCounter && $0.value.count == 4 }?.value.uint32(at: 0)
    }

    /// The images that this one needs.
    public var dependencies: [Dependency] {
        protectedTLVs.filter { $0.kind == .dependency }.compactMap { Dependency($0.value) }
    }
}

extension MCUbootImage {
    /// A digest TLV.
    public struct Digest: Sendable, Hashable {
        /// The algorithm.
        public let kind: Checksum.Digest
        /// The digest that the TLV states.
        public let value: [UInt8]
        /// What comparing it with the image's bytes gave.
        public let verdict: Verdict

        /// What comparing a digest with the image's bytes gave.
        public enum Verdict: Sendable, Hashable {
            /// It is that of the bytes.
            case matches
            /// The bytes have another one, this.
            case differs([UInt8])
            /// The program is encrypted, and the digest is that of the plain one.
            case encrypted
        }
    }

    /// A signature TLV.
    public struct Signature: Sendable, Hashable {
        /// What names the key.
        public enum Key: Sendable, Hashable {
            /// The digest of the public key.
            case hash([UInt8])
            /// The public key itself, in DER.
            case whole([UInt8])
        }

        /// The algorithm, as its TLV's kind.
        public let kind: TLV.Kind
        /// The signature: ECDSA in DER, the others plain.
        public let bytes: [UInt8]
        /// The key that it is to be proven with.
        public let key: Key?
        /// Whether it is over the image itself, not over its digest.
        public let isPure: Bool
    }

    /// What another image has to be at least.
    public struct Dependency: Sendable, Hashable {
        /// The other image's number.
        public let image: Int
        /// Its least version.
        public let minimumVersion: FirmwareVersion

        init?(_ value: [UInt8]) {
            guard value.count == 12 else { return nil }
            image = Int(value[0])
            minimumVersion = FirmwareVersion(mcuboot: value[4..<12])
        }
    }
}
