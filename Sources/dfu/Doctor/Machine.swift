import DFUTransport

/// What this machine's files tell that has to do with Bluetooth.
struct Machine: Sendable {
    /// A Bluetooth controller as the kernel shows it.
    struct Controller: Sendable, Equatable {
        /// The name, such as `hci0`.
        var name: String
        /// The maker's and the product's number of an adapter on the USB, such as `0a12:0001`.
        var usb: String?
        /// Whether the kernel may suspend it while nothing is to be sent; nil where that does not apply.
        var mayBeSuspended: Bool?
        /// What connections are made with, where this user may see it.
        var parameters: LinkParameters?
    }

    /// What the kernel asks for when it makes a connection.
    struct LinkParameters: Sendable, Equatable {
        /// In units of 1.25 ms.
        var minInterval: Int
        /// In units of 1.25 ms.
        var maxInterval: Int
        /// In units of 10 ms.
        var supervisionTimeout: Int

        /// What Linux has where nobody says otherwise (`hci_alloc_dev_priv`, net/bluetooth/hci_core.c).
        static let kernelDefault = LinkParameters(minInterval: 0x18, maxInterval: 0x28, supervisionTimeout: 0x2A)
    }

    /// The kernel's release.
    var kernel: String?
    /// Whether this is the inside of a container.
    var isContainer: Bool
    /// Whether systemd runs the machine.
    var hasSystemd: Bool
    /// Whether packages come from Debian, or from what is made of it.
    var isDebian: Bool
    /// Where bluetoothd is installed.
    var daemonPath: String?
    var user: SystemUser
    var controllers: [Controller]
    var switches: [RadioSwitch]
    /// The process that has the name org.bluez; nil where the bus does not tell.
    var service: ServiceProcess?
    /// The configuration of that process.
    var configuration: SystemFiles.Content

    /// Looks at the machine.
    ///
    /// - Parameter service: The number of the process that has the name org.bluez.
    init(_ files: SystemFiles, service: UInt32?) {
        kernel = files.line(of: "/proc/sys/kernel/osrelease")
        isContainer = files.has("/.dockerenv") || files.has("/run/.containerenv")
        hasSystemd = files.has("/run/systemd/system")
        isDebian = files.has("/etc/debian_version")
        daemonPath = Self.daemonPaths.first(where: files.has)
        user = SystemUser(
            status: files.text(of: "/proc/self/status") ?? "", passwd: files.text(of: "/etc/passwd") ?? "",
            group: files.text(of: "/etc/group") ?? "")
        controllers = files.names(in: "/sys/class/bluetooth").filter(Self.isController)
            .map { Self.controller($0, files) }
        switches = RadioSwitch.all(in: files.root + RadioSwitch.folder)
        let process = service.map { ServiceProcess($0, files) }
        self.service = process
        // Where a path that is not absolute begins cannot be seen.
        configuration =
            process.map { process in
                let path = process.configurationPath
                return path.hasPrefix("/") ? files.content(of: path) : .unreadable
            } ?? .missing
    }

    /// Where distributions have it: Debian 12 and Fedora, older ones and Arch, and Alpine.
    private static let daemonPaths = [
        "/usr/libexec/bluetooth/bluetoothd", "/usr/lib/bluetooth/bluetoothd", "/usr/sbin/bluetoothd",
    ]

    /// Connections are shown beside the controllers, as `hci0:64`.
    private static func isController(_ name: String) -> Bool {
        name.hasPrefix("hci") && UInt16(name.dropFirst(3)) != nil
    }

    private static func controller(_ name: String, _ files: SystemFiles) -> Controller {
        // The device is an interface of the one on the bus.
        let device = "/sys/class/bluetooth/\(name)/device/.."
        var controller = Controller(name: name)
        if let vendor = files.line(of: device + "/idVendor"), let product = files.line(of: device + "/idProduct") {
            controller.usb = "\(vendor):\(product)"
            controller.mayBeSuspended = files.line(of: device + "/power/control").map { $0 == "auto" }
        }
        // net/bluetooth/hci_debugfs.c; for root alone.
        let debug = "/sys/kernel/debug/bluetooth/\(name)"
        func number(_ file: String) -> Int? { files.line(of: "\(debug)/\(file)").flatMap { Int($0) } }
        if let min = number("conn_min_interval"), let max = number("conn_max_interval"),
            let timeout = number("supervision_timeout")
        {
            controller.parameters = LinkParameters(minInterval: min, maxInterval: max, supervisionTimeout: timeout)
        }
        return controller
    }
}
