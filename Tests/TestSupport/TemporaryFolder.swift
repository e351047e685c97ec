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

    /// Writes a file into it, and gives its path.
    public func write(_ bytes: [UInt8], to name: String) throws -> String {
        let file = path + "/" + name
        try Data(bytes).write(to: URL(filePath: file))
        return file
    }
}
