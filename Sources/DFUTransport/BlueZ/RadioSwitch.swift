private import Glibc

/// The machine's switches for radios, as the kernel shows them (`Documentation/ABI/stable/sysfs-class-rfkill`).
package enum RadioSwitch {
    /// Where the kernel shows them.
    package static let folder = "/sys/class/rfkill"

    /// Whether a switch keeps the adapter with this name off.
    static func isBlocking(_ adapter: String, in folder: String) -> Bool {
        names(in: folder).contains { name in
            text(of: "\(folder)/\(name)/name") == adapter
                && ["soft", "hard"].contains { text(of: "\(folder)/\(name)/\($0)") == "1" }
        }
    }

    private static func names(in folder: String) -> [String] {
        guard let listing = opendir(folder) else { return [] }
        defer { closedir(listing) }
        var names: [String] = []
        while let entry = readdir(listing) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix("rfkill") { names.append(name) }
        }
        return names
    }

    /// The first line of a file.
    private static func text(of path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 64)
        guard fgets(&line, Int32(line.count), file) != nil else { return nil }
        return String(decoding: line.prefix { $0 != 0 && $0 != 0x0A }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
