import DFUProtocol
import DFUSimulator
import DFUTransport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct BlueZConnectionTests {
    @Test func showsServicesBeforeTheyAreResolved() async throws {
        try await BlueZBench.run { bench in
            try await bench.discover()
            try await bench.call("Connect", at: BlueZBench.device)
            #expect(
                await bench.story(until: "device ServicesResolved") == [
                    "device Connected true", "+ service000e", "+ service000e/char000f",
                    "+ service000e/char000f/desc0011", "+ service000e/char0012", "+ service0014",
                    "+ service0014/char0015",
                    "device UUIDs 0000fee0-0000-1000-8000-00805f9b34fb 0000180a-0000-1000-8000-00805f9b34fb",
                    "device ServicesResolved true",
                ])
            // It is connected already.
            #expect(try await bench.refusal("Connect", at: BlueZBench.device) == nil)
        }
    }

    @Test func busctlReadsACharacteristic() async throws {
        try await BlueZBench.run { bench in
            try await bench.connect()
            let outcome = try await Program.run([
                "busctl", "--address=" + bench.bus.address, "introspect", "org.bluez", BlueZBench.command,
                "org.bluez.GattCharacteristic1",
            ])
            let words = outcome.output.split(separator: "\n").dropFirst().map {
                $0.split(separator: " ").map(String.init).joined(separator: " ")
            }
            #expect(
                words == [
                    ".AcquireNotify method a{sv} hq -", ".AcquireWrite method a{sv} hq -",
                    ".ReadValue method a{sv} ay -", ".StartNotify method - - -", ".StopNotify method - - -",
                    ".WriteValue method aya{sv} - -",
                    #".Flags property as 1 "write-without-response" emits-change"#,
                    ".Handle property q 18 emits-change", ".MTU property q 23 emits-change",
                    ".NotifyAcquired property b - emits-change", ".Notifying property b - emits-change",
                    #".Service property o "/org/bluez/hci0/dev_C0_FF_EE_00_00_01/service000e" emits-change"#,
                    #".UUID property s "0000ff02-0000-1000-8000-00805f9b34fb" emits-change"#,
                    ".Value property ay - emits-change", ".WriteAcquired property b false emits-change",
                ])
            let read = try await Program.run([
                "busctl", "--address=" + bench.bus.address, "call", "org.bluez", BlueZBench.version,
                "org.bluez.GattCharacteristic1", "ReadValue", "a{sv}", "0",
            ])
            #expect(read == Program.Outcome(output: "ay 5 49 46 48 46 48\n", errors: "", status: 0))
        }
    }

    @Test func keepsTheServicesOfADeviceThatIsNotConnected() async throws {
        try await BlueZBench.run { bench in
            try await bench.connect()
            try await bench.call("Disconnect", at: BlueZBench.device)
            #expect(
                await bench.story(until: "device Connected") == [
                    "device ServicesResolved false", "device Connected false",
                ])
            #expect(try await bench.refusal("Disconnect", at: BlueZBench.device) == nil)
            for (member, body) in [
                ("ReadValue", [DBusValue.properties([:])]), ("WriteValue", [.bytes([1]), .properties([:])]),
                ("AcquireWrite", [.properties([:])]), ("AcquireNotify", [.properties([:])]),
            ] {
                #expect(
                    try await bench.refusal(member, body, at: BlueZBench.command) == "Failed: Not connected",
                    "\(member)")
            }
            try await bench.call("Connect", at: BlueZBench.device)
            #expect(
                await bench.story(until: "device ServicesResolved") == [
                    "device Connected true", "device ServicesResolved true",
                ])
        }
    }

    @Test func makesOneConnectionAtATime() async throws {
        try await BlueZBench.run(adapters: [SimulatedAdapter(), SimulatedAdapter("hci1")]) { bench in
            let other = "/org/bluez/hci1/dev_C0_FF_EE_00_00_01"
            try await bench.call("StartDiscovery", at: "/org/bluez/hci1")
            _ = await bench.story(until: "+ hci1/dev")
            try await bench.discover()
            // The device does not advertise while the other adapter has it.
            try await bench.call("Connect", at: other)
            try await withThrowingTaskGroup { group in
                for _ in 0..<2 { group.addTask { try await bench.refusal("Connect", at: BlueZBench.device) } }
                #expect(try await group.next() == "Failed: Operation already in progress")
                try await bench.call("Disconnect", at: BlueZBench.device)
                #expect(try await group.next() == "Failed: br-connection-canceled")
            }
        }
    }

    @Test func givesUpADeviceThatDoesNotAdvertise() async throws {
        var settings = BlueZBench.quickSettings
        settings.connectTimeout = .milliseconds(30)
        try await BlueZBench.run(
            adapters: [SimulatedAdapter(), SimulatedAdapter("hci1")], settings: settings
        ) { bench in
            try await bench.call("StartDiscovery", at: "/org/bluez/hci1")
            _ = await bench.story(until: "+ hci1/dev")
            try await bench.discover()
            try await bench.call("Connect", at: "/org/bluez/hci1/dev_C0_FF_EE_00_00_01")
            #expect(
                try await bench.refusal("Connect", at: BlueZBench.device) == "Failed: le-connection-abort-by-local")
        }
    }

    @Test func removesAConnectedDeviceWhenItIsDown() async throws {
        try await BlueZBench.run { bench in
            try await bench.connect()
            let device = try DBusValue.objectPath(#require(DBusObjectPath(BlueZBench.device)))
            try await bench.call("RemoveDevice", [device])
            let story = await bench.story(until: "- device")
            #expect(story.prefix(2) == ["device ServicesResolved false", "device Connected false"])
            #expect(story.dropFirst(2).allSatisfy { $0.hasPrefix("- ") })
            #expect(story.count == 9)
        }
    }

    @Test func tellsOfALinkThatIsLost() async throws {
        try await BlueZBench.run { bench in
            try await bench.connect()
            bench.blueZ.loseLink(to: "C0:FF:EE:00:00:01")
            #expect(
                await bench.story(until: "device Connected") == [
                    "device ServicesResolved false", "device Connected false",
                ])
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct BlueZCharacteristicTests {
    private static let battery = BlockAck.Request.battery.encoded(by: DeviceProfile.band.blockAck)
    private static let answer = BlockAck.Reply.battery(tenths: 8).encoded(by: DeviceProfile.band.blockAck)

    private static func options(_ type: String) -> DBusValue { .properties(["type": .string(type)]) }

    @Test(arguments: ["command", "request"])
    func carriesAQuestionAndItsAnswer(type: String) async throws {
        try await BlueZBench.run { bench in
            try await bench.connect()
            try await bench.call("StartNotify", at: BlueZBench.reply)
            #expect(await bench.story(until: "service") == ["service000e/char000f Notifying true"])
            // A second time is no harm.
            #expect(try await bench.refusal("StartNotify", at: BlueZBench.reply) == nil)
            for _ in 0..<2 {
                // The same value again is told again.
                try await bench.call(
                    "WriteValue", [.bytes(Self.battery), Self.options(type)], at: BlueZBench.command)
                #expect(await bench.story(until: "service") == ["service000e/char000f Value \(Self.answer)"])
            }
            #expect(bench.written == [Self.battery, Self.battery])
            try await bench.call("StopNotify", at: BlueZBench.reply)
            #expect(await bench.story(until: "service") == ["service000e/char000f Notifying false"])
        }
    }

    @Test func refusesAsBlueZDoes() async throws {
        try await BlueZBench.run { bench in
            try await bench.connect()
            let cases: [(String, [DBusValue], String, String)] = [
                (
                    "WriteValue", [.bytes([UInt8](repeating: 0, count: 21)), Self.options("command")],
                    BlueZBench.command, "Failed: Failed to initiate write"
                ),
                (
                    "WriteValue", [.bytes([0]), Self.options("shout")], BlueZBench.command,
                    "InvalidArguments: Invalid arguments in method call"
                ),
                (
                    "WriteValue", [.bytes([0]), .properties([:])], BlueZBench.version,
                    "NotSupported: Operation is not supported"
                ),
                ("ReadValue", [.properties([:])], BlueZBench.command, "NotPermitted: Read not permitted"),
                (
                    "ReadValue", [.properties(["offset": .uint16(6)])], BlueZBench.version,
                    "InvalidArguments: Invalid offset"
                ),
                ("StartNotify", [], BlueZBench.version, "NotSupported: Operation is not supported"),
                ("StopNotify", [], BlueZBench.reply, "Failed: No notify session started"),
                ("AcquireWrite", [.properties([:])], BlueZBench.version, "NotSupported: Operation is not supported"),
                ("AcquireNotify", [.properties([:])], BlueZBench.command, "NotSupported: Operation is not supported"),
            ]
            for (member, body, path, error) in cases {
                #expect(try await bench.refusal(member, body, at: path) == error, "\(member)")
            }
        }
    }

    @Test func takesOneRequestAtATime() async throws {
        var settings = BlueZBench.quickSettings
        settings.radio.supervisionTimeout = .seconds(20)
        try await BlueZBench.run(settings: settings) { bench in
            try await bench.connect()
            // Nothing is answered any more, and nobody knows yet.
            bench.blueZ.loseLink(to: "C0:FF:EE:00:00:01")
            let body = [DBusValue.bytes(Self.battery), Self.options("request")]
            let path = try #require(DBusObjectPath(BlueZBench.command))
            let write = DBusMessage.call(
                "WriteValue", of: nil, at: path, destination: SimulatedBlueZ.name, body: body)
            try await bench.client.send(write)
            #expect(try await bench.refusal("WriteValue", body, at: BlueZBench.command) == "InProgress: In Progress")
        }
    }

    @Test func dropsWhatNobodyHasAskedFor() async throws {
        try await BlueZBench.run { bench in
            try await bench.connect()
            try await bench.call("WriteValue", [.bytes(Self.battery), Self.options("request")], at: BlueZBench.command)
            // Its answer is behind the notification.
            try await bench.call("ReadValue", [.properties([:])], at: BlueZBench.version)
            let version = Array("1.0.0".utf8)
            #expect(await bench.story(until: "service") == ["service0014/char0015 Value \(version)"])
        }
    }

    // MARK: Sockets

    @Test func takesRecordsFromTheOneOwnerOfASocket() async throws {
        try await BlueZBench.run { bench in
            try await bench.connect()
            try await bench.call("StartNotify", at: BlueZBench.reply)
            _ = await bench.story(until: "service")
            let socket = try await acquire("AcquireWrite", at: BlueZBench.command, of: bench, mtu: 23)
            #expect(await bench.story(until: "service") == ["service000e/char0012 WriteAcquired true"])
            #expect(
                try await bench.refusal("AcquireWrite", [.properties([:])], at: BlueZBench.command)
                    == "NotPermitted: Write acquired")
            #expect(
                try await bench.refusal(
                    "WriteValue", [.bytes(Self.battery), Self.options("command")], at: BlueZBench.command)
                    == "NotPermitted: Write acquired")
            // What is too long for the MTU vanishes.
            socket.send([UInt8](repeating: 0, count: 21))
            socket.send(Self.battery)
            #expect(await bench.story(until: "service") == ["service000e/char000f Value \(Self.answer)"])
            #expect(bench.written == [Self.battery])
            socket.shutDown()
            #expect(await bench.story(until: "service") == ["service000e/char0012 WriteAcquired false"])
        }
    }

    @Test("BLZ-02 a record is cut at 512 bytes") func cutsLongRecords() async throws {
        var settings = BlueZBench.quickSettings
        settings.radio.mtu = 517
        try await BlueZBench.run(settings: settings) { bench in
            try await bench.connect()
            try await bench.call("StartNotify", at: BlueZBench.reply)
            _ = await bench.story(until: "service")
            let socket = try await acquire("AcquireWrite", at: BlueZBench.command, of: bench, mtu: 517)
            let record = (0..<600).map { UInt8(truncatingIfNeeded: $0) }
            socket.send(record)
            socket.send(Self.battery)
            _ = await bench.story(until: "service000e/char000f Value")
            #expect(bench.written == [Array(record.prefix(512)), Self.battery])
        }
    }

    @Test func handsNotificationsToTheOneOwnerOfASocket() async throws {
        try await BlueZBench.run { bench in
            try await bench.connect()
            let socket = try await acquire("AcquireNotify", at: BlueZBench.reply, of: bench, mtu: 23)
            #expect(await bench.story(until: "service") == ["service000e/char000f NotifyAcquired true"])
            #expect(
                try await bench.refusal("StartNotify", at: BlueZBench.reply) == "NotPermitted: Notify acquired")
            try await bench.call("WriteValue", [.bytes(Self.battery), Self.options("command")], at: BlueZBench.command)
            #expect(socket.receive() == Self.answer)
            bench.blueZ.loseLink(to: "C0:FF:EE:00:00:01")
            #expect(socket.receive() == [])
            #expect(
                await bench.story(until: "device Connected") == [
                    "service000e/char000f NotifyAcquired false", "device ServicesResolved false",
                    "device Connected false",
                ])
        }
    }

    private func acquire(
        _ member: String, at path: String, of bench: BlueZBench, mtu: UInt16
    ) async throws -> FileDescriptor {
        let answer = try await bench.call(member, [.properties([:])], at: path)
        guard answer.count == 2, case .fileDescriptor(let socket) = answer[0] else {
            throw DBusError(name: "test", message: "no descriptor in \(answer)")
        }
        #expect(answer[1] == .uint16(mtu))
        return socket
    }
}
