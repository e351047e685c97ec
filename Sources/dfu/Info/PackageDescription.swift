import DFUPackage
import DFUProtocol
import FoundationEssentials

/// What `dfu info` tells of a package: its JSON is this value, and its text for people (`PackageText`) is made from
/// nothing else, so that the two never say different things.
///
/// In JSON, bytes are lower-case hexadecimal strings in the order of the file, and what there is not is left out.
struct PackageDescription: Encodable, Equatable {
    /// Something strange that does not stand in the way.
    struct Warning: Encodable, Equatable {
        var reason: String
        var message: String
    }

    /// A fault.
    struct Problem: Encodable, Equatable {
        var code: PackageError.Code
        var reason: String
        var message: String
    }

    /// The version of this form; it grows without a new number.
    var schema = 1
    /// The file's name without its folder.
    var file: String
    /// Whether nothing is wrong: `problems` is empty.
    var sound: Bool
    var problems: [Problem]
    var warnings: [Warning] = []
    var kind: Package.Kind?
    var size: Int?
    var sha256: String?
    /// What the file's name says of it.
    var name: NameDescription?
    var manifest: ManifestDescription?
    /// The images in the order in which they are sent.
    var parts: [PartDescription] = []

    /// - Parameter key: Whose owner must have signed the package; nil: signatures are not verified.
    init(_ package: Package, key: SignatureKey? = nil) {
        let problems = package.problems + (key.map(package.signatureProblems) ?? [])
        file = package.fileName
        sound = problems.isEmpty
        self.problems = problems.map(Problem.init)
        warnings = package.warnings.map { Warning(reason: $0.reason, message: $0.message) }
        kind = package.kind
        size = package.size
        sha256 = package.sha256.hexadecimal
        name = NameDescription(package.statedName)
        manifest = package.manifest.map(ManifestDescription.init)
        parts = package.parts.map { PartDescription($0, key: key) }
    }

    /// A file of which nothing could be read.
    init(unreadable path: String, _ error: PackageError) {
        file = path.split(separator: "/").last.map(String.init) ?? path
        sound = false
        problems = [Problem(error)]
    }

    /// The JSON document.
    var json: String { JSONDocument.text(self) }
}

extension PackageDescription.Problem {
    fileprivate init(_ error: PackageError) {
        self.init(code: error.code, reason: error.reason, message: error.message)
    }
}

/// What a file's name says of its content.
struct NameDescription: Encodable, Equatable {
    /// What comparing the name's CRC-32 with the content gave.
    enum Verdict: String, Encodable {
        case matches, differs, notStated
    }

    var version: String?
    /// The name's CRC-32, eight upper-case digits.
    var crc32: String?
    /// The content's CRC-32; of Intel HEX that of the firmware or of the text, whichever the name means.
    var contentCRC32: String
    var verdict: Verdict

    init(_ name: FileName) {
        version = name.version?.text
        crc32 = name.crc.map { $0.value.hexadecimal }
        contentCRC32 = name.contentCRC.hexadecimal
        verdict = name.crc.map { $0.matches ? .matches : .differs } ?? .notStated
    }
}
