import DFUSimulator
import DFUTransport
import TestSupport
import Testing

@testable import dfu

/// `dfu doctor` over a bus.
///
/// It is no bluetoothd that is on it, and the environment names the bus: both are noted each time.
@Suite(.serialized, .timeLimit(.minutes(5))) struct BlueZDoctorTests {
    private static let address = "C0:FF:EE:00:00:10"

    /// What `dfu doctor --json` says: each finding's word and level, without what belongs to the machine that tests run on.
    private struct Report {
        var outcome: BuiltProgram.Outcome
        var document: [String: JSONValue]
        var findings: [[String: JSONValue]] = []

        init(_ outcome: BuiltProgram.Outcome) throws {
            self.outcome = outcome
            let value = try JSONValue(parsing: Array(outcome.output.utf8))
            guard case .object(let document) = value, case .array(let findings)? = document["findings"] else {
                preconditionFailure("a document has findings: \(outcome)")
            }
            self.document = document
            for case .object(let finding) in findings {
                let isOfThisMachine = [.string("rights"), .string("kernel")].contains(finding["id"])
                if !isOfThisMachine { self.findings.append(finding) }
            }
        }

        var words: [String] {
            findings.map { finding in
                guard case .string(let id)? = finding["id"], case .string(let level)? = finding["level"] else {
                    return ""
                }
                return "\(level) \(id)"
            }
        }
    }

    private static func report(_ bench: AirBench, _ options: String...) async throws -> Report {
        try Report(await bench.program(["doctor", "--json"] + options).outcome())
    }

    private static let before = ["note busOther", "note serviceOther", "ok version"]

    @Test("Nothing stands in the way: 0, and nothing on stderr") func healthy() async throws {
        try await AirBench.run([]) { bench in
            let report = try await Self.report(bench)
            #expect(report.words == Self.before + ["ok adapterOn"])
            #expect(report.outcome.status == 0)
            #expect(report.outcome.errors == "")
            #expect(report.document["ok"] == .boolean(true))
            #expect(report.document["adapter"] == .string("hci0"))
            guard case .object(let versions)? = report.document["versions"] else {
                Issue.record("no versions")
                return
            }
            #expect(versions["bluez"] == .string("5.66"))
            #expect(versions["dfu"] == .string(Version.current))
            let text = await bench.dfu("doctor")
            #expect(text.output.contains("\nok       the adapter hci0 is on (00:1A:7D:DA:71:13), and is used\n"))
            #expect(text.output.hasSuffix("\nNothing that was looked at stands in the way; 2 notes.\n"))
            #expect(text.errors == "")
            #expect(text.status == 0)
        }
    }

    @Test("It only reads: nothing but the objects is asked of BlueZ") func onlyReads() async throws {
        try await AirBench.run([]) { bench in
            let (outcome, calls) = try await bench.stage.noteCalls { await bench.dfu("doctor") }
            #expect(outcome.status == 0)
            #expect(calls.allSatisfy { $0.member == "GetManagedObjects" })
        }
    }

    @Test("BLZ-17 no bus is 69, with the cure on one line") func noBus() async {
        let outcome = await BuiltProgram(arguments: ["doctor"]).outcome()
        #expect(outcome.output.hasPrefix("problem  there is no connection to the bus at “"))
        #expect(
            outcome.errors
                == "dfu: there is no connection to the bus at “unix:path=/nonexistent/bus”: "
                + "Failed to connect to socket /nonexistent/bus: No such file or directory; where the system's bus is "
                + "meant: unset DBUS_SYSTEM_BUS_ADDRESS\n")
        #expect(outcome.status == 69)
    }

    @Test("BLZ-17 a no service is 69, and it is not started") func noService() async throws {
        let bus = try await PrivateBus.start()
        let other = try await DBusConnection.open(bus.address)
        #expect(try await other.requestName("org.freedesktop.systemd1"))
        var program = BuiltProgram(arguments: ["doctor", "--json"])
        program.environment.removeAll { $0.hasPrefix("DBUS_SYSTEM_BUS_ADDRESS=") }
        program.environment.append("DBUS_SYSTEM_BUS_ADDRESS=\(bus.address)")
        let report = try Report(await program.outcome())
        await other.close()
        await bus.stop()
        #expect(report.words == ["note busOther", "problem serviceStopped"])
        #expect(report.document["status"] == .number(69))
        #expect(report.document["name"] == .string("environment"))
        #expect(report.outcome.errors.hasPrefix("dfu: the Bluetooth service is not running on the message bus that "))
        #expect(report.outcome.status == 69)
    }

    @Test("BLZ-17 b no adapter") func noAdapter() async throws {
        try await AirBench.run([], adapters: []) { bench in
            let report = try await Self.report(bench)
            #expect(report.words == ["note busOther", "note serviceOther", "problem adapterMissing"])
            #expect(report.document["adapter"] == nil)
            #expect(report.outcome.status == 69)
        }
    }

    @Test("BLZ-17 c an adapter that is off stays off") func adapterOff() async throws {
        try await AirBench.run([], adapters: [SimulatedAdapter(isPowered: false)]) { bench in
            let report = try await Self.report(bench)
            #expect(report.words == Self.before + ["problem adapterOff"])
            #expect(
                report.outcome.errors
                    == "dfu: the adapter hci0 is off; switch it on, or give dfu the option --power-on: "
                    + "bluetoothctl power on\n")
            #expect(report.outcome.status == 69)
            #expect(try await bench.daemon().tree.adapters.map(\.isPowered) == [false])
        }
    }

    @Test("BLZ-17 d an adapter that rfkill blocks") func adapterBlocked() async throws {
        var adapter = SimulatedAdapter(isPowered: false)
        adapter.isBlocked = true
        var settings = BlueZSettings.quick
        settings.hasPowerState = true
        try await AirBench.run([], adapters: [adapter], settings: settings) { bench in
            let report = try await Self.report(bench)
            #expect(report.words == Self.before + ["problem adapterBlocked"])
            #expect(
                report.outcome.errors
                    == "dfu: the adapter hci0 is blocked by rfkill; let it be used: rfkill unblock bluetooth\n")
            #expect(report.outcome.status == 69)
        }
    }

    @Test("BLZ-19 an adapter that is not there") func unknownAdapter() async throws {
        try await AirBench.run([]) { bench in
            let report = try await Self.report(bench, "--adapter", "hci7")
            #expect(report.words == Self.before + ["problem adapterUnknown"])
            #expect(report.outcome.errors.hasPrefix("dfu: there is no adapter hci7; there is hci0; "))
            #expect(report.outcome.status == 69)
        }
    }

    @Test("Another program's scan is a warning, and no problem") func scanning() async throws {
        try await AirBench.run([]) { bench in
            try await bench.call("StartDiscovery")
            let report = try await Self.report(bench)
            #expect(report.words == Self.before + ["ok adapterOn", "warning adapterScanning"])
            #expect(report.outcome.status == 0)
        }
    }

    @Test("BLZ-15, BLZ-16 a device that is connected, and what a program holds of it") func devices() async throws {
        try await AirBench.run([AdvertisedDevice(GATTDevice.bench, name: "Bench")]) { bench in
            try await bench.call("StartDiscovery")
            try await bench.wait { $0.devices().count == 1 }
            try await bench.call("StopDiscovery")
            let device = "/org/bluez/hci0/dev_C0_FF_EE_00_00_10"
            try await bench.call("Connect", at: device)
            try await bench.wait { $0.devices().map(\.areServicesResolved) == [true] }
            #expect(try await Self.report(bench).words == Self.before + ["ok adapterOn", "note deviceConnected"])

            let tree = try await bench.daemon().tree
            let path = try #require(DBusObjectPath(device))
            let characteristics = tree.services(of: path).flatMap { tree.characteristics(of: $0.path) }
            let writer = try #require(characteristics.first { $0.uuid == BluetoothUUID(short: 0xABC1) })
            let notifier = try #require(characteristics.first { $0.uuid == BluetoothUUID(short: 0xABC2) })
            let sockets = [
                try await bench.call("AcquireWrite", [.properties([:])], at: writer.path.string),
                try await bench.call("AcquireNotify", [.properties([:])], at: notifier.path.string),
            ]
            let report = try await Self.report(bench)
            withExtendedLifetime(sockets) {}
            #expect(report.words == Self.before + ["ok adapterOn", "warning deviceHeld"])
            #expect(
                report.findings.last?["message"]
                    == .string("\(Self.address) Bench is connected by hci0, and a program uses its ABC1, ABC2"))
            #expect(report.findings.last?["about"] == .string(Self.address))
            #expect(report.outcome.status == 0)
            #expect(try await bench.daemon().tree.devices().map(\.isConnected) == [true], "it stays connected")
        }
    }

    @Test("BLZ-18 access denied is 77") func accessDenied() async throws {
        try await AirBench.run([]) { bench in
            let denied = DBusError(name: "org.freedesktop.DBus.Error.AccessDenied", message: "Rejected send message")
            await bench.blueZ.fail("GetManagedObjects", times: .max, with: denied)
            let report = try await Self.report(bench)
            #expect(report.words == ["note busOther", "problem accessDenied"])
            #expect(report.document["name"] == .string("permission"))
            #expect(
                report.outcome.errors.hasPrefix(
                    "dfu: this user may not talk to the Bluetooth service: Rejected send message; "))
            #expect(report.outcome.status == 77)
        }
    }

    @Test("A service that says nothing is waited for no longer than --timeout says") func silent() async throws {
        try await AirBench.run([]) { bench in
            await bench.blueZ.ignore("GetManagedObjects", times: .max)
            let report = try await Self.report(bench, "--timeout", "4")
            #expect(report.words == ["note busOther", "problem serviceFails"])
            #expect(
                report.outcome.errors.hasPrefix(
                    "dfu: the Bluetooth service does not show what it has: it did not answer in time; restart "))
            #expect(report.outcome.status == 69)
        }
    }

    @Test("BlueZ 5.50, as it tells itself") func oldVersion() async throws {
        var settings = BlueZSettings.bluez550
        settings.radio = settings.radio.quick
        try await AirBench.run([], settings: settings) { bench in
            let report = try await Self.report(bench)
            #expect(report.words == ["note busOther", "note serviceOther", "warning versionOld", "ok adapterOn"])
        }
    }
}
