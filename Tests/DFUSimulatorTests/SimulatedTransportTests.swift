import DFUProtocol
import DFUTransport
import Testing

@testable import DFUSimulator

/// Does what the first byte of a write says; echoes what it does not know.
private struct TestDevice: SimulatedDevice {
    static let service = BluetoothUUID(short: 0xFEE0)
    static let reply = BluetoothUUID(short: 0xFF01)
    static let command = BluetoothUUID(short: 0xFF02)
    static let version = BluetoothUUID(short: 0x2A26)
    static let writeOnly = BluetoothUUID(short: 0xFF03)

    var address = "C0:00:00:00:00:01"
    var reactions: [UInt8: [DeviceAction]] = [:]
    var mostPacketsInEvent = Int.max
    var history: [String] = []

    var services: [GATTService] {
        [
            GATTService(
                uuid: Self.service,
                characteristics: [
                    GATTCharacteristic(uuid: Self.reply, properties: .notify),
                    GATTCharacteristic(uuid: Self.command, properties: [.write, .writeWithoutResponse]),
                    GATTCharacteristic(uuid: Self.version, properties: .read),
                    GATTCharacteristic(uuid: Self.writeOnly, properties: .read),
                ])
        ]
    }

    mutating func connected() { history.append("connected") }
    mutating func disconnected() { history.append("disconnected") }
    mutating func rebooted() { history.append("rebooted") }

    mutating func received(packets: Int) -> [DeviceAction] {
        packets > mostPacketsInEvent ? [.disconnect(after: .zero)] : []
    }

    mutating func written(_ bytes: [UInt8], to characteristic: BluetoothUUID) -> [DeviceAction] {
        history.append("\(bytes[0])")
        return reactions[bytes[0]] ?? [.notify(bytes, from: Self.reply, after: .zero)]
    }

    mutating func woken(_ token: Int) -> [DeviceAction] {
        history.append("woken \(token)")
        return [.notify([UInt8(token)], from: Self.reply, after: .zero)]
    }

    func read(_ characteristic: BluetoothUUID) -> [UInt8]? {
        characteristic == Self.version ? Array("1.2.3".utf8) : nil
    }
}

@Suite struct SimulatedTransportTests {
    private let world = VirtualTime()
    private let events = Locked<[SimulatedEvent]>([])
    private let address = TestDevice().address

    private func transport(_ device: TestDevice = TestDevice(), radio: RadioModel = .bluetooth40) -> SimulatedTransport
    {
        SimulatedTransport([device], radio: radio, time: .virtual(world)) { event, _ in
            events.withLock { $0.append(event) }
        }
    }

    private func bindings(_ use: EndpointBinding.Use = .writeWithoutResponse) -> [Endpoint: EndpointBinding] {
        [
            .reply: EndpointBinding(service: TestDevice.service, characteristic: TestDevice.reply, use: .notify),
            .command: EndpointBinding(service: TestDevice.service, characteristic: TestDevice.command, use: use),
        ]
    }

    private func history(_ transport: SimulatedTransport) -> [String]? {
        (transport.device(address) as? TestDevice)?.history
    }

    /// What a link hears, and when.
    private struct Ear {
        let heard = Locked<[LinkEvent]>([])

        init(_ link: any Link) {
            let heard = heard
            link.setReceiver { event in heard.withLock { $0.append(event) } }
        }

        var all: [LinkEvent] { heard.withLock { $0 } }
    }

    /// The number of the connection event, counted from the connection at 0, in which something happened.
    private func eventNumber(_ kind: SimulatedEvent.Kind) -> Int? {
        events.withLock { $0.first { $0.kind == kind } }
            .map { Int($0.time / RadioModel.bluetooth40.interval) }
    }

    @Test func anAnswerComesInTheNextConnectionEvent() async throws {
        let transport = transport()
        try await world.run {
            let link = try await transport.connect(to: address, timeout: .seconds(10)).openLink(bindings())
            let ear = Ear(link)
            try await link.write([1, 2], to: .command)
            try await link.write([3], to: .command)
            try await world.sleep(for: .seconds(1))
            #expect(ear.all == [.notification([1, 2], from: .reply), .notification([3], from: .reply)])
        }
        let asked = try #require(eventNumber(.written([1, 2], to: TestDevice.command)))
        #expect(eventNumber(.written([3], to: TestDevice.command)) == asked)
        #expect(eventNumber(.notified([1, 2], from: TestDevice.reply)) == asked + 1)
        #expect(eventNumber(.notified([3], from: TestDevice.reply)) == asked + 1)
        #expect(history(transport) == ["connected", "1", "3"])
    }

    @Test func aRequestTakesTwoConnectionEvents() async throws {
        let interval = RadioModel.bluetooth40.interval
        let transport = transport()
        try await world.run {
            // MTU, services, characteristics; then the subscription.
            let peripheral = try await transport.connect(to: address, timeout: .seconds(10))
            #expect(Int(world.now.sinceStart / interval) == 3 * 2)
            let link = try await peripheral.openLink(bindings(.write))
            #expect(Int(world.now.sinceStart / interval) == 4 * 2)
            try await link.write([1], to: .command)
            #expect(Int(world.now.sinceStart / interval) == 5 * 2)
            #expect(try await peripheral.read(TestDevice.version, of: TestDevice.service) == Array("1.2.3".utf8))
            #expect(Int(world.now.sinceStart / interval) == 6 * 2)
        }
        #expect(history(transport) == ["connected", "1"])
    }

    @Test func commandsAreQueuedWithoutBackPressure() async throws {
        let transport = transport()
        try await world.run {
            let link = try await transport.connect(to: address, timeout: .seconds(10)).openLink(bindings())
            let start = world.now
            for _ in 0..<1100 { try await link.write([UInt8](repeating: 9, count: 20), to: .command) }
            #expect(world.now == start)
            try await world.sleep(for: .seconds(10))
        }
        let writes = events.withLock { $0 }.filter {
            if case .written = $0.kind { true } else { false }
        }
        let (first, last) = (try #require(writes.first), try #require(writes.last))
        #expect(writes.count == 1100)
        // The echoes share the exchanges, so 8 packets of 20 bytes go each way in an event.
        #expect((last.time - first.time) / RadioModel.bluetooth40.interval > 1100 / 11 - 1)
        #expect((last.time - first.time) / RadioModel.bluetooth40.interval < 1100 / 8)
    }

    @Test func aLinkLossTakesWhatIsQueued() async throws {
        let transport = transport(TestDevice(reactions: [5: []]))
        try await world.run {
            let link = try await transport.connect(to: address, timeout: .seconds(10)).openLink(bindings())
            let ear = Ear(link)
            for _ in 0..<100 { try await link.write([UInt8](repeating: 5, count: 20), to: .command) }
            // Two connection events have passed, and the third is under way.
            try await world.sleep(for: RadioModel.bluetooth40.interval * 3)
            transport.loseLink(to: address)
            let lost = world.now
            try await link.write([6], to: .command)
            #expect(ear.all == [])
            let peripheral = try await transport.connect(to: address, timeout: .seconds(10))
            #expect(world.now >= lost.advanced(by: .milliseconds(420)))
            #expect(ear.all == [.disconnected])
            await #expect(throws: TransportError.connectionLost) { try await link.write([7], to: .command) }
            await peripheral.disconnect()
        }
        #expect(
            history(transport) == ["connected"] + [String](repeating: "5", count: 22)
                + ["disconnected", "connected", "disconnected"])
    }

    @Test func aRequestEndsWithTheLink() async throws {
        let transport = transport()
        try await world.run {
            let link = try await transport.connect(to: address, timeout: .seconds(10)).openLink(bindings(.write))
            transport.loseLink(to: address)
            await #expect(throws: TransportError.connectionLost) { try await link.write([7], to: .command) }
        }
        #expect(history(transport) == ["connected", "disconnected"])
    }

    @Test func aHostMayDieAndAnotherComeWithTheSameDevice() async throws {
        let transport = transport()
        let device: any SimulatedDevice = try await world.run {
            let link = try await transport.connect(to: address, timeout: .seconds(10)).openLink(bindings())
            try await link.write([1], to: .command)
            try await world.sleep(for: .seconds(1))
            try await link.write([2], to: .command)
            transport.loseLink(to: address)
            try await world.sleep(for: .seconds(1))
            return try #require(transport.device(address))
        }
        let second = SimulatedTransport([device], time: .virtual(world))
        try await world.run {
            let link = try await second.connect(to: address, timeout: .seconds(10)).openLink(bindings())
            try await link.write([3], to: .command)
            try await world.sleep(for: .seconds(1))
        }
        #expect(history(second) == ["connected", "1", "disconnected", "connected", "3"])
    }

    @Test func aDeviceMayDropTheLink() async throws {
        let reactions: [UInt8: [DeviceAction]] = [
            4: [.notify([1], from: TestDevice.reply, after: .zero), .disconnect(after: .milliseconds(200))]
        ]
        let transport = transport(TestDevice(reactions: reactions))
        try await world.run {
            let link = try await transport.connect(to: address, timeout: .seconds(10)).openLink(bindings())
            let ear = Ear(link)
            try await link.write([4], to: .command)
            try await world.sleep(for: .milliseconds(190))
            #expect(ear.all == [.notification([1], from: .reply)])
            try await world.sleep(for: .milliseconds(30))
            #expect(ear.all == [.notification([1], from: .reply), .disconnected])
        }
        #expect(history(transport) == ["connected", "4", "disconnected"])
    }

    @Test func aRebootingDeviceIsWaitedFor() async throws {
        let transport = transport(
            TestDevice(reactions: [8: [.reboot(after: .milliseconds(100), offAir: .seconds(3))]]))
        try await world.run {
            let link = try await transport.connect(to: address, timeout: .seconds(10)).openLink(bindings())
            let ear = Ear(link)
            try await link.write([8], to: .command)
            try await world.sleep(for: .seconds(1))
            #expect(ear.all == [.disconnected])
            let start = world.now
            let error = TransportError(.notFound, message: "The device was not heard in 1.0 seconds.")
            await #expect(throws: error) { try await transport.connect(to: address, timeout: .seconds(1)) }
            #expect(world.now == start.advanced(by: .seconds(1)))
            let peripheral = try await transport.connect(to: address, timeout: .seconds(10))
            await peripheral.disconnect()
            await peripheral.disconnect()
        }
        #expect(history(transport) == ["connected", "8", "disconnected", "rebooted", "connected", "disconnected"])
        #expect(
            events.withLock { $0.map(\.kind) } == [
                .connected, .written([8], to: TestDevice.command), .wentDown, .disconnected, .rebooted, .connected,
                .disconnected,
            ])
    }

    @Test func aDeviceThatIsDownDoesNotGoDownAgain() async throws {
        let reactions: [UInt8: [DeviceAction]] = [
            8: [.reboot(after: .zero, offAir: .seconds(3)), .reboot(after: .seconds(2), offAir: .seconds(3))]
        ]
        let transport = transport(TestDevice(reactions: reactions))
        try await world.run {
            let link = try await transport.connect(to: address, timeout: .seconds(10)).openLink(bindings())
            try await link.write([8], to: .command)
            try await world.sleep(for: .seconds(20))
        }
        #expect(history(transport) == ["connected", "8", "disconnected", "rebooted"])
    }

    @Test func aSleepingDeviceIsWoken() async throws {
        let transport = transport(TestDevice(reactions: [7: [.wake(token: 3, after: .seconds(2))]]))
        try await world.run {
            let peripheral = try await transport.connect(to: address, timeout: .seconds(10))
            let link = try await peripheral.openLink(bindings())
            let ear = Ear(link)
            try await link.write([7], to: .command)
            try await world.sleep(for: .seconds(1))
            #expect(ear.all == [])
            try await world.sleep(for: .seconds(2))
            #expect(ear.all == [.notification([3], from: .reply)])
            try await link.write([7], to: .command)
            try await world.sleep(for: .seconds(1))
            await peripheral.disconnect()
            try await world.sleep(for: .seconds(5))
        }
        #expect(history(transport) == ["connected", "7", "woken 3", "7", "disconnected", "woken 3"])
    }

    @Test func aDeviceTakesOneHostAtATime() async throws {
        let transport = transport()
        try await world.run {
            let first = try await transport.connect(to: address, timeout: .seconds(10))
            async let second = transport.connect(to: address, timeout: .seconds(10))
            try await world.sleep(for: .seconds(5))
            await first.disconnect()
            await (try second).disconnect()
            #expect(world.now.sinceStart > .seconds(5))
        }
        #expect(history(transport) == ["connected", "disconnected", "connected", "disconnected"])
    }

    @Test func anUnknownAddressIsNotFound() async throws {
        let transport = transport()
        await world.run {
            let error = TransportError(.notFound, message: "The device was not heard in 30.0 seconds.")
            await #expect(throws: error) {
                try await transport.connect(to: "C0:00:00:00:00:02", timeout: .seconds(30))
            }
        }
        #expect(world.now.sinceStart == .seconds(30))
    }

    @Test func waitingForADeviceCanBeCancelled() async throws {
        let transport = transport()
        try await world.run {
            let task = Task(executorPreference: world) {
                _ = try await transport.connect(to: "C0:00:00:00:00:02", timeout: .seconds(30))
            }
            try await world.sleep(for: .seconds(2))
            task.cancel()
            let error = TransportError(.cancelled, message: "Connecting was stopped.")
            await #expect(throws: error) { try await task.value }
        }
        #expect(world.now.sinceStart == .seconds(2))
    }

    @Test(arguments: [
        (BluetoothUUID(short: 0x1800), TestDevice.command, EndpointBinding.Use.write),
        (TestDevice.service, BluetoothUUID(short: 0xFF09), .write),
        (TestDevice.service, TestDevice.reply, .write),
        (TestDevice.service, TestDevice.reply, .writeWithoutResponse),
        (TestDevice.service, TestDevice.command, .notify),
    ])
    func whatIsNotThereIsMissing(
        _ service: BluetoothUUID, _ characteristic: BluetoothUUID, _ use: EndpointBinding.Use
    ) async throws {
        let transport = transport()
        try await world.run {
            let peripheral = try await transport.connect(to: address, timeout: .seconds(10))
            let binding = EndpointBinding(service: service, characteristic: characteristic, use: use)
            let error = await #expect(throws: TransportError.self) {
                _ = try await peripheral.openLink([.command: binding])
            }
            #expect(error?.code == .missing)
        }
    }

    @Test func whatCannotBeReadHasAnErrorCode() async throws {
        let transport = transport()
        try await world.run {
            let peripheral = try await transport.connect(to: address, timeout: .seconds(10))
            await #expect(throws: TransportError.refused(.readNotPermitted)) {
                try await peripheral.read(TestDevice.writeOnly, of: TestDevice.service)
            }
            let error = await #expect(throws: TransportError.self) {
                try await peripheral.read(TestDevice.command, of: TestDevice.service)
            }
            #expect(error?.code == .missing)
        }
    }

    @Test("BLK-08 a device may drop the link when too many packets come in one event", arguments: [8, 9])
    func tooManyPackets(_ packetsPerEvent: Int) async throws {
        let transport = transport(
            TestDevice(reactions: [1: []], mostPacketsInEvent: 8), radio: RadioModel(packetsPerEvent: packetsPerEvent))
        try await world.run {
            let link = try await transport.connect(to: address, timeout: .seconds(10)).openLink(bindings())
            for _ in 0..<16 { try await link.write([1], to: .command) }
            try await world.sleep(for: .seconds(1))
        }
        #expect(
            history(transport)
                == (packetsPerEvent == 8
                    ? ["connected"] + [String](repeating: "1", count: 16) : ["connected", "disconnected"]))
    }

    @Test func realTimeWorksToo() async throws {
        let transport = SimulatedTransport([TestDevice()])
        // A busy machine may take its time.
        let link = try await transport.connect(to: address, timeout: .seconds(3600)).openLink(bindings())
        let (stream, continuation) = AsyncStream.makeStream(of: LinkEvent.self)
        link.setReceiver { continuation.yield($0) }
        try await link.write([1], to: .command)
        var answers = stream.makeAsyncIterator()
        #expect(await answers.next() == .notification([1], from: .reply))
    }
}
