import DFUSimulator
import DFUTransport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct BlueZDiscoveryTests {
    @Test func showsADeviceFromTheFirstReportUntilItsTimeIsOver() async throws {
        var settings = BlueZBench.quickSettings
        settings.temporaryTimeout = .milliseconds(100)
        try await BlueZBench.run(settings: settings) { bench in
            try await bench.call("StartDiscovery")
            #expect(await bench.story(until: "+") == ["hci0 Discovering true", "+ device"])
            let properties = try await bench.call(
                "GetAll", [.string("org.bluez.Device1")], of: "org.freedesktop.DBus.Properties",
                at: BlueZBench.device
            ).first?.properties
            #expect(
                properties == [
                    "Address": .string("C0:FF:EE:00:00:01"), "AddressType": .string("random"),
                    "Name": .string("Band"), "Alias": .string("Band"), "Paired": .boolean(false),
                    "Bonded": .boolean(false), "Trusted": .boolean(false), "Blocked": .boolean(false),
                    "LegacyPairing": .boolean(false), "RSSI": .int16(-60), "Connected": .boolean(false),
                    "UUIDs": .array([.string("0000fee0-0000-1000-8000-00805f9b34fb")], of: .string),
                    "Adapter": .objectPath(try #require(DBusObjectPath(BlueZBench.adapter))),
                    "ServicesResolved": .boolean(false),
                ])
            try await bench.call("StopDiscovery")
            #expect(
                await bench.story(until: "-") == ["device RSSI is gone", "hci0 Discovering false", "- device"])
            #expect(try await bench.refusal("Connect", at: BlueZBench.device)?.hasPrefix("UnknownObject") == true)
        }
    }

    @Test func tellsOfEachReportOnlyWhenEveryClientFilters() async throws {
        try await BlueZBench.run { bench in
            try await bench.call("SetDiscoveryFilter", [.properties(["Transport": .string("le")])])
            try await bench.call("StartDiscovery")
            #expect(
                await bench.story(until: "device RSSI") == ["hci0 Discovering true", "+ device", "device RSSI -60"])
            let other = try await DBusConnection.open(bench.bus.address)
            try await bench.call("StartDiscovery", by: other)
            try await bench.call("StopDiscovery")
            try await bench.call("StopDiscovery", by: other)
            let rest = await bench.story(until: "hci0 Discovering")
            #expect(rest.suffix(2) == ["device RSSI is gone", "hci0 Discovering false"])
        }
    }

    @Test func endsTheDiscoveryOfAClientThatLeavesTheBus() async throws {
        try await BlueZBench.run { bench in
            let other = try await DBusConnection.open(bench.bus.address)
            try await bench.call("StartDiscovery", by: other)
            await other.close()
            #expect(await bench.story(until: "hci0 Discovering false").last == "hci0 Discovering false")
        }
    }

    @Test(arguments: [
        (["UUIDs": DBusValue.array([.string("fee0")], of: .string)], true),
        (["UUIDs": .array([.string("1530")], of: .string)], false),
        (["RSSI": .int16(-60)], true), (["RSSI": .int16(-59)], false),
        (["Pattern": .string("Ba")], true), (["Pattern": .string("C0:FF")], true), (["Pattern": .string("X")], false),
        (["Transport": .string("auto")], true), (["Transport": .string("bredr")], false),
    ])
    func hearsWhatTheFilterAdmits(filter: [String: DBusValue], isHeard: Bool) async throws {
        try await BlueZBench.run { bench in
            try await bench.call("SetDiscoveryFilter", [.properties(filter)])
            try await bench.call("StartDiscovery")
            // Another client, which admits everything, shows what the first one kept out.
            let other = try await DBusConnection.open(bench.bus.address)
            if !isHeard {
                try await bench.call("StopDiscovery")
                try await bench.call("StartDiscovery", by: other)
            }
            let discoveries = isHeard ? [true] : [true, false, true]
            #expect(
                await bench.story(until: "+") == discoveries.map { "hci0 Discovering \($0)" } + ["+ device"])
            await other.close()
        }
    }

    @Test func refusesAsBlueZDoes() async throws {
        try await BlueZBench.run(adapters: [SimulatedAdapter(), SimulatedAdapter("hci1", isPowered: false)]) { bench in
            let nowhere = try DBusValue.objectPath(#require(DBusObjectPath(BlueZBench.adapter + "/dev_x")))
            #expect(try await bench.refusal("StopDiscovery") == "Failed: No discovery started")
            #expect(try await bench.refusal("StartDiscovery") == nil)
            #expect(try await bench.refusal("StartDiscovery") == "InProgress: Operation already in progress")
            #expect(try await bench.refusal("RemoveDevice", [nowhere]) == "DoesNotExist: Does Not Exist")
            for filter: [String: DBusValue] in [
                ["Transport": .string("radio")], ["UUIDs": .array([.string("x")], of: .string)], ["Colour": .byte(1)],
                ["RSSI": .int16(-60), "Pathloss": .uint16(60)],
            ] {
                #expect(
                    try await bench.refusal("SetDiscoveryFilter", [.properties(filter)])
                        == "InvalidArguments: Invalid arguments in method call")
            }
            for member in ["StartDiscovery", "StopDiscovery"] {
                #expect(
                    try await bench.refusal(member, at: "/org/bluez/hci1") == "NotReady: Resource Not Ready")
            }
            #expect(
                try await bench.refusal("Fly", of: "org.bluez.Adapter1")
                    == "UnknownMethod: Method \"Fly\" with signature \"\" on interface \"org.bluez.Adapter1\" "
                    + "doesn't exist\n")
            #expect(
                try await bench.refusal("StartDiscovery", of: "org.bluez.Adapter1", at: "/org/bluez/hci10")
                    == "UnknownObject: Method \"StartDiscovery\" with signature \"\" on interface "
                    + "\"org.bluez.Adapter1\" doesn't exist\n")
        }
    }

    @Test func removesADeviceWhenTold() async throws {
        try await BlueZBench.run { bench in
            try await bench.discover()
            let device = try DBusValue.objectPath(#require(DBusObjectPath(BlueZBench.device)))
            try await bench.call("RemoveDevice", [device])
            #expect(await bench.story(until: "-") == ["- device"])
        }
    }

    @Test func endsDiscoveryWhenItIsSwitchedOff() async throws {
        try await BlueZBench.run { bench in
            func power(_ value: DBusValue) async throws -> String? {
                try await bench.refusal(
                    "Set", [.string("org.bluez.Adapter1"), .string("Powered"), .variant(value)],
                    of: "org.freedesktop.DBus.Properties")
            }
            try await bench.call("StartDiscovery")
            _ = await bench.story(until: "+ device")
            #expect(try await power(.boolean(false)) == nil)
            #expect(
                await bench.story(until: "hci0 Powered") == [
                    "device RSSI is gone", "hci0 Discovering false", "hci0 Powered false",
                ])
            #expect(try await bench.refusal("StartDiscovery") == "NotReady: Resource Not Ready")
            #expect(try await power(.boolean(true)) == nil)
            #expect(await bench.story(until: "hci0 Powered") == ["hci0 Powered true"])
            #expect(try await bench.refusal("StartDiscovery") == nil)
            #expect(try await power(.byte(1)) == "InvalidSignature: Invalid signature for 'Powered'")
        }
    }

    @Test func hidesADeviceFromAnAdapterThatDoesNotDiscover() async throws {
        try await BlueZBench.run(adapters: [SimulatedAdapter(), SimulatedAdapter("hci1")]) { bench in
            try await bench.call("StartDiscovery", at: "/org/bluez/hci1")
            #expect(
                await bench.story(until: "+") == ["hci1 Discovering true", "+ hci1/dev_C0_FF_EE_00_00_01"])
        }
    }
}

/// The objects as a program shows them that shares no code with ours.
@Suite(.timeLimit(.minutes(1))) struct BlueZForeignToolTests {
    @Test func busctlReadsTheTreeAndTheInterfaces() async throws {
        try await BlueZBench.run(adapters: [SimulatedAdapter(), SimulatedAdapter("hci1")]) { bench in
            func busctl(_ arguments: String...) async throws -> String {
                let outcome = try await Program.run(["busctl", "--address=" + bench.bus.address] + arguments)
                #expect(outcome.errors == "")
                return outcome.output
            }
            #expect(
                try await busctl("--list", "tree", "org.bluez")
                    == "/\n/org\n/org/bluez\n/org/bluez/hci0\n/org/bluez/hci1\n")
            let interface = try await busctl("introspect", "org.bluez", "/org/bluez/hci0", "org.bluez.Adapter1")
            let words = interface.split(separator: "\n").dropFirst().map {
                $0.split(separator: " ").map(String.init).joined(separator: " ")
            }
            #expect(
                words == [
                    ".GetDiscoveryFilters method - as -", ".RemoveDevice method o - -",
                    ".SetDiscoveryFilter method a{sv} - -", ".StartDiscovery method - - -",
                    ".StopDiscovery method - - -",
                    #".Address property s "00:1A:7D:DA:71:13" emits-change"#,
                    #".AddressType property s "public" emits-change"#, #".Alias property s "hci0" emits-change"#,
                    ".Class property u 0 emits-change", ".Discoverable property b false emits-change",
                    ".Discovering property b false emits-change",
                    #".Modalias property s "usb:v1D6Bp0246d0542" emits-change"#,
                    #".Name property s "hci0" emits-change"#,
                    ".Pairable property b true emits-change", ".Powered property b true emits-change writable",
                    #".Roles property as 2 "central" "peripheral" emits-change"#,
                    ".UUIDs property as 0 emits-change",
                ])
            #expect(
                try await busctl("get-property", "org.bluez", "/org/bluez/hci0", "org.bluez.Adapter1", "Powered")
                    == "b true\n")
        }
    }
}
