import DFUSimulator
import DFUTransport
import TestSupport
import Testing

/// Devices that are not as a client would like them.
@Suite(.timeLimit(.minutes(1))) struct BlueZOddDeviceTests {
    private static func run(
        settings: BlueZSettings = BlueZBench.quickSettings, _ change: (inout AdvertisedDevice) -> Void,
        _ body: (BlueZBench) async throws -> Void
    ) async throws {
        var device = AdvertisedDevice(Band(), name: "Band")
        change(&device)
        try await BlueZBench.run(devices: [device], settings: settings, body)
    }

    private static func property(_ name: String, on bench: BlueZBench) async throws -> DBusValue? {
        try await bench.property(name, of: "org.bluez.Device1", at: BlueZBench.device)
    }

    // MARK: What is heard

    @Test("CLI-10 a device that is only in the cache") func ghost() async throws {
        try await Self.run {
            $0.isKnown = true
            $0.isInRange = false
        } _: { bench in
            #expect(await bench.story(until: "+") == ["+ device"])
            #expect(try await Self.property("Name", on: bench) == .string("Band"))
            await bench.blueZ.setInRange(true, device: "C0:FF:EE:00:00:01")
            try await bench.call("StartDiscovery")
            #expect(await bench.story(until: "device RSSI") == ["hci0 Discovering true", "device RSSI -60"])
            try await bench.call("StopDiscovery")
            // It stays when it is not heard.
            #expect(await bench.story(until: "hci0 Discovering").last == "hci0 Discovering false")
            #expect(try await Self.property("RSSI", on: bench) == nil)
        }
    }

    @Test("CLI-10 a name that comes in a later report") func lateName() async throws {
        try await Self.run {
            $0.firstNamedReport = 3
        } _: { bench in
            try await bench.call("StartDiscovery")
            #expect(await bench.story(until: "+") == ["hci0 Discovering true", "+ device"])
            #expect(await bench.story(until: "device Name") == ["device Alias Band", "device Name Band"])
            await bench.blueZ.rename("C0:FF:EE:00:00:01", to: "DfuTarg")
            #expect(await bench.story(until: "device Name") == ["device Alias DfuTarg", "device Name DfuTarg"])
        }
    }

    @Test("BLZ-24 BlueZ goes on showing an old name") func keptName() async throws {
        try await Self.run {
            $0.name = "DfuTarg"
            $0.keptName = "Watch"
        } _: { bench in
            try await bench.discover()
            #expect(try await Self.property("Name", on: bench) == .string("Watch"))
            #expect(
                try await Self.property("AdvertisingData", on: bench)
                    == .dictionary(
                        [.byte(9): .variant(.bytes(Array("DfuTarg".utf8)))], key: .byte, value: .variant))
        }
    }

    @Test("BLZ-16 another program has connected to it") func connectedByAnotherProgram() async throws {
        try await Self.run {
            $0.isConnected = true
        } _: { bench in
            let story = await bench.story(until: "device ServicesResolved")
            #expect(story.prefix(2) == ["+ device", "device Connected true"])
            #expect(try await bench.refusal("Connect", at: BlueZBench.device) == nil)
            #expect(
                try await bench.refusal("ReadValue", [.properties([:])], at: BlueZBench.version) == nil)
            try await bench.call("Disconnect", at: BlueZBench.device)
            _ = await bench.story(until: "device Connected false")
            try await bench.call("StartDiscovery")
            #expect(await bench.story(until: "device RSSI").last == "device RSSI -60")
        }
    }

    @Test("CLI-09 a device that advertises and takes no connection") func isNotConnectable() async throws {
        var settings = BlueZBench.quickSettings
        settings.connectTimeout = .milliseconds(20)
        try await Self.run(settings: settings) {
            $0.isConnectable = false
        } _: { bench in
            try await bench.discover()
            for _ in 0..<2 {
                #expect(
                    try await bench.refusal("Connect", at: BlueZBench.device) == "Failed: le-connection-abort-by-local")
            }
        }
    }

    // MARK: Services

    @Test("BLZ-10 services are resolved before they are there") func lateObjects() async throws {
        try await Self.run {
            $0.objectsDelay = .milliseconds(10)
        } _: { bench in
            try await bench.discover()
            try await bench.call("Connect", at: BlueZBench.device)
            let story = await bench.story(until: "device UUIDs")
            #expect(story.prefix(3) == ["device Connected true", "device ServicesResolved true", "+ service000e"])
        }
    }

    @Test("BLZ-11 services are resolved late") func lateServices() async throws {
        try await Self.run {
            $0.discovery = .succeeds(after: .milliseconds(50))
        } _: { bench in
            try await bench.discover()
            let start = ContinuousClock.now
            try await bench.call("Connect", at: BlueZBench.device)
            _ = await bench.story(until: "device ServicesResolved true")
            #expect(ContinuousClock.now - start >= .milliseconds(50))
        }
    }

    @Test("BLZ-11 services are never resolved") func noServices() async throws {
        try await Self.run {
            $0.discovery = .hangs
        } _: { bench in
            try await bench.discover()
            try await bench.call("Connect", at: BlueZBench.device)
            try await bench.call("Disconnect", at: BlueZBench.device)
            #expect(
                await bench.story(until: "device Connected false")
                    == ["device Connected true", "device Connected false"])
        }
    }

    @Test("BLZ-11 the link is lost while services are resolved") func linkLostInDiscovery() async throws {
        try await Self.run {
            $0.discovery = .losesLink(times: 1)
        } _: { bench in
            try await bench.discover()
            try await bench.call("Connect", at: BlueZBench.device)
            #expect(
                await bench.story(until: "device Connected false")
                    == ["device Connected true", "device Connected false"])
            try await bench.call("Connect", at: BlueZBench.device)
            #expect(await bench.story(until: "device ServicesResolved").last == "device ServicesResolved true")
        }
    }

    @Test(
        "BLZ-09 the table of an earlier firmware stays until the device is removed, and longer where it has no name",
        arguments: ["Device", nil])
    func staleTable(name: String?) async throws {
        try await BlueZBench.run(devices: [AdvertisedDevice(TwoFaced(), name: name)]) { bench in
            func shown() async throws -> DBusValue? {
                try await bench.property("UUID", of: "org.bluez.GattCharacteristic1", at: TwoFaced.path)
            }
            try await bench.connect()
            #expect(try await shown() == .string(TwoFaced.application.description))
            for _ in 0..<2 {
                try await bench.call("Disconnect", at: BlueZBench.device)
                _ = await bench.story(until: "device Connected false")
                try await bench.call("Connect", at: BlueZBench.device)
                _ = await bench.story(until: "device ServicesResolved true")
                #expect(try await shown() == .string(TwoFaced.application.description))
            }
            try await bench.call(
                "RemoveDevice", [.objectPath(try #require(DBusObjectPath(BlueZBench.device)))])
            _ = await bench.story(until: "- device")
            try await bench.connect()
            let expected = name == nil ? TwoFaced.application : TwoFaced.bootloader
            #expect(try await shown() == .string(expected.description))
        }
    }

    // MARK: Sockets and writes

    @Test("BLZ-27 the socket for writing takes nothing for a while") func writeSocketPauses() async throws {
        var settings = BlueZBench.quickSettings
        settings.socketPauses = BlueZSettings.SocketPauses(after: 10, lasting: .milliseconds(20))
        try await Self.run(settings: settings) { _ in
        } _: { bench in
            try await bench.connect()
            let answer = try await bench.call("AcquireWrite", [.properties([:])], at: BlueZBench.command)
            guard case .fileDescriptor(let socket) = answer.first else { return #expect(Bool(false), "no socket") }
            let records = (UInt8(0)..<60).map { [$0] }
            var refusals = 0
            for record in records {
                while !socket.trySend(record) {
                    refusals += 1
                    socket.waitUntilWritable()
                }
            }
            #expect((1...20).contains(refusals))
            // What is behind the last one has been sent when the answer is there.
            while try await bench.call("ReadValue", [.properties([:])], at: BlueZBench.version).isEmpty
                || bench.written.count < records.count
            {}
            #expect(bench.written == records)
        }
    }

    @Test("BLZ-02 a socket that tells of an MTU of 527") func largeMTU() async throws {
        var settings = BlueZBench.quickSettings
        settings.radio.mtu = 517
        settings.toldMTU = 527
        try await Self.run(settings: settings) { _ in
        } _: { bench in
            try await bench.connect()
            let answer = try await bench.call("AcquireWrite", [.properties([:])], at: BlueZBench.command)
            guard case .fileDescriptor(let socket) = answer.first else { return #expect(Bool(false), "no socket") }
            #expect(answer.last == .uint16(527))
            let record = (0..<524).map { UInt8(truncatingIfNeeded: $0) }
            socket.send(record)
            while bench.written.isEmpty {
                try await bench.call("ReadValue", [.properties([:])], at: BlueZBench.version)
            }
            #expect(bench.written == [Array(record.prefix(512))])
        }
    }

    @Test func aDeviceHasARadioOfItsOwn() async throws {
        try await Self.run {
            $0.radio = BlueZBench.quickSettings.radio
            $0.radio?.mtu = 185
        } _: { bench in
            try await bench.connect()
            let answer = try await bench.call("AcquireWrite", [.properties([:])], at: BlueZBench.command)
            #expect(answer.last == .uint16(185))
            #expect(
                try await bench.property("MTU", of: "org.bluez.GattCharacteristic1", at: BlueZBench.command)
                    == .uint16(185))
        }
    }

    @Test("BLZ-26 BlueZ 5.50 writes as the characteristic wants") func ignoresTheTypeOfAWrite() async throws {
        var settings = BlueZSettings.bluez550
        settings.radio = BlueZBench.quickSettings.radio
        // So that the write is there before the end of the link.
        settings.radio.supervisionTimeout = .seconds(1)
        var band = Band()
        band.settings.commandProperties = [.write, .writeWithoutResponse]
        try await BlueZBench.run(devices: [AdvertisedDevice(band)], settings: settings) { bench in
            try await bench.connect()
            // Nothing is answered any more: a command would be done with at once.
            bench.blueZ.loseLink(to: "C0:FF:EE:00:00:01")
            let body = [DBusValue.bytes([1]), .properties(["type": .string("command")])]
            #expect(
                try await bench.refusal("WriteValue", body, at: BlueZBench.command)
                    == "Failed: Operation failed with ATT error: 0x0e")
            #expect(try await bench.property("MTU", of: "org.bluez.GattCharacteristic1", at: BlueZBench.command) == nil)
        }
    }
}

/// A device whose bootloader has a table of the same shape as its application, with another characteristic in it.
private struct TwoFaced: SimulatedDevice {
    static let application = BluetoothUUID(short: 0xAAAA)
    static let bootloader = BluetoothUUID(short: 0xBBBB)
    static let path = BlueZBench.device + "/service000e/char000f"

    let address = "C0:FF:EE:00:00:01"
    private var connections = 0

    var services: [GATTService] {
        let uuid = connections < 2 ? Self.application : Self.bootloader
        return [
            GATTService(
                uuid: BluetoothUUID(short: 0xFE59),
                characteristics: [GATTCharacteristic(uuid: uuid, properties: [.write])])
        ]
    }

    mutating func connected() { connections += 1 }
    mutating func disconnected() {}
    mutating func written(_ bytes: [UInt8], to characteristic: BluetoothUUID) -> [DeviceAction] { [] }
    func read(_ characteristic: BluetoothUUID) -> [UInt8]? { nil }
    mutating func rebooted() {}
}
