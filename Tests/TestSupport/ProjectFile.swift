private import FoundationEssentials

/// A file of the project.
public enum ProjectFile {
    /// The path of `name`, from the project's root.
    public static func path(_ name: String) -> String {
        "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/" + name
    }

    /// The text of `name`.
    public static func contents(_ name: String) throws -> String {
        try String(contentsOfFile: path(name), encoding: .utf8)
    }

    /// The bytes of `name`.
    public static func bytes(_ name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: URL(filePath: path(name))))
    }
}
