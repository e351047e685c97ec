/// The process that has the name `org.bluez` on a bus, as this machine's `/proc` shows it.
struct ServiceProcess: Sendable, Equatable {
    var id: UInt32
    /// The program's name; nil where it cannot be seen, as in another container.
    var name: String?
    /// What stands behind the program's name on its command line.
    var arguments: [String]

    /// Looks at a process.
    init(_ id: UInt32, _ files: SystemFiles) {
        self.id = id
        name = files.line(of: "/proc/\(id)/comm")
        let line = files.text(of: "/proc/\(id)/cmdline") ?? ""
        arguments = line.split(separator: "\0").dropFirst().map(String.init)
    }

    /// Whether it is BlueZ's own, of which this machine's files tell.
    var isBlueZ: Bool { name == "bluetoothd" }

    /// Where its configuration is (`-f` and `--configfile` of bluetoothd(8)).
    var configurationPath: String {
        for (index, argument) in arguments.enumerated() {
            let next = index + 1 < arguments.count ? arguments[index + 1] : nil
            if argument == "-f" || argument == "--configfile", let next { return next }
            if argument.hasPrefix("--configfile=") { return String(argument.dropFirst("--configfile=".count)) }
            if argument.hasPrefix("-f"), argument.count > 2 { return String(argument.dropFirst(2)) }
        }
        return "/etc/bluetooth/main.conf"
    }
}
