import DFUSimulator
import DFUTransport
import Glibc
import TestSupport
import Testing

@testable import dfu

/// What `dfu flash` ends with where the machine, the daemon or the way to the device is at fault: the status and one line.
@Suite(.blocking, .timeLimit(.minutes(1))) struct FlashEnvironmentTests {
    private static let address = "C0:FF:EE:00:44:50"
    private let bench: FlashBench

    init() throws {
        bench = try FlashBench(20_480)
    }

    private func flash(_ bus: PrivateBus, _ options: [String] = []) async -> BuiltProgram.Outcome {
        await bench.flash(over: bus, on: [Self.address], ["--scan-timeout", "2"] + options)
    }

    private static func failed(_ status: Int32, _ message: String) -> BuiltProgram.Outcome {
        .failed(status, "dfu: " + message)
    }

    // MARK: 69 and 77

    @Test("BLZ-17 no bus") func noBus() throws {
        #expect(
            bench.flash(on: [Self.address])
                == Self.failed(
                    69,
                    "there is no connection to the bus at “unix:path=/nonexistent/bus”: Failed to connect to socket "
                        + "/nonexistent/bus: No such file or directory; start the system's message bus (dbus)"))
    }

    @Test("BLZ-17 a no daemon") func noDaemon() async throws {
        let bus = try await PrivateBus.start()
        let outcome = await flash(bus)
        await bus.stop()
        #expect(
            outcome
                == Self.failed(
                    69,
                    "the Bluetooth service is not running; start it (systemctl start bluetooth) or install bluez"))
    }

    @Test("BLZ-17 b no adapter") func noAdapter() async throws {
        try await BlueZStage.run(adapters: [], devices: []) { stage in
            #expect(await flash(stage.bus) == Self.failed(69, "there is no Bluetooth adapter; plug one in"))
        }
    }

    @Test("BLZ-17 c adapter off") func adapterOff() async throws {
        try await BlueZStage.run(adapters: [SimulatedAdapter(isPowered: false)], devices: [.band(Self.address)]) {
            stage in
            #expect(
                await flash(stage.bus)
                    == Self.failed(
                        69, "the adapter hci0 is off; switch it on (bluetoothctl power on), or use --power-on"))
            #expect(await flash(stage.bus, ["--power-on"]).status == 0)
            #expect(stage.band(Self.address)?.memory.image == bench.image)
        }
    }

    @Test("BLZ-17 d adapter blocked") func adapterBlocked() async throws {
        var adapter = SimulatedAdapter(isPowered: false)
        adapter.isBlocked = true
        var settings = BlueZSettings.quick
        settings.hasPowerState = true
        try await BlueZStage.run(adapters: [adapter], devices: [], settings: settings) { stage in
            let line = "the adapter hci0 is blocked by rfkill; run: rfkill unblock bluetooth"
            #expect(await flash(stage.bus) == Self.failed(69, line))
            #expect(await flash(stage.bus, ["--power-on"]) == Self.failed(69, line))
        }
    }

    @Test("BLZ-19 an adapter that is not there") func unknownAdapter() async throws {
        let adapters = [SimulatedAdapter(), SimulatedAdapter("hci2", address: "00:1A:7D:DA:71:15")]
        try await BlueZStage.run(adapters: adapters, devices: []) { stage in
            #expect(
                await flash(stage.bus, ["--adapter", "hci1"])
                    == Self.failed(69, "there is no adapter hci1; there is hci0, hci2"))
        }
    }

    @Test("BLZ-06 another program scans, and nothing is heard") func scanBusy() async throws {
        try await BlueZStage.run(devices: []) { stage in
            let busy = DBusError(name: "org.bluez.Error.InProgress", message: "Operation already in progress")
            await stage.blueZ.fail("StartDiscovery", times: .max, with: busy)
            #expect(
                await flash(stage.bus)
                    == Self.failed(69, "scan: another program is using the adapter for a scan; end it"))
        }
    }

    @Test("BLZ-18 D-Bus says access denied") func accessDenied() async throws {
        try await BlueZStage.run(devices: []) { stage in
            let denied = DBusError(name: "org.freedesktop.DBus.Error.AccessDenied", message: "Rejected send message")
            await stage.blueZ.fail("GetManagedObjects", times: .max, with: denied)
            #expect(
                await flash(stage.bus)
                    == Self.failed(
                        77,
                        "this user may not talk to the Bluetooth service; join the group bluetooth, or look at D-Bus's "
                            + "policy for org.bluez (bluetooth.conf)"))
        }
    }

    @Test(
        "BLZ-22 the adapter is pulled out, the daemon restarts, or the bus goes, at 50 %",
        arguments: [
            (Trouble.unplugged, "the adapter hci0 disappeared; plug it in again"),
            (.restarted, "the Bluetooth service was stopped or restarted"),
            (.busGone, "the system's message bus is gone (it ended the connection)"),
        ])
    func troubleInMidTransfer(_ trouble: Trouble, _ message: String) async throws {
        let happened = Locked(false)
        let begun = AsyncStream.makeStream(of: Void.self)
        var settings = BlueZSettings.quick
        settings.radio.interval = .milliseconds(5)
        let outcome = try await BlueZStage.run(
            devices: [.band(Self.address)], settings: settings,
            observer: { _, device in
                guard let band = (device as? FaultyBand)?.band, (band.memory.reception?.bytes.count ?? 0) >= 10_240
                else { return }
                let isFirst = happened.withLock { happened in
                    defer { happened = true }
                    return !happened
                }
                if isFirst { begun.continuation.yield() }
            },
            { stage in
                async let outcome = flash(stage.bus)
                for await _ in begun.stream { break }
                switch trouble {
                case .unplugged: await stage.blueZ.unplug("hci0")
                case .restarted:
                    await stage.blueZ.stop()
                    try await stage.blueZ.start()
                case .busGone: await stage.bus.stop()
                }
                return await outcome
            })
        #expect(outcome == Self.failed(69, "\(Self.address): reconnect: \(message)"))
    }

    enum Trouble {
        case unplugged, restarted, busGone
    }

    // MARK: 75 and 76

    @Test("BLZ-03 connecting is refused each time") func connectRefused() async throws {
        try await BlueZStage.run(devices: [.band(Self.address)]) { stage in
            await stage.blueZ.failConnects(times: 3, with: "le-connection-abort-by-local")
            #expect(
                await flash(stage.bus, ["--connect-retries", "2"])
                    == Self.failed(
                        75,
                        "\(Self.address): connect: connecting failed 3 times (le-connection-abort-by-local); "
                            + "bring it closer, and end other connections to it"))
        }
    }

    @Test func serviceMissing() async throws {
        var settings = Band.Settings()
        settings.address = Self.address
        settings.profile.service = BluetoothUUID(short: 0x1234)
        let device = AdvertisedDevice(FaultyBand(Band(settings), faults: FaultScript()))
        try await BlueZStage.run(devices: [device]) { stage in
            let outcome = await flash(stage.bus)
            #expect(outcome.status == 76)
            #expect(
                outcome.errors.hasPrefix("dfu: \(Self.address): discover: it offers no update that this tool knows"))
        }
    }

    @Test func subscribeRefused() async throws {
        try await BlueZStage.run(devices: [.band(Self.address)]) { stage in
            let refused = DBusError(
                name: "org.bluez.Error.Failed", message: "Operation failed with ATT error: 0x80")
            await stage.blueZ.fail("StartNotify", times: .max, with: refused)
            #expect(
                await flash(stage.bus)
                    == Self.failed(
                        76,
                        "\(Self.address): discover: it does not let itself be subscribed to: it answered with the ATT "
                            + "error 80"))
        }
    }

    @Test("BLZ-15 a device that another program is using is left to it") func heldByAnother() async throws {
        var device = AdvertisedDevice.band(Self.address)
        device.isConnected = true
        try await BlueZStage.run(devices: [device]) { stage in
            let daemon = try await BlueZDaemon.open(stage.bus.address)
            let tree = try #require(
                try await daemon.wait(.seconds(20)) { $0.devices().contains(where: \.areServicesResolved) })
            let path = try #require(tree.devices().first).path
            let command = try #require(
                tree.services(of: path).flatMap { tree.characteristics(of: $0.path) }
                    .first { $0.uuid == DeviceProfile.band.command })
            let other = try await DBusConnection.open(stage.bus.address)
            let socket = try await other.call(
                .call(
                    "AcquireWrite", of: BlueZInterface.characteristic, at: command.path,
                    destination: BlueZDaemon.busName, body: [.properties([:])]))
            let outcome = await flash(stage.bus)
            #expect(outcome.status == 69)
            #expect(
                outcome.errors.hasSuffix(
                    "dfu: \(Self.address): discover: another program on this machine holds this characteristic; end it\n"
                ))
            #expect(await daemon.tree.devices().map(\.isConnected) == [true])
            withExtendedLifetime(socket) {}
        }
    }

    @Test func noBandThoughItHasTheCharacteristics() async throws {
        let written = Locked<[[UInt8]]>([])
        let device = AdvertisedDevice.band(
            Self.address, faults: [.silence(FaultPlace(.frame, 1), lasting: .seconds(60))])
        try await BlueZStage.run(
            devices: [device],
            observer: { event, _ in
                if case .written(let bytes, _) = event.kind { written.withLock { $0.append(bytes) } }
            },
            { stage in
                let outcome = await flash(stage.bus)
                #expect(outcome.status == 76)
                #expect(outcome.errors.hasPrefix("dfu: \(Self.address): check: "))
            })
        #expect(Set(written.withLock { $0 }) == [[0x1B, 0x99, 0x01, 0x4B]], "only the battery question is written")
    }

    // MARK: Stopped

    @Test("CLI-03 Ctrl-C at 30 % disconnects, and the same command then ends well") func interrupted() async throws {
        // Long packets, seldom: few are queued before the goodbye.
        var settings = BlueZSettings.quick
        settings.radio.interval = .milliseconds(50)
        settings.radio.mtu = 247
        try await BlueZStage.run(devices: [.band(Self.address, packetLimit: 244)], settings: settings) { stage in
            let program = bench.program(
                over: stage.bus, on: [Self.address], ["--gap", "0", "--progress", "plain"])
            let outcome = await Self.stopped(program, after: "30 %, 6.1 kB of 20.5 kB")
            #expect(outcome.status == 130)
            #expect(
                outcome.errors.hasSuffix(
                    "dfu: \(Self.address): transfer: stopped: the device has dropped the update, and goes on with the "
                        + "firmware that it runs\n"))
            let transport = try await stage.transport()
            #expect(await transport.devices().contains { $0.isConnected } == false, "Disconnect was called")
            #expect(await flash(stage.bus).status == 0)
            #expect(stage.band(Self.address)?.memory.image == bench.image)
        }
    }

    /// Runs a program, on a thread of its own, and sends it SIGINT after a line with this end.
    private static func stopped(_ program: BuiltProgram, after line: String) async -> BuiltProgram.Outcome {
        await ThreadExecutor.shared.run {
            let running = RunningProgram(program)
            _ = running.waitForLine(endingWith: line)
            running.signal(SIGINT)
            return running.outcome()
        }
    }
}
