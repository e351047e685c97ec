private import DFUTransport
private import Glibc

/// A message bus of a test's own: a `dbus-daemon` that dies with it, or with the process.
public final class PrivateBus: Sendable {
    /// The bus that belongs to the suite that runs.
    @TaskLocal public static var current: PrivateBus?

    /// Where it listens.
    public let address: String
    private let daemon: Program
    private let folder: String
    private let isStopped = Locked(false)

    private init(address: String, daemon: Program, folder: String) {
        self.address = address
        self.daemon = daemon
        self.folder = folder
    }

    /// Starts a bus and waits until it listens.
    ///
    /// - Parameter users: Who may connect, in the words of the configuration's `<policy>`.
    public static func start(users: String = #"<allow user="*"/>"#) async throws -> PrivateBus {
        var template = Array("/tmp/dfu-bus-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Program.Missing(description: "no folder in /tmp") }
        let folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        let configuration = """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
              "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <listen>unix:path=\(folder)/socket</listen>
              <auth>EXTERNAL</auth>
              <policy context="default">
                \(users)
                <allow own="*"/>
                <allow eavesdrop="true"/>
                <allow send_destination="*" eavesdrop="true"/>
              </policy>
              <limit name="max_replies_per_connection">50000</limit>
            </busconfig>
            """
        let path = folder + "/bus.conf"
        guard let file = fopen(path, "w") else { throw Program.Missing(description: "no file in \(folder)") }
        fputs(configuration, file)
        fclose(file)
        // The shell's input ends when this process does, however that happens.
        let daemon = try Program([
            "sh", "-c",
            #"dbus-daemon --config-file="$0" --print-address --nofork & cat; kill -KILL $!; wait $!"#, path,
        ])
        let address = await daemon.firstLine()
        guard !address.isEmpty else {
            close(daemon.input)
            throw Program.Missing(description: await daemon.outcome().errors)
        }
        return PrivateBus(address: address, daemon: daemon, folder: folder)
    }

    /// Kills the bus, and waits until it is gone. Harmless when it is.
    public func stop() async {
        let wasStopped = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return isStopped
        }
        guard !wasStopped else { return }
        close(daemon.input)
        _ = await daemon.outcome()
        for name in ["/bus.conf", "/socket", ""] { remove(folder + name) }
    }
}
