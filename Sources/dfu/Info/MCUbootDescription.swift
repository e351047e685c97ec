import DFUPackage
import DFUProtocol

/// What `dfu info` tells of an MCUboot image.
struct MCUbootDescription: Encodable, Equatable {
    /// What comparing a digest with the image's bytes gave.
    enum Verdict: String, Encodable {
        case matches, differs
        /// The program is encrypted, and the digest is that of the plain one.
        case encrypted
    }

    struct Digest: Encodable, Equatable {
        var algorithm: String
        var value: String
        var verdict: Verdict
        /// What the bytes give, where that is another one.
        var computed: String?
    }

    /// A signature. Without the key nobody can say whether it is valid.
    struct Signature: Encodable, Equatable {
        var algorithm: String
        var value: String
        /// The digest of the public key that it names.
        var keyHash: String?
        /// The public key that it brings along.
        var publicKey: String?
        /// Whether it is over the image itself, not over its digest.
        var pure: Bool
    }

    struct Dependency: Encodable, Equatable {
        var image: Int
        var minimumVersion: String
    }

    struct TLV: Encodable, Equatable {
        var type: UInt16
        var name: String
        var protected: Bool
        /// Where its value lies in the image.
        var offset: Int
        var length: Int
        var value: String
    }

    /// What the file has behind the image.
    struct Trailing: Encodable, Equatable {
        enum Content: String, Encodable {
            case padding, swapTrailer, unknown
        }

        var size: Int
        var content: Content
        /// Whether a swap trailer asks that the image stays.
        var confirmed: Bool?
    }

    var version: String?
    var headerSize: Int?
    var programSize: Int?
    var protectedTLVSize: Int?
    var loadAddress: UInt32?
    var flags: UInt32?
    var flagNames: [String]?
    /// From the header to the last TLV.
    var size: Int?
    var digests: [Digest]
    var signatures: [Signature]
    var securityCounter: UInt32?
    var dependencies: [Dependency]
    var tlvs: [TLV]
    var trailing: Trailing?
    /// What is wrong with the image; of no weight where the device takes it by another protocol.
    var problems: [String]

    init(_ image: MCUbootImage) {
        let header = image.header
        version = image.version?.text
        headerSize = header?.size
        programSize = header?.imageSize
        protectedTLVSize = header?.protectedTLVSize
        loadAddress = header?.loadAddress
        flags = header?.flags.rawValue
        flagNames = header?.flags.names
        size = image.size
        digests = image.digests.map(Digest.init)
        signatures = image.signatures.map(Signature.init)
        securityCounter = image.securityCounter
        dependencies = image.dependencies.map { Dependency(image: $0.image, minimumVersion: $0.minimumVersion.text) }
        let start = (header?.size ?? 0) + (header?.imageSize ?? 0)
        tlvs =
            Self.area(image.protectedTLVs, at: start, protected: true)
            + Self.area(image.tlvs, at: start + (header?.protectedTLVSize ?? 0), protected: false)
        trailing = image.trailing.map(Trailing.init)
        problems = image.problems.map(\.message)
    }

    /// The TLVs of one area, which follow each other behind its four bytes; each has four bytes before its value.
    private static func area(_ tlvs: [MCUbootImage.TLV], at start: Int, protected: Bool) -> [TLV] {
        var offset = start + 4
        return tlvs.map { tlv in
            defer { offset += 4 + tlv.value.count }
            return TLV(
                type: tlv.kind.rawValue, name: tlv.kind.name, protected: protected, offset: offset + 4,
                length: tlv.value.count, value: tlv.value.hexadecimal)
        }
    }
}

extension MCUbootDescription.Digest {
    fileprivate init(_ digest: MCUbootImage.Digest) {
        algorithm =
            switch digest.kind {
            case .sha256: "SHA-256"
            case .sha384: "SHA-384"
            case .sha512: "SHA-512"
            }
        value = digest.value.hexadecimal
        switch digest.verdict {
        case .matches: verdict = .matches
        case .encrypted: verdict = .encrypted
        case .differs(let bytes):
            verdict = .differs
            computed = bytes.hexadecimal
        }
    }
}

extension MCUbootDescription.Signature {
    fileprivate init(_ signature: MCUbootImage.Signature) {
        let ending = " signature"
        let name = signature.kind.name
        algorithm = name.hasSuffix(ending) ? String(name.dropLast(ending.count)) : name
        value = signature.bytes.hexadecimal
        pure = signature.isPure
        switch signature.key {
        case .hash(let hash): keyHash = hash.hexadecimal
        case .whole(let key): publicKey = key.hexadecimal
        case nil: break
        }
    }
}

extension MCUbootDescription.Trailing {
    fileprivate init(_ trailing: MCUbootImage.Trailing) {
        size = trailing.size
        switch trailing.content {
        case .padding: content = .padding
        case .unknown: content = .unknown
        case .swapTrailer(let isConfirmed):
            content = .swapTrailer
            confirmed = isConfirmed
        }
    }
}

extension MCUbootImage.Flags {
    /// What the set flags say, unknown ones as a number.
    fileprivate var names: [String] {
        let known: [(flag: Self, name: String)] = [
            (.positionIndependent, "position-independent"), (.encryptedAES128, "encrypted with AES-128"),
            (.encryptedAES256, "encrypted with AES-256"), (.nonBootable, "not bootable"), (.ramLoad, "loaded to RAM"),
            (.romFixed, "fixed address"), (.compressedLZMA1, "compressed with LZMA1"),
            (.compressedLZMA2, "compressed with LZMA2"), (.armThumbFilter, "ARM Thumb filter"),
        ]
        let rest = known.reduce(into: self) { $0.subtract($1.flag) }
        return known.filter { contains($0.flag) }.map(\.name)
            + (rest.isEmpty ? [] : ["unknown 0x\(rest.rawValue.hexadecimal)"])
    }
}
