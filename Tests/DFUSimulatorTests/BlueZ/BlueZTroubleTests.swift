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
            #expect(await bench.story(until: "+") == ["+ hci0"])
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
            #expect(try await bench.refusal("Connect", at: BlueZBench.device) == "NotReady: Resource Not Ready")
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
