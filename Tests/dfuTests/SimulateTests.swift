import DFUKit
import DFUTransport
import Glibc
import TestSupport
import Testing

@testable import dfu

/// `dfu simulate`, each with a bus of its own, in real time.
@Suite(.timeLimit(.minutes(5))) struct SimulateTests {
    private static let ready = "C0:FF:EE:00:00:01: Band (sim:band)"

    private static func program(_ arguments: String..., environment: [String] = BuiltProgram.environment)
        -> BuiltProgram
    {
        BuiltProgram(arguments: ["simulate"] + arguments, environment: environment)
    }

    /// The folder that a bus's address lies in.
    private static func folder(of address: String) -> String {
        String(address.trimmingPrefix("unix:path=").dropLast("/socket".utf8.count))
    }

    private static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    // MARK: With a command

    @Test("a command finds the bus, and its status is the program's")
    func runsACommand() async throws {
        let outcome = await Self.program("--", "sh", "-c", "echo $DBUS_SYSTEM_BUS_ADDRESS; echo told >&2; exit 3")
            .outcome()
        #expect(outcome.status == 3)
        #expect(outcome.errors == "told\n")
        let address = try #require(outcome.output.split(separator: "\n").first.map(String.init))
        #expect(address.hasPrefix("unix:path=/tmp/dfu-simulate-"))
        #expect(!Self.exists(Self.folder(of: address)))
    }

    @Test("busctl sees the adapters that were asked for, and the devices that are found")
    func isBlueZ() async {
        let script = """
            busctl --address=$DBUS_SYSTEM_BUS_ADDRESS --list tree org.bluez
            busctl --address=$DBUS_SYSTEM_BUS_ADDRESS get-property org.bluez /org/bluez/hci2 org.bluez.Adapter1 Address
            """
        let outcome = await Self.program("--adapter", "hci0", "--adapter", "hci2", "--", "sh", "-c", script).outcome()
        #expect(
            outcome
                == BuiltProgram.Outcome(
                    output: "/\n/org\n/org/bluez\n/org/bluez/hci0\n/org/bluez/hci2\ns \"00:1A:7D:DA:71:14\"\n",
                    errors: "", status: 0))
    }

    @Test func aCommandThatIsNotThere() async {
        #expect(
            await Self.program("--", "no-such-program").outcome()
                == .failed(66, "dfu: no-such-program: cannot be run: No such file or directory"))
    }

    @Test("a signal is passed on to the command, and its end is waited for")
    func passesSignalsOn() {
        let running = RunningProgram(Self.program("--", "sh", "-c", "echo ready >&2; exec sleep 1000"))
        #expect(running.waitForLine(endingWith: "ready"))
        running.signal(SIGTERM)
        #expect(running.outcome() == BuiltProgram.Outcome(output: "", errors: "ready\n", status: 143))
    }

    // MARK: Without one

    @Test("it runs until a signal, and leaves nothing", arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
    func runsUntilASignal(_ signal: Int32, _ status: Int32) async throws {
        let running = RunningProgram(Self.program())
        #expect(running.waitForLine(endingWith: Self.ready))
        let line = try #require(running.printed.first)
        let address = String(line.trimmingPrefix("DBUS_SYSTEM_BUS_ADDRESS="))
        #expect(Self.exists(Self.folder(of: address) + "/socket"))
        running.signal(signal)
        #expect(
            running.outcome() == BuiltProgram.Outcome(output: line + "\n", errors: Self.ready + "\n", status: status))
        #expect(!Self.exists(Self.folder(of: address)))
    }

    @Test("its bus ends with it even when it is killed")
    func isKilled() async throws {
        let running = RunningProgram(Self.program())
        #expect(running.waitForLine(endingWith: Self.ready))
        let line = try #require(running.printed.first)
        let connection = try await DBusConnection.open(String(line.trimmingPrefix("DBUS_SYSTEM_BUS_ADDRESS=")))
        let events = try await connection.subscribe(to: DBusMatchRule(sender: DBusConnection.busName))
        running.signal(SIGKILL)
        var last: DBusEvent?
        for await event in events { last = event }
        #expect(last == .disconnected)
        #expect(running.outcome().status == 1000 + SIGKILL)
    }

    @Test("an update over the bus, told in JSON, with the files that the device is kept in")
    func anUpdate() async throws {
        let bench = try FlashBench(2000)
        let device =
            "sim:band?name=Left&address=c0:11:22:33:44:50&rssi=-40&mtu=247&dle=on&state=\(bench.path("state"))"
            + "&image=\(bench.path("image"))"
        let running = RunningProgram(
            Self.program("--json", "-v", "--disconnect-delay", "0", "--device", device, "--device", "sim:band"))
        #expect(running.waitForLine(endingWith: Self.ready))
        let printed = try JSONEvent.events(in: running.printed.joined(separator: "\n"))
        let address = try #require(printed.first { $0.name == "bus" }?.text("address"))

        var options = BlueZTransport.Options()
        options.busAddress = address
        let updater = Updater(transport: try await BlueZTransport(options))
        let package = try Package.open(bench.package)
        let report = try await updater.update("C0:11:22:33:44:50", with: package)
        #expect(report.version == "1.1.0")
        // It was written when the device came up again.
        #expect(try bench.bytes("image") == bench.image)

        running.signal(SIGTERM)
        let outcome = running.outcome()
        #expect(outcome.status == 143)
        let events = try outcome.events()
        #expect(events.map(\.name).prefix(4) == ["start", "bus", "device", "device"])
        #expect(
            events.filter { $0.name == "device" }.map { $0.text("address") } == [
                "C0:11:22:33:44:50", "C0:FF:EE:00:00:01",
            ])
        #expect(events.filter { $0.name == "device" }.map { $0.text("name") } == ["Left", "Band"])
        let told = events.dropFirst(4).map(\.name)
        #expect(told.prefix(3) == ["connected", "down", "disconnected"])
        #expect(told.contains("rebooted"))
        #expect(try bench.bytes("image") == bench.image)
        #expect(try !bench.bytes("state").isEmpty)
    }

    @Test("what goes wrong with BlueZ is a file's word")
    func faults() async throws {
        let folder = try TemporaryFolder()
        let faults = try folder.write(
            Array(#"[{"fault": "powerOff", "adapter": "hci0"}, {"fault": "closeBus", "milliseconds": 500}]"#.utf8),
            to: "faults.json")
        let script = """
            busctl --address=$DBUS_SYSTEM_BUS_ADDRESS get-property org.bluez /org/bluez/hci0 org.bluez.Adapter1 Powered
            busctl --address=$DBUS_SYSTEM_BUS_ADDRESS monitor org.bluez >/dev/null 2>&1
            echo ended
            """
        let outcome = await Self.program("--faults", faults, "--", "sh", "-c", script).outcome()
        #expect(outcome == BuiltProgram.Outcome(output: "b false\nended\n", errors: "", status: 0))
    }

    // MARK: What is missing or wrong

    @Test func faultsThatAreWrong() async throws {
        let folder = try TemporaryFolder()
        let faults = try folder.write(Array(#"[{"fault": "drop"}]"#.utf8), to: "faults.json")
        let outcome = await Self.program("--faults", faults).outcome()
        #expect(outcome.status == 78)
        #expect(outcome.errors.hasPrefix("dfu: \(faults): entry 1: no fault is called \"drop\"; there are fail, "))
    }

    @Test func aMachineWithoutDBusDaemon() async {
        let environment = BuiltProgram.environment.filter { !$0.hasPrefix("PATH=") } + ["PATH=/nonexistent"]
        #expect(
            await Self.program(environment: environment).outcome()
                == .failed(
                    69,
                    "dfu: simulated devices are on a message bus of their own, and there is no dbus-daemon; install it "
                        + "(on Debian: apt install dbus-daemon)"))
    }

    @Test func aDevicesFileThatCannotBeRead() async {
        #expect(
            await Self.program("--device", "sim:band?faults=/nonexistent/faults").outcome()
                == .failed(66, "dfu: /nonexistent/faults: cannot be read: No such file or directory"))
    }

    @Test func addressesThatAreNotGivenAreTheFirstFreeOnes() throws {
        var simulate = Simulate()
        simulate.devices = [
            .band, try AdvertisedDeviceID("sim:band?address=C0:FF:EE:00:00:02"), .band, .band,
        ]
        #expect(
            simulate.addresses == [
                "C0:FF:EE:00:00:01", "C0:FF:EE:00:00:02", "C0:FF:EE:00:00:03", "C0:FF:EE:00:00:04",
            ])
    }

    @Test func everyOptionOfADeviceIsRead() throws {
        let id = try AdvertisedDeviceID("sim:band/left?address=c0:11:22:33:44:50&name=My%20band&rssi=-80&mtu=100")
        #expect(id.device.device == "sim:band/left")
        #expect(id.address?.description == "C0:11:22:33:44:50")
        #expect(id.name == "My band")
        #expect(id.rssi == -80)
        #expect(id.device.mtu == 100)
    }
}
