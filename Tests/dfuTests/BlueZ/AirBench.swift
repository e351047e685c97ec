import DFUSimulator
import DFUTransport
import Glibc
import TestSupport
import Testing

@testable import dfu

/// What a test of the built program works with on the air: a bus with a simulated BlueZ on it.
struct AirBench {
    let stage: BlueZStage
    /// Another program on the bus.
    let client: DBusConnection
    private let events: Locked<[SimulatedEvent.Kind]>

    var blueZ: SimulatedBlueZ { stage.blueZ }

    static func run(
        _ devices: [AdvertisedDevice], adapters: [SimulatedAdapter] = [SimulatedAdapter()],
        settings: BlueZSettings = .quick, _ body: (AirBench) async throws -> Void
    ) async throws {
        let events = Locked<[SimulatedEvent.Kind]>([])
        try await BlueZStage.run(
            adapters: adapters, devices: devices, settings: settings,
            observer: { event, _ in events.withLock { $0.append(event.kind) } },
            { stage in
                let client = try await DBusConnection.open(stage.bus.address)
                try await body(AirBench(stage: stage, client: client, events: events))
            })
    }

    /// `dfu`, ready to run on this bus.
    func program(_ arguments: [String]) -> BuiltProgram {
        BuiltProgram(
            arguments: arguments,
            environment: BuiltProgram.environment.filter { !$0.hasPrefix("DBUS_SYSTEM_BUS_ADDRESS=") }
                + ["DBUS_SYSTEM_BUS_ADDRESS=\(stage.bus.address)"])
    }

    /// Runs `dfu` to its end.
    func dfu(_ arguments: String...) async -> BuiltProgram.Outcome { await program(arguments).outcome() }

    /// Starts `dfu`.
    func start(_ arguments: String...) -> OutputReader { OutputReader(program(arguments)) }

    /// Calls a method of BlueZ's as another program.
    @discardableResult
    func call(
        _ member: String, _ body: [DBusValue] = [], at path: String = "/org/bluez/hci0"
    ) async throws -> [DBusValue] {
        guard let path = DBusObjectPath(path) else { preconditionFailure("\(path) is no path") }
        return try await client.call(
            .call(member, of: nil, at: path, destination: SimulatedBlueZ.name, body: body)
        ).body
    }

    /// What has arrived at devices.
    var written: [[UInt8]] {
        events.withLock { events in
            events.compactMap { event in
                guard case .written(let bytes, _) = event else { return nil }
                return bytes
            }
        }
    }

    /// The objects that BlueZ shows.
    func daemon() async throws -> BlueZDaemon { try await BlueZDaemon.open(stage.bus.address) }

    /// Waits until they are so.
    func wait(until condition: @escaping @Sendable (BlueZObjectTree) -> Bool) async throws {
        let tree = try await daemon().wait(.seconds(20), until: condition)
        #expect(tree != nil)
    }
}

/// The built program while it runs: its stdout is read line by line, its stderr kept in a file.
///
/// One thing is asked of it at a time.
final class OutputReader: @unchecked Sendable {
    private let errors = TemporaryFile()
    private let output = Pipe()
    private let child: pid_t
    private var unread: [UInt8] = []
    private var text = ""

    init(_ program: BuiltProgram) {
        child = program.spawn(output: output.write, errors: errors.descriptor)
        close(output.write)
    }

    /// Reads stdout up to a line with this in it; nil where stdout ends before.
    func line(with text: String) async -> String? {
        await ThreadExecutor.shared.run { [self] in
            while let line = nextLine() {
                if line.contains(text) { return line }
            }
            return nil
        }
    }

    /// Sends it a signal.
    func signal(_ number: Int32) { kill(child, number) }

    /// Waits for its end; its stdout is all of it, with the lines that were read before.
    func outcome() async -> BuiltProgram.Outcome {
        await ThreadExecutor.shared.run { [self] in
            while nextLine() != nil {}
            close(output.read)
            let status = BuiltProgram.wait(for: child)
            return BuiltProgram.Outcome(
                output: text, errors: errors.lines().map { $0 + "\n" }.joined(), status: status)
        }
    }

    private func nextLine() -> String? {
        var buffer = [UInt8](repeating: 0, count: 1 << 12)
        while true {
            if let end = unread.firstIndex(of: 0x0A) {
                let line = String(decoding: unread[..<end], as: UTF8.self)
                unread.removeSubrange(...end)
                text += line + "\n"
                return line
            }
            let count = read(output.read, &buffer, buffer.count)
            guard count > 0 || count < 0 && errno == EINTR else { return nil }
            unread += buffer.prefix(max(0, count))
        }
    }
}

extension AdvertisedDevice {
    /// The same device, heard so strongly.
    func heard(at rssi: Int16) -> AdvertisedDevice {
        var device = self
        device.rssi = rssi
        return device
    }
}
