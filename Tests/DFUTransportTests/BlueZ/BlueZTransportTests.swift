import DFUProtocol
import DFUTransport
import TestSupport
import Testing

/// The transport against an `org.bluez` that says each word at the moment that the test wants.
@Suite(.timeLimit(.minutes(1))) struct BlueZTransportTests {
    private static let service = ScriptedBlueZ.band + "/service000e"
    private static let reply = service + "/char000f"
    private static let command = service + "/char0012"
    private static var objects: [String: BlueZSample.Interfaces] {
        ScriptedBlueZ.objects.merging([
            service: BlueZSample.service("fee0", of: ScriptedBlueZ.band),
            reply: BlueZSample.characteristic("ff01", of: service, flags: ["notify"]),
            command: BlueZSample.characteristic("ff02", of: service, flags: ["write"]),
        ]) { $1 }
    }

    private static func binding(_ uuid: UInt32, _ use: EndpointBinding.Use) -> EndpointBinding {
        EndpointBinding(
            service: BluetoothUUID(short: 0xFEE0), characteristic: BluetoothUUID(short: uuid), use: use)
    }

    /// Opens a transport and connects.
    private static func connect(_ limits: BlueZLimits = BlueZLimits()) async throws -> any Peripheral {
        var options = BlueZTransport.Options()
        options.busAddress = try #require(PrivateBus.current).address
        options.limits = limits
        options.limits.settling = .milliseconds(50)
        return try await BlueZTransport(options).connect(to: "C0:11:22:33:44:50", timeout: .seconds(30))
    }

    /// A connection, made without trouble.
    private static func connection(
        by bluez: ScriptedBlueZ, _ limits: BlueZLimits = BlueZLimits()
    ) async throws -> any Peripheral {
        async let peripheral = connect(limits)
        try await bluez.answer("GetManagedObjects", BlueZSample.managed(objects))
        let call = try await bluez.call("Connect")
        try await bluez.tell(
            ScriptedBlueZ.band, BlueZInterface.device,
            ["Connected": .boolean(true), "ServicesResolved": .boolean(true)])
        try await bluez.connection.answer(call)
        return try await peripheral
    }

    @Test("BLZ-03 a connection that comes about all the same is used", .privateBus) func usesAConnection() async throws
    {
        let bluez = try await ScriptedBlueZ()
        async let connected = Self.connect()
        try await bluez.answer("GetManagedObjects", BlueZSample.managed(Self.objects))
        let call = try await bluez.call("Connect")
        try await bluez.tell(ScriptedBlueZ.band, BlueZInterface.device, ["Connected": .boolean(true)])
        try await bluez.connection.answer(
            call, with: DBusError(name: "org.bluez.Error.Failed", message: "le-connection-abort-by-local"))
        try await bluez.tell(ScriptedBlueZ.band, BlueZInterface.device, ["ServicesResolved": .boolean(true)])
        let peripheral = try await connected
        // The next call is no second Connect.
        async let end: Void = peripheral.disconnect()
        let disconnect = try await bluez.call("Disconnect")
        try await bluez.tell(ScriptedBlueZ.band, BlueZInterface.device, ["Connected": .boolean(false)])
        try await bluez.connection.answer(disconnect)
        await end
    }

    @Test(.privateBus) func aScanPausesWhileAConnectionIsMade() async throws {
        let bluez = try await ScriptedBlueZ()
        var options = BlueZTransport.Options()
        options.busAddress = try #require(PrivateBus.current).address
        async let opened = BlueZTransport(options)
        try await bluez.answer("GetManagedObjects", BlueZSample.managed(Self.objects))
        let transport = try await opened
        let scan = Task { try await transport.scan(for: .seconds(60)) }
        try await bluez.answer("SetDiscoveryFilter", [])
        try await bluez.answer("StartDiscovery", [])
        async let connected = transport.connect(to: "C0:11:22:33:44:50", timeout: .seconds(30))
        try await bluez.answer("StopDiscovery", [])
        let call = try await bluez.call("Connect")
        try await bluez.tell(
            ScriptedBlueZ.band, BlueZInterface.device,
            ["Connected": .boolean(true), "ServicesResolved": .boolean(true)])
        try await bluez.connection.answer(call)
        try await bluez.answer("SetDiscoveryFilter", [])
        try await bluez.answer("StartDiscovery", [])
        _ = try await connected
        scan.cancel()
        try await bluez.answer("StopDiscovery", [])
        await #expect(throws: TransportError(.cancelled, during: .look)) { try await scan.value }
    }

    @Test(.privateBus) func anObjectThatBlueZForgetsEachTimeIsGivenUp() async throws {
        let bluez = try await ScriptedBlueZ()
        let connected = Task { try await Self.connect() }
        try await bluez.answer("GetManagedObjects", BlueZSample.managed(Self.objects))
        let gone = DBusError(name: "org.freedesktop.DBus.Error.UnknownObject", message: "it does not exist")
        for _ in 1...3 { try await bluez.connection.answer(bluez.call("Connect"), with: gone) }
        let failure = TransportError(.connectFailed, message: "BlueZ forgot it 3 times before it was connected")
        await #expect(throws: failure) { try await connected.value }
    }

    @Test("BLZ-21 other devices that leave the bus end no connect", .privateBus) func othersLeave() async throws {
        let bluez = try await ScriptedBlueZ()
        async let connected = Self.connect()
        try await bluez.answer("GetManagedObjects", BlueZSample.managed(Self.objects))
        let call = try await bluez.call("Connect")
        for number in 1...5 {
            let other = ScriptedBlueZ.adapter + "/dev_C0_11_22_33_44_5\(number)"
            try await bluez.connection.send(BlueZSample.removed(other, [BlueZInterface.device]))
        }
        try await bluez.tell(ScriptedBlueZ.band, BlueZInterface.device, ["Connected": .boolean(true)])
        try await bluez.connection.answer(call)
        try await bluez.tell(ScriptedBlueZ.band, BlueZInterface.device, ["ServicesResolved": .boolean(true)])
        let peripheral = try await connected
        #expect(peripheral.address == "C0:11:22:33:44:50")
        // As long as it is held, it has its name.
        withExtendedLifetime(bluez) {}
    }

    @Test("BLZ-22 an adapter that is pulled out ends a connect that is never answered", .privateBus)
    func losesTheAdapter() async throws {
        let bluez = try await ScriptedBlueZ()
        let connecting = Task { try await Self.connect() }
        try await bluez.answer("GetManagedObjects", BlueZSample.managed(Self.objects))
        _ = try await bluez.call("Connect")
        try await bluez.connection.send(BlueZSample.removed(ScriptedBlueZ.adapter, [BlueZInterface.adapter]))
        await #expect(
            throws: TransportError(.environment, message: "the adapter hci0 disappeared; plug it in again")
        ) {
            _ = try await connecting.value
        }
        // As long as it is held, it has its name.
        withExtendedLifetime(bluez) {}
    }

    @Test("BLZ-12 what is notified before the subscription is answered is heard", .privateBus)
    func earlySignal() async throws {
        let bluez = try await ScriptedBlueZ()
        let peripheral = try await Self.connection(by: bluez)
        async let opened = peripheral.openLink([.reply: Self.binding(0xFF01, .notify)])
        let call = try await bluez.call("StartNotify")
        try await bluez.tell(Self.reply, BlueZInterface.characteristic, ["Value": .bytes([0x56, 1])])
        try await bluez.connection.answer(call)
        let link = try await opened
        #expect(await Self.firstEvent(of: link) == .notification([0x56, 1], from: .reply))
    }

    @Test("BLZ-13 an answer that comes before the write's is heard before it returns", .privateBus)
    func earlyAnswer() async throws {
        let bluez = try await ScriptedBlueZ()
        let peripheral = try await Self.connection(by: bluez)
        async let opened = peripheral.openLink([
            .command: Self.binding(0xFF02, .write), .reply: Self.binding(0xFF01, .notify),
        ])
        try await bluez.answer("StartNotify", [])
        let link = try await opened
        let heard = Locked<[LinkEvent]>([])
        link.setReceiver { event in heard.withLock { $0.append(event) } }
        async let written: Void = link.write([0x1B, 1], to: .command)
        let call = try await bluez.call("WriteValue")
        try await bluez.tell(Self.reply, BlueZInterface.characteristic, ["Value": .bytes([0x56, 1])])
        try await bluez.connection.answer(call)
        try await written
        #expect(heard.withLock { $0 } == [.notification([0x56, 1], from: .reply)])
        // As long as it is held, it has its name.
        withExtendedLifetime(bluez) {}
    }

    // MARK: What becomes of requests

    private static let unlikely = DBusError(
        name: "org.bluez.Error.Failed", message: "Operation failed with ATT error: 0x0e")

    /// What a write becomes that BlueZ answers with its word for all that is not answered.
    private static func failure(_ limits: BlueZLimits, isOver: Bool = false) async throws -> TransportError? {
        let bluez = try await ScriptedBlueZ()
        let peripheral = try await connection(by: bluez, limits)
        let link = try await peripheral.openLink([.command: binding(0xFF02, .write)])
        async let written: Void = link.write([1], to: .command)
        let call = try await bluez.call("WriteValue")
        try await bluez.connection.answer(call, with: unlikely)
        if isOver { try await bluez.tell(ScriptedBlueZ.band, BlueZInterface.device, ["Connected": .boolean(false)]) }
        do {
            try await written
            return nil
        } catch {
            return error as? TransportError
        }
    }

    @Test("BLZ-14 a request that the end of the connection leaves open is no refusal", .privateBus)
    func lostRequest() async throws {
        var limits = BlueZLimits()
        limits.news = .seconds(20)
        #expect(try await Self.failure(limits, isOver: true)?.code == .disconnected)
    }

    @Test("a request that the device leaves open is no refusal", .privateBus) func unansweredRequest() async throws {
        var limits = BlueZLimits()
        limits.answer = .zero
        #expect(try await Self.failure(limits)?.code == .timeout)
    }

    @Test(
        "what is not answered before BlueZ forgets the device waited for a pairing, unless it was disconnected",
        .privateBus, arguments: [false, true])
    func wantsPairing(isDisconnected: Bool) async throws {
        let bluez = try await ScriptedBlueZ()
        let peripheral = try await Self.connection(by: bluez)
        let read = Task { try await peripheral.read(BluetoothUUID(short: 0xFF01), of: BluetoothUUID(short: 0xFEE0)) }
        _ = try await bluez.call("ReadValue")
        if isDisconnected {
            try await bluez.tell(ScriptedBlueZ.band, BlueZInterface.device, ["Connected": .boolean(false)])
        }
        try await bluez.connection.send(BlueZSample.removed(ScriptedBlueZ.band, [BlueZInterface.device]))
        let error = await #expect(throws: TransportError.self) { try await read.value }
        #expect(
            error
                == (isDisconnected
                    ? TransportError(.disconnected, message: "the connection to the device is lost")
                    : TransportError(.attributeError, message: "it wants to be paired first (dfu pair)")))
        // As long as it is held, it has its name.
        withExtendedLifetime(bluez) {}
    }

    @Test("an error that the device answers with is its own where the connection goes on", .privateBus)
    func unlikelyError() async throws {
        var limits = BlueZLimits()
        limits.news = .milliseconds(10)
        let failure = try await Self.failure(limits)
        #expect(failure?.code == .attributeError)
        #expect(failure?.attCode == 0x0E)
    }

    @Test("a subscription ends with its connection, so that the next one is the device's word", .privateBus)
    func endsSubscriptions() async throws {
        let bluez = try await ScriptedBlueZ()
        let peripheral = try await Self.connection(by: bluez)
        async let opened = peripheral.openLink([.reply: Self.binding(0xFF01, .notify)])
        try await bluez.answer("StartNotify", [])
        let link = try await opened
        try await bluez.tell(ScriptedBlueZ.band, BlueZInterface.device, ["Connected": .boolean(false)])
        try await bluez.answer("StopNotify", [])
        #expect(await Self.firstEvent(of: link) == .disconnected)
        // As long as it is held, it has its name.
        withExtendedLifetime(bluez) {}
    }

    private static func firstEvent(of link: any Link) async -> LinkEvent? {
        let (events, continuation) = AsyncStream.makeStream(of: LinkEvent.self)
        link.setReceiver { continuation.yield($0) }
        for await event in events { return event }
        return nil
    }
}
