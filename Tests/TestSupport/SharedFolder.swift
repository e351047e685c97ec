private import Glibc

/// A folder of further test data beside the project, which most machines do not have.
public enum SharedFolder {
    /// The path of `name` in it, or nil where there is none.
    public static func path(_ name: String) -> String? {
        let path = ProjectFile.path("../shared/\(name)")
        return access(path, R_OK) == 0 ? path : nil
    }
}
