/// Why a package cannot be used.
public struct PackageError: Error, Sendable, Hashable {
    /// The kind of fault.
    public enum Code: String, Sendable, Hashable, Codable {
        /// The file is cut short, garbled, or not what its form wants.
        case malformed
        /// A checksum, digest or size does not fit the bytes.
        case mismatch
        /// Something that the package names or needs is not in it.
        case missing
        /// A file of a kind that this tool does not read, or no firmware at all.
        case unsupported
        /// A size, count or ratio is beyond what any firmware has.
        case excessive
        /// The package is in order, but not for what was asked.
        case unsuitable
        /// The file cannot be opened or read (the machine's word, not the file's fault).
        case unreadable
    }

    /// The kind of fault.
    public var code: Code
    /// A stable word for machines (`crcMismatch`, `manifestMissing`, `truncated`, …).
    public var reason: String
    /// One sentence for people, with the values that do not fit and what to do where something can be done.
    public var message: String

    /// An error of this kind.
    public init(_ code: Code, reason: String, message: String) {
        self.code = code
        self.reason = reason
        self.message = message.singleLine
    }
}

extension PackageError {
    /// The same error, with the file in a package that it is about.
    func naming(_ file: String) -> PackageError {
        PackageError(code, reason: reason, message: "\(file): \(message)")
    }
}
