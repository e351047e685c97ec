private import FoundationEssentials

/// A file of the project.
public enum ProjectFile {
    /// The path of `name`, from the project's root.
    public static func path(_ name: String) -> String {
        "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/" + name
    }

    /// The path of a program that was built beside the tests: their own lies in the same folder.
    public static func builtProgram(_ name: String) throws -> String {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return "/" + own.split(separator: "/").dropLast().joined(separator: "/") + "/" + name
    }

    /// The text of `name`.
    public static func contents(_ name: String) throws -> String {
        try String(contentsOfFile: path(name), encoding: .utf8)
    }

    /// The bytes of `name`.
    public static func bytes(_ name: String) throws -> [UInt8] {
        try bytes(at: path(name))
    }

    /// The bytes of the file at `path`, which may be any.
    ///
    /// Not by `Data(contentsOf:)`, which leaks its buffer where the file is empty.
    public static func bytes(at path: String) throws -> [UInt8] {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        guard attributes[.size] as? UInt64 != 0 else { return [] }
        return try Array(Data(contentsOf: URL(filePath: path)))
    }
}
