/// The rules for names inside an archive, the same for its entries and for the manifest that names them.
enum ArchivePath {
    /// `name` with `/` between folders and without `.` parts, or nil where it is absolute or climbs out with `..`.
    ///
    /// Backslashes come from old .NET packers, which wrote them against the zip specification.
    static func normal(_ name: String) -> String? {
        let name = String(name.map { $0 == "\\" ? "/" : $0 })
        let isDrive = name.dropFirst().first == ":" && name.first?.isLetter == true
        guard !name.isEmpty, !name.hasPrefix("/"), !isDrive else { return nil }
        let parts = name.split(separator: "/", omittingEmptySubsequences: true).filter { $0 != "." }
        guard !parts.contains("..") else { return nil }
        return parts.joined(separator: "/") + (name.hasSuffix("/") ? "/" : "")
    }

    /// The error for a name that `normal` refuses.
    static func unsafe(_ name: String, in place: String) -> PackageError {
        PackageError(
            .malformed, reason: "unsafePath",
            message: "\(place) with the name \(name), which leads out of the package; pack it again with plain names")
    }

    /// Whether the Finder put the file there, not the maker of the package.
    static func isFromMacOS(_ path: String) -> Bool {
        let parts = path.split(separator: "/")
        return parts.first == "__MACOSX" || parts.last == ".DS_Store" || parts.last?.hasPrefix("._") == true
    }

    /// The folder of `path` with its `/`, or nothing where it lies at the root.
    static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }

    /// The part of `path` behind its folder.
    static func name(of path: String) -> String {
        String(path.dropFirst(folder(of: path).count))
    }
}
