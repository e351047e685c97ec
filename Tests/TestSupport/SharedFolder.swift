private import Glibc

/// A folder of further test data beside the project, which most machines do not have.
public enum SharedFolder {
    /// The path of `name` in it, or nil where there is none.
    public static func path(_ name: String) -> String? {
        let project = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let path = "/\(project)/../shared/\(name)"
        return access(path, R_OK) == 0 ? path : nil
    }
}

/// A file of the project.
public enum ProjectFile {
    /// The path of `name`, from the project's root.
    public static func path(_ name: String) -> String {
        "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/" + name
    }
}
