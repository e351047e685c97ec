/// A file with firmware in it, read and checked as far as that goes without a device.
///
/// Reading never fails: what is wrong stands in `problems`, and what could be read is there all the same.
/// ```swift
/// let package = try Package.open("band_v1.1.0.zip").checked()
/// for part in package.parts { … }
/// ```
public struct Package: Sendable {
    /// What the file is.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// A zip for Nordic's Secure DFU.
        case nordicSecure
        /// A zip for Nordic's Legacy DFU.
        case nordicLegacy
        /// A zip with Nordic's manifest, whose init packets do not tell the generation.
        case nordic
        /// A zip of the nRF Connect SDK (`dfu_application.zip`).
        case connectSDK
        /// A zip without a manifest that is known.
        case zip
        /// A bare MCUboot image.
        case mcuboot
        /// Intel HEX.
        case intelHex
        /// A bare file of which only the name says anything.
        case binary
        /// A file that holds no firmware that could be sent.
        case unknown
    }

    /// The manifest of a zip.
    public enum Manifest: Sendable, Hashable {
        case nordic(NordicManifest)
        case connectSDK(ConnectSDKManifest)
    }

    /// The file's name without its folder.
    public let fileName: String
    /// The file's size in bytes.
    public let size: Int
    /// The SHA-256 of the whole file.
    public let sha256: [UInt8]
    /// What the file is: by its content first, by its name second.
    public internal(set) var kind: Kind = .unknown
    /// What the file's name says: a version, a CRC-32. Where that does not fit a bare file it is a problem.
    public internal(set) var statedName: FileName
    /// The manifest of a zip.
    public internal(set) var manifest: Manifest?
    /// The images in the order in which they are sent: what belongs to the system before the application, MCUboot images
    /// by their number.
    public internal(set) var parts: [Part] = []
    /// Everything that is wrong, the worst first. Empty: the package is sound.
    public internal(set) var problems: [PackageError] = []
    /// What is strange, and does not stand in the way.
    public internal(set) var warnings: [PackageWarning] = []

    /// Reads the file `name` that holds `bytes`.
    public init(reading bytes: [UInt8], named name: String) {
        statedName = FileName(name, crc32: Checksum.crc32(bytes))
        fileName = statedName.name
        size = bytes.count
        sha256 = Checksum.digest(.sha256, bytes)
        do throws(PackageError) {
            try read(bytes)
        } catch {
            problems.append(error)
        }
        problems.sort { $0.code.weight < $1.code.weight }
    }

    /// The package, where nothing is wrong with it but what `skipped` names.
    ///
    /// - Parameter skipped: reasons of problems that somebody answers for (`hashMismatch`, `sizeMismatch`, …).
    /// - Throws: the worst of the other problems.
    public func checked(skipping skipped: Set<String> = []) throws(PackageError) -> Package {
        if let problem = problems.first(where: { !skipped.contains($0.reason) }) { throw problem }
        return self
    }

    private mutating func read(_ bytes: [UInt8]) throws(PackageError) {
        switch FileShape(of: bytes, named: fileName) {
        case .empty:
            throw PackageError(.malformed, reason: "empty", message: "\(fileName) is empty; get it again")
        case .zip:
            kind = .zip
            try readZip(bytes)
        case .mcuboot: readMCUboot(bytes)
        case .intelHex: try readIntelHex(bytes)
        case .binary: readBinary(bytes)
        case .foreign(let what):
            throw PackageError(
                .unsupported, reason: "notFirmware",
                message: "\(fileName) is \(what); a package is a .zip, .bin or .hex file")
        }
    }
}

extension PackageError.Code {
    /// Its place among several: what keeps the rest from being read comes first.
    fileprivate var weight: Int {
        switch self {
        case .unreadable: 0
        case .unsupported: 1
        case .malformed: 2
        case .excessive: 3
        case .missing: 4
        case .mismatch: 5
        case .unsuitable: 6
        }
    }
}
