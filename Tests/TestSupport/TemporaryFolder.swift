private import FoundationEssentials

/// A folder that is gone with the value.
public final class TemporaryFolder: Sendable {
    /// Where it is.
    public let path: String

    /// A new, empty folder.
    public init() throws {
        path = FileManager.default.temporaryDirectory.path + "/dfu-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Writes a file into it, in folders that are made for it, and gives its path.
    public func write(_ bytes: [UInt8], to name: String) throws -> String {
        let file = path + "/" + name
        let folder = "/" + file.split(separator: "/").dropLast().joined(separator: "/")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(filePath: file))
        return file
    }
}
