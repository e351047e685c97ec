import DFUSimulator
import DFUTransport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct BlueZTroubleTests {
    @Test("BLZ-06, BLZ-15, BLZ-18 a method fails as often as it is told to") func failsMethods() async throws {
        try await BlueZBench.run { bench in
            let busy = DBusError(name: "org.bluez.Error.InProgress", message: "Operation already in progress")
            await bench.blueZ.fail("StartDiscovery", times: 2, with: busy)
            let denied = DBusError(name: "org.freedesktop.DBus.Error.AccessDenied", message: "Rejected send message")
            await bench.blueZ.fail("GetManagedObjects", times: .max, with: denied)
            let first = try await bench.refusal("StartDiscovery")
            let second = try await bench.refusal("StartDiscovery")
            let third = try await bench.refusal("StartDiscovery")
            #expect([first, second, third] == Array(repeating: "InProgress: " + busy.message, count: 2) + [nil])
            let objects = try await bench.refusal("GetManagedObjects", at: "/")
            let again = try await bench.refusal("GetManagedObjects", at: "/")
            #expect([objects, again] == Array(repeating: "AccessDenied: " + denied.message, count: 2))
        }
    }

    @Test("CLI-09 a method is never answered") func ignoresCalls() async throws {
        try await BlueZBench.run { bench in
            try await bench.discover()
            await bench.blueZ.ignore("Disconnect")
            let path = try #require(DBusObjectPath(BlueZBench.device))
            let call = DBusMessage.call("Disconnect", of: nil, at: path, destination: SimulatedBlueZ.name)
            // The answer to the next call comes first, in the order of the calls.
            try await bench.client.send(call)
            #expect(try await bench.refusal("Disconnect", at: BlueZBench.device) == nil)
            await #expect(throws: DBusError.self) { try await bench.client.call(call, timeout: .zero) }
        }
    }

    @Test("BLZ-06 another program discovers") func discoversForAnotherProgram() async throws {
        try await BlueZBench.run { bench in
            await bench.blueZ.discoverForAnotherProgram(on: "hci0")
            #expect(await bench.story(until: "+") == ["hci0 Discovering true", "+ device"])
            try await bench.call("StartDiscovery")
            try await bench.call("StopDiscovery")
            // It goes on.
            #expect(
                try await bench.property("Discovering", of: "org.bluez.Adapter1", at: BlueZBench.adapter)
                    == .boolean(true))
        }
    }

    @Test("BLZ-17 an adapter that rfkill blocks cannot be switched on") func blocksAnAdapter() async throws {
        var settings = BlueZBench.quickSettings
        settings.hasPowerState = true
        var adapter = SimulatedAdapter(isPowered: false)
        adapter.isBlocked = true
        try await BlueZBench.run(adapters: [adapter], settings: settings) { bench async throws in
            func state() async throws -> DBusValue? {
                try await bench.property("PowerState", of: "org.bluez.Adapter1", at: BlueZBench.adapter)
            }
            func switchOn() async throws -> String? {
                try await bench.refusal(
                    "Set", [.string("org.bluez.Adapter1"), .string("Powered"), .variant(.boolean(true))],
                    of: "org.freedesktop.DBus.Properties")
            }
            #expect(try await state() == .string("off-blocked"))
            #expect(try await switchOn() == "Blocked: Blocked through rfkill")
            await bench.blueZ.setBlocked(false, adapter: "hci0")
            #expect(await bench.story(until: "hci0") == ["hci0 PowerState off"])
            #expect(try await switchOn() == nil)
            #expect(await bench.story(until: "hci0") == ["hci0 PowerState on", "hci0 Powered true"])
            await bench.blueZ.setBlocked(true, adapter: "hci0")
            _ = await bench.story(until: "hci0 PowerState off-blocked")
            #expect(try await state() == .string("off-blocked"))
        }
    }

    @Test func anAdapterHasRoles() async throws {
        var adapter = SimulatedAdapter()
        adapter.roles = ["peripheral"]
        try await BlueZBench.run(adapters: [adapter]) { bench async throws in
            #expect(
                try await bench.property("Roles", of: "org.bluez.Adapter1", at: BlueZBench.adapter)
                    == .array([.string("peripheral")], of: .string))
        }
    }

    @Test("BLZ-22 a daemon that dies leaves no call without an answer") func answersInTheBusesName() async throws {
        var device = AdvertisedDevice(Band(), name: "Band")
        device.isConnectable = false
        try await BlueZBench.run(devices: [device]) { bench in
            try await bench.discover()
            try await withThrowingTaskGroup { group in
                for _ in 0..<2 { group.addTask { try await bench.refusal("Connect", at: BlueZBench.device) } }
                let first = try await group.next()
                #expect(first == "Failed: Operation already in progress")
                await bench.blueZ.stop()
                let second = try await group.next()
                #expect(second??.hasPrefix("NoReply") == true)
            }
        }
    }

    @Test("BLZ-03 first connects are aborted") func abortsConnects() async throws {
        try await BlueZBench.run { bench in
            try await bench.discover()
            await bench.blueZ.failConnects(with: "le-connection-abort-by-local", shown: .milliseconds(10))
            await bench.blueZ.failConnects(with: "Software caused connection abort")
            #expect(
                try await bench.refusal("Connect", at: BlueZBench.device) == "Failed: le-connection-abort-by-local")
            #expect(
                await bench.story(until: "device Connected false")
                    == ["device Connected true", "device Connected false"])
            #expect(
                try await bench.refusal("Connect", at: BlueZBench.device)
                    == "Failed: Software caused connection abort")
            #expect(try await bench.refusal("Connect", at: BlueZBench.device) == nil)
        }
    }

    @Test("BLZ-22 an adapter is pulled out and another one plugged in") func unplugsAnAdapter() async throws {
        try await BlueZBench.run { bench in
            try await bench.connect()
            await bench.blueZ.unplug("hci0")
            #expect(await bench.story(until: "-") == ["- hci0"])
            #expect(
                try await bench.refusal("Connect", of: "org.bluez.Device1", at: BlueZBench.device)?
                    .hasPrefix("UnknownObject") == true)
            await bench.blueZ.plugIn(SimulatedAdapter("hci1"))
            #expect(await bench.story(until: "+") == ["+ hci1"])
            try await bench.call("StartDiscovery", at: "/org/bluez/hci1")
            #expect(
                await bench.story(until: "+") == ["hci1 Discovering true", "+ hci1/dev_C0_FF_EE_00_00_01"])
        }
    }

    @Test("BLZ-22 the daemon leaves the bus and comes back without the devices") func restarts() async throws {
        try await BlueZBench.run { bench in
            try await bench.connect()
            await bench.blueZ.stop()
            #expect(try await bench.refusal("StartDiscovery")?.hasPrefix("ServiceUnknown") == true)
            try await bench.blueZ.start()
            #expect(await bench.story(until: "+ hci0") == ["+ /org/bluez", "+ hci0"])
            try await bench.connect()
        }
    }

    @Test func endsConnectionsWhenItIsSwitchedOff() async throws {
        try await BlueZBench.run { bench in
            try await bench.connect()
            await bench.blueZ.setPowered(false, adapter: "hci0")
            #expect(
                await bench.story(until: "hci0 Powered") == [
                    "device ServicesResolved false", "device Connected false", "hci0 Powered false",
                ])
            #expect(try await bench.refusal("Connect", at: BlueZBench.device) == "Failed: Input/output error")
        }
    }

    /// A delay of nil: the property is not there at all.
    @Test(
        "BLZ-01 MTU is 23 at first, or not there",
        arguments: [(Duration.seconds(1000), UInt16(23)), (.zero, 247), (nil, nil)] as [(Duration?, UInt16?)])
    func tellsTheMTULate(delay: Duration?, expected: UInt16?) async throws {
        var settings = BlueZBench.quickSettings
        settings.radio.mtu = 247
        settings.mtuDelay = delay
        settings.hasMTU = delay != nil
        try await BlueZBench.run(settings: settings) { bench in
            try await bench.connect()
            // With this answer the time of the shortest delay is over.
            let answer = try await bench.call("AcquireWrite", [.properties([:])], at: BlueZBench.command)
            #expect(answer.last == .uint16(247))
            let value = try await bench.property(
                "MTU", of: "org.bluez.GattCharacteristic1", at: BlueZBench.command)
            #expect(value == expected.map(DBusValue.uint16))
        }
    }
}
