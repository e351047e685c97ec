import DFUSimulator
import DFUTransport
import Glibc
import TestSupport
import Testing

/// `dfu scan` over a bus.
@Suite(.serialized, .timeLimit(.minutes(5))) struct BlueZScanTests {
    private static let secure = BluetoothUUID(short: 0xFE59)
    private static let smp = BluetoothUUID("8d53dc1d-1db7-4cd3-868b-8a527460aa84")

    private static var devices: [AdvertisedDevice] {
        [
            AdvertisedDevice(Band(), name: "Band").heard(at: -70),
            AdvertisedDevice(GATTDevice("C0:FF:EE:00:00:02"), name: "DfuTarg", services: [secure]).heard(at: -50),
            AdvertisedDevice(GATTDevice("C0:FF:EE:00:00:03"), services: [smp].compactMap(\.self)).heard(at: -81),
        ]
    }

    @Test("A scan that goes on ends when nobody reads it any more") func watchEndsWithItsReader() async throws {
        try await AirBench.run([.band("C0:FF:EE:00:00:01"), .band("C0:FF:EE:00:00:02")]) { bench in
            let program = bench.program(["scan", "--watch", "--json"])
            let status = await ThreadExecutor.shared.run {
                let closed = Pipe()
                close(closed.read)
                let child = program.spawn(output: closed.write, errors: closed.write)
                close(closed.write)
                return BuiltProgram.wait(for: child)
            }
            #expect(status == 0)
        }
    }

    @Test("Devices are listed, the strongest first, with what their services let expect")
    func list() async throws {
        try await AirBench.run(Self.devices) { bench in
            #expect(
                await bench.dfu("scan", "--scan-timeout", "1")
                    == .init(
                        output: """
                            ADDRESS            RSSI  NAME       HINT       SERVICES
                            C0:FF:EE:00:00:02   -50  DfuTarg    secure     Nordic Secure DFU
                            C0:FF:EE:00:00:01   -70  Band       block-ack  FEE0
                            C0:FF:EE:00:00:03   -81  (no name)  smp        SMP

                            """, errors: "", status: 0))
        }
    }

    @Test(
        "Only what is asked for is listed",
        arguments: [
            (["--service", "fe59"], ["C0:FF:EE:00:00:02"]),
            (["--service", "FE59", "--service", "FEE0"], ["C0:FF:EE:00:00:02", "C0:FF:EE:00:00:01"]),
            (["--name", "B*"], ["C0:FF:EE:00:00:01"]), (["--name", "b*"], []),
            (["--min-rssi", "-75"], ["C0:FF:EE:00:00:02", "C0:FF:EE:00:00:01"]),
            (["--min-rssi=-75", "--name", "?and"], ["C0:FF:EE:00:00:01"]),
        ])
    func filters(_ options: [String], _ addresses: [String]) async throws {
        try await AirBench.run(Self.devices) { bench in
            let program = bench.program(["scan", "--scan-timeout", "1"] + options)
            let outcome = await program.outcome()
            let rows = outcome.output.split(separator: "\n").dropFirst()
            #expect(rows.map { String($0.prefix(17)) } == addresses)
            let sentence = "dfu: nothing that fits was heard (3 others) within 1 s with hci0\n"
            #expect(outcome.errors == (addresses.isEmpty ? sentence : ""))
            #expect(outcome.status == 0)
        }
    }

    @Test("CLI-10 a scan that hears nothing says so, and ends with 0")
    func nothing() async throws {
        try await AirBench.run([]) { bench in
            #expect(
                await bench.dfu("scan", "--scan-timeout", "1")
                    == .init(output: "", errors: "dfu: nothing was heard within 1 s with hci0\n", status: 0))
        }
    }

    @Test("With --json there is one document")
    func document() async throws {
        try await AirBench.run(Self.devices) { bench in
            let outcome = await bench.dfu("scan", "--scan-timeout", "1", "--json", "--name", "Band")
            guard case .object(let document) = try JSONValue(parsing: Array(outcome.output.utf8)) else {
                Issue.record("no object")
                return
            }
            #expect(document["ok"] == .boolean(true))
            #expect(document["adapter"] == .string("hci0"))
            #expect(
                document["devices"]
                    == .array([
                        .object([
                            "address": .string("C0:FF:EE:00:00:01"), "addressType": .string("random"),
                            "name": .string("Band"), "rssi": .number(-70), "connected": .boolean(false),
                            "bonded": .boolean(false), "cached": .boolean(false),
                            "services": .array([.string("0000fee0-0000-1000-8000-00805f9b34fb")]),
                            "protocols": .array([.string("block-ack")]),
                        ])
                    ]))
        }
    }

    @Test("BLZ-16 a device that another program has connected is listed as connected")
    func connected() async throws {
        var device = Self.devices[0]
        device.isConnected = true
        try await AirBench.run([device]) { bench in
            let outcome = await bench.dfu("scan", "--scan-timeout", "1")
            #expect(
                outcome.output.split(separator: "\n").last
                    == "C0:FF:EE:00:00:01     -  Band  block-ack  connected  FEE0, Device Information")
            #expect(outcome.errors == "")
        }
    }

    @Test("CLI-10 what BlueZ remembers and does not hear is marked, and does not count as heard")
    func cached() async throws {
        var device = Self.devices[1]
        device.isKnown = true
        device.isInRange = false
        try await AirBench.run([device]) { bench in
            #expect(
                await bench.dfu("scan", "--scan-timeout", "1")
                    == .init(
                        output: """
                            ADDRESS            RSSI  NAME     HINT    STATE              SERVICES
                            C0:FF:EE:00:00:02     -  DfuTarg  secure  cached, not heard  Nordic Secure DFU

                            """, errors: "dfu: nothing was heard within 1 s with hci0\n", status: 0))
        }
    }

    @Test("CLI-10 a device has one row, with the name that came in a later report")
    func laterName() async throws {
        var device = Self.devices[0]
        device.firstNamedReport = 2
        try await AirBench.run([device]) { bench in
            let rows = await bench.dfu("scan", "--scan-timeout", "1").output.split(separator: "\n").dropFirst()
            #expect(rows == ["C0:FF:EE:00:00:01   -70  Band  block-ack  FEE0"])
        }
    }

    @Test("With --watch in a pipe there is a line for each change, until a signal")
    func watch() async throws {
        try await AirBench.run([Self.devices[0]]) { bench in
            let scan = bench.start("scan", "--watch")
            let appeared = await scan.line(with: "appeared")
            #expect(appeared?.dropFirst(25) == "appeared  C0:FF:EE:00:00:01  -70  Band  block-ack  FEE0")
            scan.signal(SIGINT)
            let outcome = await scan.outcome()
            #expect(outcome.status == 130)
            #expect(outcome.errors == "")
        }
    }

    @Test("On a terminal the list grows in place, and stays at last", arguments: [[], ["--watch"]])
    func redrawn(_ options: [String]) async throws {
        try await AirBench.run(Self.devices) { bench in
            let program = bench.program(["scan", "--scan-timeout", "2"] + options)
            let (isShown, status, rows) = await ThreadExecutor.shared.run {
                let terminal = PseudoTerminal(program, columns: 60, rows: 24)
                let isShown = terminal.wait(for: "hci0 hears 3 devices")
                return (isShown, terminal.end(), terminal.screen.rows)
            }
            #expect(isShown)
            #expect(status == 0)
            #expect(
                rows == [
                    "ADDRESS            RSSI  NAME       HINT       SERVICES",
                    "C0:FF:EE:00:00:02   -50  DfuTarg    secure     FE59",
                    "C0:FF:EE:00:00:01   -70  Band       block-ack  FEE0",
                    "C0:FF:EE:00:00:03   -81  (no name)  smp        SMP",
                ])
        }
    }

    @Test("With --watch and --json there is an object for each change, and a result")
    func watchForPrograms() async throws {
        try await AirBench.run([Self.devices[0]]) { bench in
            let events = try await bench.dfu("scan", "--watch", "--json", "--scan-timeout", "1").events()
            try #require(events.map(\.name) == ["start", "device", "result"])
            #expect(events[1].text("device") == "C0:FF:EE:00:00:01")
            #expect(events[1]["rssi"] == .number(-70))
            #expect(events[2].text("name") == "ok")
        }
    }

    @Test("A device that BlueZ has not heard for a while is told to be gone")
    func gone() async throws {
        var settings = BlueZSettings.quick
        settings.radio.advertisingInterval = .seconds(1)
        settings.temporaryTimeout = .milliseconds(400)
        try await AirBench.run([Self.devices[0]], settings: settings) { bench in
            let scan = bench.start("scan", "--watch", "--json")
            let gone = await scan.line(with: #""event":"gone""#)
            #expect(gone?.contains(#""device":"C0:FF:EE:00:00:01""#) == true)
            scan.signal(SIGTERM)
            #expect(await scan.outcome().status == 143)
        }
    }

    @Test(
        "BLZ-17 without Bluetooth the status is 69, and the reason is told",
        arguments: [
            ([], "dfu: there is no Bluetooth adapter; plug one in"),
            (
                [SimulatedAdapter(isPowered: false)],
                "dfu: the adapter hci0 is off; switch it on (bluetoothctl power on), or use --power-on"
            ),
        ] as [([SimulatedAdapter], String)])
    func noAdapter(_ adapters: [SimulatedAdapter], _ line: String) async throws {
        try await AirBench.run([], adapters: adapters) { bench in
            #expect(await bench.dfu("scan") == .failed(69, line))
        }
    }
}
