import FoundationEssentials
private import Glibc

/// The files by which the kernel and the system show what they are.
struct SystemFiles: Sendable {
    /// What a file is to whoever reads it.
    enum Content: Equatable {
        case missing
        /// It is there, or may be, and this user may not read it.
        case unreadable
        case bytes([UInt8])
    }

    /// The folder that stands for `/`, without a slash at its end.
    var root = ""

    /// A file's bytes.
    func content(of path: String) -> Content {
        if let bytes = try? InputFile.read(root + path) { return .bytes(bytes) }
        return access(root + path, F_OK) == 0 || errno == EACCES ? .unreadable : .missing
    }

    /// A file's text; nil where it cannot be read.
    func text(of path: String) -> String? {
        guard case .bytes(let bytes) = content(of: path) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The first line of a file; nil where it cannot be read, or is empty.
    func line(of path: String) -> String? {
        text(of: path)?.split(separator: "\n").first.map(String.init)
    }

    /// Whether there is a file or a folder.
    func has(_ path: String) -> Bool { access(root + path, F_OK) == 0 }

    /// The names in a folder, in their order; none where it cannot be read.
    func names(in folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: root + folder)) ?? []).sorted()
    }
}
