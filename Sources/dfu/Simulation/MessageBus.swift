import DFUTransport
private import Dispatch
private import FoundationEssentials
private import Glibc

/// A message bus of the command's own, which ends with it however that happens.
struct MessageBus: Sendable {
    /// Where it listens.
    let address: String
    private let keeper: ChildProcess
    /// The keeper's input; nil when the bus has ended.
    private let lifeline: Locked<Int32?>

    /// Starts a bus, and waits until it listens.
    static func start(environment: [String: String]) async throws(Failure) -> MessageBus {
        guard isInstalled(environment) else {
            throw Failure(
                .environment,
                "simulated devices are on a message bus of their own, and there is no dbus-daemon; install it (on "
                    + "Debian: apt install dbus-daemon)")
        }
        // Not in TMPDIR: a socket's path may have 107 bytes at the most.
        var template = Array("/tmp/dfu-simulate-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Failure(.output, subject: "/tmp", "no folder can be made: \(String(cString: strerror(errno)))")
        }
        let folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        do {
            try Data(configuration(folder).utf8).write(to: URL(filePath: folder + "/bus.conf"))
        } catch {
            rmdir(folder)
            throw Failure(.output, subject: folder, "the bus's configuration cannot be written there")
        }
        return try await MessageBus(folder: folder, environment: environment)
    }

    private init(folder: String, environment: [String: String]) async throws(Failure) {
        var input: [Int32] = [-1, -1]
        var output: [Int32] = [-1, -1]
        // Not pipes: glibc's `pipe2` is not there for Swift, and another child must not inherit the ends.
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &input) == 0, socketpair(AF_UNIX, type, 0, &output) == 0 else {
            throw Failure(.internal, "no file descriptors for a message bus")
        }
        let streams = [
            ChildProcess.Stream(number: 0, descriptor: input[0]), ChildProcess.Stream(number: 1, descriptor: output[1]),
        ]
        defer {
            close(input[0])
            close(output[1])
        }
        keeper = try ChildProcess(
            ["sh", "-c", Self.keeping, folder], environment: environment, streams: streams, isApart: true)
        lifeline = Locked(input[1])
        address = "unix:path=\(folder)/socket"
        guard await Self.isSomething(from: output[0]) else {
            let words = (try? InputFile.read(folder + "/errors")) ?? []
            await stop()
            let line = String(decoding: words, as: UTF8.self).split(separator: "\n").last ?? "it does not say why"
            throw Failure(.environment, "dbus-daemon does not start: \(line)")
        }
    }

    /// Ends the bus, and removes its folder. Harmless when it has ended.
    func end() {
        if let descriptor = lifeline.withLock({ $0.take() }) { close(descriptor) }
    }

    /// Ends the bus, and waits until it is gone. To be called once.
    func stop() async {
        end()
        _ = await keeper.status()
    }

    /// The shell's input ends when this process does, however that happens. (Its `wait` says how the daemon ended, which
    /// is of no interest.)
    private static let keeping = """
        dbus-daemon --config-file="$0/bus.conf" --nofork --print-address 2>"$0/errors" &
        exec >&-
        read -r _
        kill $! 2>/dev/null
        wait $!
        rm -r "$0"
        """

    private static func configuration(_ folder: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
          "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <listen>unix:path=\(folder)/socket</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow user="*"/>
            <allow own="*"/>
            <allow send_destination="*" eavesdrop="true"/>
            <allow eavesdrop="true"/>
          </policy>
          <limit name="max_replies_per_connection">50000</limit>
        </busconfig>
        """
    }

    private static func isInstalled(_ environment: [String: String]) -> Bool {
        (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").contains {
            access("\($0)/dbus-daemon", X_OK) == 0
        }
    }

    /// Waits for a line, and closes the descriptor; false where the end comes first.
    private static func isSomething(from descriptor: Int32) async -> Bool {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var byte: UInt8 = 0
                var count = 0
                repeat { count = read(descriptor, &byte, 1) } while count < 0 && errno == EINTR
                close(descriptor)
                continuation.resume(returning: count == 1)
            }
        }
    }
}
