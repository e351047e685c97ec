private import Glibc

/// One of the machine's switches for radios (rfkill), as the kernel shows it
/// (`Documentation/ABI/stable/sysfs-class-rfkill`).
package struct RadioSwitch: Sendable, Hashable {
    /// What it is called; of a Bluetooth adapter's own switch, the adapter's name.
    package var name: String
    /// What it is for, such as `bluetooth` or `wlan`.
    package var kind: String
    /// Whether software keeps the radio off.
    package var isSoftBlocked: Bool
    /// Whether a key, a switch or the firmware keeps it off, which no software can change.
    package var isHardBlocked: Bool

    /// Where the kernel shows them.
    package static let folder = "/sys/class/rfkill"

    /// Whether the radio is kept off.
    package var isBlocking: Bool { isSoftBlocked || isHardBlocked }

    /// The switches, in the order of the kernel's names for them.
    package static func all(in folder: String = folder) -> [RadioSwitch] {
        names(in: folder).sorted().compactMap { entry in
            guard let name = text(of: "\(folder)/\(entry)/name") else { return nil }
            return RadioSwitch(
                name: name, kind: text(of: "\(folder)/\(entry)/type") ?? "",
                isSoftBlocked: text(of: "\(folder)/\(entry)/soft") == "1",
                isHardBlocked: text(of: "\(folder)/\(entry)/hard") == "1")
        }
    }

    /// Whether a switch keeps the adapter with this name off.
    static func isBlocking(_ adapter: String, in folder: String) -> Bool {
        all(in: folder).contains { $0.name == adapter && $0.isBlocking }
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
