import DFUKit
import DFUSimulator
import DFUTransport
private import Glibc
import TestSupport

/// What else runs in the guest: the built `dfu`, `bluetoothd`, and clients of other makers.
enum Guest {
    /// The built `dfu`: the tests' own program lies in the same folder.
    private static let dfuPath: String = {
        guard let resolved = realpath("/proc/self/exe", nil) else { preconditionFailure("no /proc/self/exe") }
        defer { free(resolved) }
        return String(cString: resolved).split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/dfu"
    }()

    /// Something in the guest is not as it is to be.
    struct Failure: Error {
        var message: String
    }

    /// Runs `dfu` to its end, with nobody at a terminal. Of what it says on stderr its messages are kept, not the progress.
    static func dfu(_ arguments: String...) async throws -> Program.Outcome {
        var outcome = try await Program.run([dfuPath] + arguments)
        outcome.errors = outcome.errors.split(separator: "\n").filter { $0.hasPrefix("dfu: ") }.joined(separator: "\n")
        return outcome
    }

    /// How a band was updated, from version 1.0.0 to 1.1.0.
    static func updated(_ device: String, saying message: String = "") -> Program.Outcome {
        Program.Outcome(
            output: "\(device): updated: it runs 1.1.0 (before: 1.0.0)\n", errors: message, status: 0)
    }

    /// How `dfu` ends that fails.
    static func failed(_ status: Int32, _ message: String) -> Program.Outcome {
        Program.Outcome(output: "", errors: message, status: status)
    }

    /// Runs `body` beside a client of bleak's, which is connected to `address` where that is given.
    ///
    /// - Parameter script: What it does, in a coroutine with `client`; the body runs when it is done, and the client goes on
    ///   until the body has ended.
    static func withBleak<Result>(
        _ script: String, at address: String = "", _ body: () async throws -> Result
    ) async throws -> Result {
        let program = """
            import asyncio, sys
            from bleak import BleakClient, BleakScanner

            async def main():
                \(address.isEmpty ? "client = None" : "client = BleakClient('\(address)'); await client.connect()")
                \(script.split(separator: "\n").joined(separator: "\n    "))
                print('ready', flush=True)
                await asyncio.to_thread(sys.stdin.read)

            asyncio.run(main())
            """
        let bleak = try Program(["python3", "-c", program])
        let line = await bleak.firstLine()
        guard line == "ready" else {
            close(bleak.input)
            let outcome = await bleak.outcome()
            throw Failure(message: "bleak: \(line) \(outcome.errors)")
        }
        do {
            let result = try await body()
            close(bleak.input)
            _ = await bleak.outcome()
            return result
        } catch {
            close(bleak.input)
            _ = await bleak.outcome()
            throw error
        }
    }

    // MARK: bluetoothd

    /// While there is this file, `bluetoothd` stays away (`Tests/lab/guest-bluetoothd`).
    private static let absence = "/run/dfu/no-bluetoothd"

    /// The process of `bluetoothd`.
    static func bluetoothd() async throws -> Int32 {
        let bus = try await DBusConnection.open()
        let answer = try await bus.call(
            .call(
                "GetConnectionUnixProcessID", of: DBusConnection.busName, at: DBusConnection.busPath,
                destination: DBusConnection.busName, body: [.string(BlueZDaemon.busName)]))
        await bus.close()
        guard case .uint32(let process)? = answer.body.first else { preconditionFailure("the bus knows its clients") }
        return Int32(process)
    }

    /// Ends a process without a word.
    static func end(_ process: Int32) { kill(process, SIGKILL) }

    /// Keeps `bluetoothd` away once it has ended, or lets it come again.
    static func keepBluetoothdAway(_ isAway: Bool) {
        if isAway {
            close(open(absence, O_CREAT | O_WRONLY, 0o644))
        } else {
            unlink(absence)
        }
    }

    /// Waits until `bluetoothd` is there with this adapter, and it is on.
    static func untilBluetoothdIsThere(adapter: String = "hci0") async throws {
        let bus = try await DBusConnection.open()
        let owners = try await bus.subscribe(
            to: DBusMatchRule(
                sender: DBusConnection.busName, path: DBusConnection.busPath, interface: DBusConnection.busName,
                member: "NameOwnerChanged", firstArgument: BlueZDaemon.busName))
        var changes = owners.makeAsyncIterator()
        var daemon = try? await BlueZDaemon.open()
        while daemon == nil, await changes.next() != nil { daemon = try? await BlueZDaemon.open() }
        await bus.close()
        let isOn = try await daemon?.wait(.seconds(60)) { $0.adapters.contains { $0.name == adapter && $0.isPowered } }
        guard isOn ?? nil != nil else { throw Failure(message: "there is no adapter \(adapter) that is on") }
    }
}

/// Another program that speaks with BlueZ.
struct OtherProgram: Sendable {
    private let bus: DBusConnection

    init() async throws { bus = try await DBusConnection.open() }

    /// Calls a method of an adapter's.
    @discardableResult
    func call(_ member: String, _ body: [DBusValue] = [], adapter: String = "hci0") async throws -> [DBusValue] {
        try await call(member, body, of: "org.bluez.Adapter1", at: Self.path(adapter))
    }

    /// Calls a method of a device's, however long that takes.
    @discardableResult
    func call(_ member: String, device address: String, adapter: String = "hci0") async throws -> [DBusValue] {
        try await call(member, [], of: "org.bluez.Device1", at: Self.path(adapter, device: address))
    }

    /// Switches an adapter on or off.
    func setPowered(_ isPowered: Bool, adapter: String = "hci0") async throws {
        _ = try await call(
            "Set", [.string("org.bluez.Adapter1"), .string("Powered"), .variant(.boolean(isPowered))],
            of: "org.freedesktop.DBus.Properties", at: Self.path(adapter))
    }

    /// Scans until BlueZ knows a device, and no longer.
    func hear(_ address: String, adapter: String = "hci0") async throws {
        let daemon = try await BlueZDaemon.open()
        try await call("StartDiscovery", adapter: adapter)
        let path = Self.path(adapter)
        _ = try await daemon.wait(.seconds(20)) { $0.device(address, of: path)?.isHeard == true }
        try await call("StopDiscovery", adapter: adapter)
    }

    private func call(
        _ member: String, _ body: [DBusValue], of interface: String, at path: DBusObjectPath
    ) async throws -> [DBusValue] {
        try await bus.call(
            .call(member, of: interface, at: path, destination: BlueZDaemon.busName, body: body), timeout: nil
        ).body
    }

    /// BlueZ's object of an adapter, or of a device.
    static func path(_ adapter: String, device address: String? = nil) -> DBusObjectPath {
        let device = address.map { "/dev_" + $0.split(separator: ":").joined(separator: "_") } ?? ""
        guard let path = DBusObjectPath("/org/bluez/\(adapter)\(device)") else { preconditionFailure("no path") }
        return path
    }
}

/// Does something once, when devices have been written to so many times.
final class WriteCount: Sendable {
    private let left: Locked<Int>
    private let action = Locked<(@Sendable () -> Void)?>(nil)

    init(_ count: Int) { left = Locked(count) }

    /// What is to be done; it must not block.
    func whenReached(_ action: @escaping @Sendable () -> Void) { self.action.withLock { $0 = action } }

    /// What an emulated radio tells.
    func note(_ event: SimulatedEvent, _ device: any SimulatedDevice) {
        guard case .written = event.kind else { return }
        let isReached = left.withLock { left in
            left -= 1
            return left == 0
        }
        if isReached { action.withLock { $0 }?() }
    }
}

/// An image, and the file that it is in.
struct ImageFile {
    let bytes: [UInt8]
    let path: String
    private let folder: TemporaryFolder

    init(_ count: Int, seed: UInt64 = 1, version: String = "1.1.0") throws {
        bytes = Firmware.bytes(count, seed: seed)
        folder = try TemporaryFolder()
        path = try folder.write(bytes, to: "band_v\(version)_\(Checksum.crc32(bytes).hexadecimal).bin")
    }
}

extension Band {
    /// A band whose address ends in this.
    init(at lastOctet: String) {
        var settings = Settings()
        settings.address = "C0:FF:EE:00:00:\(lastOctet)"
        self.init(settings)
    }
}
