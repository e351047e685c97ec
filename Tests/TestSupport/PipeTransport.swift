internal import DFUProtocol
public import DFUTransport
private import Glibc

/// A transport to one device that is another program, spoken to over its standard input and output.
///
/// It serves the band of `Tests/ForeignBand`, which was written from the protocol's description alone: a judge that
/// shares no code with the project, and so no misreading either. Its messages are described there.
public final class PipeTransport: Transport {
    private let program: PipedProgram
    private let link = Locked<PipeLink?>(nil)

    /// Starts `python3` with the band and these options of its command line.
    public init(options: [String] = []) throws(TransportError) {
        program = try PipedProgram(["python3", "-I", ProjectFile.path("Tests/ForeignBand/band.py")] + options)
    }

    /// Connects; the band is always there.
    public func connect(to device: String, timeout: Duration) async throws(TransportError) -> any Peripheral {
        _ = program.ask("connect")
        return PipePeripheral(program: program, link: link)
    }

    /// Drops the link as a device does that is carried away.
    public func loseLink() {
        link.withLock { $0?.lose() }
    }

    /// What the band holds: its running version, that image's size and CRC-32, and the number of blocks it holds.
    public func dump() -> [String] {
        program.ask("dump").first { $0.hasPrefix("dump ") }.map {
            $0.split(separator: " ").dropFirst().map(String.init)
        } ?? []
    }
}

private struct PipePeripheral: Peripheral {
    let program: PipedProgram
    let link: Locked<PipeLink?>

    let wasConnected = false

    var address: String { "pipe" }

    func services(
        within limit: Duration, until isEnough: @escaping @Sendable ([GATTService]) -> Bool
    ) async -> [GATTService] {
        [
            GATTService(
                uuid: BluetoothUUID(short: 0xFEE0),
                characteristics: [
                    GATTCharacteristic(uuid: BluetoothUUID(short: 0xFF01), properties: .notify),
                    GATTCharacteristic(uuid: BluetoothUUID(short: 0xFF02), properties: .writeWithoutResponse),
                ]),
            GATTService(
                uuid: BluetoothUUID(short: 0x180A),
                characteristics: [GATTCharacteristic(uuid: BluetoothUUID(short: 0x2A26), properties: .read)]),
        ]
    }

    func read(_ characteristic: BluetoothUUID, of service: BluetoothUUID) async throws(TransportError) -> [UInt8] {
        for line in program.ask("read") where line.hasPrefix("value ") { return Array(line.utf8.dropFirst(6)) }
        throw TransportError(.disconnected, message: "the band gave no value")
    }

    func openLink(_ bindings: [Endpoint: EndpointBinding]) async throws(TransportError) -> any Link {
        let opened = PipeLink(program: program)
        link.withLock { $0 = opened }
        return opened
    }

    func disconnect() async {
        link.withLock { $0?.lose() }
    }
}

private final class PipeLink: Link {
    private let program: PipedProgram
    private let events = LinkEvents()
    private let isUp = Locked(true)

    init(program: PipedProgram) {
        self.program = program
    }

    var maximumWriteLength: Int { 244 }

    func write(_ bytes: [UInt8], to endpoint: Endpoint) async throws(TransportError) {
        guard isUp.withLock({ $0 }) else { throw TransportError(.disconnected, message: "the link is down") }
        for line in program.ask("write \(hex(bytes))") {
            if line.hasPrefix("notify ") {
                events.send(.notification(TestSupport.bytes(line.dropFirst(7)), from: .reply))
            } else if line == "reboot" {
                goDown()
            }
        }
    }

    func setReceiver(_ receiver: (@Sendable (LinkEvent) -> Void)?) {
        events.setReceiver(receiver)
    }

    func lose() {
        guard isUp.withLock({ $0 }) else { return }
        _ = program.ask("disconnect")
        goDown()
    }

    private func goDown() {
        let wasUp = isUp.withLock { isUp in
            defer { isUp = false }
            return isUp
        }
        if wasUp { events.send(.disconnected) }
    }
}

private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

private func bytes(_ hex: Substring) -> [UInt8] {
    var digits = hex[...]
    var bytes: [UInt8] = []
    while !digits.isEmpty {
        bytes.append(UInt8(digits.prefix(2), radix: 16) ?? 0)
        digits = digits.dropFirst(2)
    }
    return bytes
}

/// A child process that answers each line with lines up to `ok`.
private final class PipedProgram: Sendable {
    private struct Streams: @unchecked Sendable {
        var input: UnsafeMutablePointer<FILE>
        var output: UnsafeMutablePointer<FILE>
    }

    private let streams: Locked<Streams>
    private let process: pid_t

    init(_ arguments: [String]) throws(TransportError) {
        var input: [Int32] = [0, 0]
        var output: [Int32] = [0, 0]
        // Not pipes: another child that starts at this moment must not inherit our ends, and keep the band from seeing the
        // end of its input.
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &input) == 0, socketpair(AF_UNIX, type, 0, &output) == 0 else {
            throw TransportError(.environment, message: "no socket pair")
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input[0], 0)
        posix_spawn_file_actions_adddup2(&actions, output[1], 1)
        var process: pid_t = 0
        var pointers = arguments.map { strdup($0) } + [nil]
        defer { pointers.forEach { free($0) } }
        let result = posix_spawnp(&process, arguments[0], &actions, nil, &pointers, environ)
        close(input[0])
        close(output[1])
        guard result == 0, let write = fdopen(input[1], "w"), let read = fdopen(output[0], "r") else {
            throw TransportError(.environment, message: "\(arguments[0]) does not start")
        }
        self.process = process
        streams = Locked(Streams(input: write, output: read))
    }

    deinit {
        streams.withLock { streams in
            fclose(streams.input)
            fclose(streams.output)
        }
        waitpid(process, nil, 0)
    }

    /// Sends one line, and gives the lines that come before `ok`.
    func ask(_ line: String) -> [String] {
        streams.withLock { streams in
            fputs(line + "\n", streams.input)
            fflush(streams.input)
            var lines: [String] = []
            var buffer: UnsafeMutablePointer<CChar>?
            var capacity = 0
            defer { free(buffer) }
            while getline(&buffer, &capacity, streams.output) > 0, let buffer {
                let answer = String(cString: buffer).dropLast()
                if answer == "ok" { break }
                lines.append(String(answer))
            }
            return lines
        }
    }
}
