import DFUTransport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct BlueZDaemonTests {
    private static func isConnected(_ tree: BlueZObjectTree) -> Bool {
        tree.device(at: path(ScriptedBlueZ.band))?.isConnected == true
    }

    private static func open() async throws -> BlueZDaemon {
        try await BlueZDaemon.open(#require(PrivateBus.current).address)
    }

    @Test("BLZ-17 a bus without BlueZ is told as a service that is not running", .privateBus)
    func missesTheService() async throws {
        await #expect(throws: TransportError(.serviceMissing, during: .look)) { try await Self.open() }
    }

    @Test("BLZ-18 a bus that does not let this user is told as a matter of permission", .privateBus)
    func isDeniedAccess() async throws {
        let bluez = try await ScriptedBlueZ()
        async let refusal: Void = bluez.refuse(
            DBusError(name: "org.freedesktop.DBus.Error.AccessDenied", message: "Rejected send message"))
        await #expect(throws: TransportError(.accessDenied, during: .look)) { try await Self.open() }
        try await refusal
    }

    @Test(.privateBus) func missesTheBus() async throws {
        let error = await #expect(throws: TransportError.self) {
            try await BlueZDaemon.open("unix:path=/nonexistent/socket")
        }
        #expect(error?.code == .environment)
        #expect(error?.message.hasPrefix("there is no connection to the bus") == true)
    }

    @Test(.privateBus) func seesWhatIsThereAndWhatChanges() async throws {
        let bluez = try await ScriptedBlueZ()
        let daemon = try await bluez.open()
        #expect(await daemon.tree.devices().map(\.name) == ["Band"])
        async let tree = daemon.wait(.seconds(30), until: Self.isConnected)
        try await bluez.connection.send(
            BlueZSample.changed(ScriptedBlueZ.band, BlueZInterface.device, ["Connected": .boolean(true)]))
        #expect(try await tree.map(Self.isConnected) == true)
        // It is so already: no change is needed.
        #expect(try await daemon.wait(.zero, until: Self.isConnected) != nil)
        // As long as it is held, it has its name.
        withExtendedLifetime(bluez) {}
    }

    @Test(.privateBus) func takesChangesBeforeTheAnswerAsPartOfIt() async throws {
        let bluez = try await ScriptedBlueZ()
        async let opened = Self.open()
        var calls = bluez.calls.makeAsyncIterator()
        let call = try #require(await calls.next())
        // It went and came again before the objects were listed.
        try await bluez.connection.send(BlueZSample.removed(ScriptedBlueZ.band, [BlueZInterface.device]))
        try await bluez.connection.answer(call, with: BlueZSample.managed(ScriptedBlueZ.objects))
        try await bluez.connection.send(
            BlueZSample.changed(ScriptedBlueZ.band, BlueZInterface.device, ["Connected": .boolean(true)]))
        let daemon = try await opened
        #expect(try await daemon.wait(.seconds(30), until: Self.isConnected) != nil)
        // As long as it is held, it has its name.
        withExtendedLifetime(bluez) {}
    }

    @Test(.privateBus) func heedsNobodyElsesSignals() async throws {
        let bluez = try await ScriptedBlueZ()
        let daemon = try await bluez.open()
        let stranger = try await connectToPrivateBus()
        try await stranger.send(BlueZSample.removed(ScriptedBlueZ.adapter, [BlueZInterface.adapter]))
        // The bus hands the stranger's on before it answers this.
        _ = try await stranger.requestName("org.example.After")
        try await bluez.connection.send(
            BlueZSample.changed(ScriptedBlueZ.band, BlueZInterface.device, ["Connected": .boolean(true)]))
        #expect(try await daemon.wait(.seconds(30), until: Self.isConnected)?.adapters.count == 1)
        // As long as it is held, it has its name.
        withExtendedLifetime(bluez) {}
    }

    @Test(.privateBus) func endsAWaitAtItsLimit() async throws {
        let bluez = try await ScriptedBlueZ()
        let daemon = try await bluez.open()
        #expect(try await daemon.wait(.milliseconds(1), until: Self.isConnected) == nil)
        // As long as it is held, it has its name.
        withExtendedLifetime(bluez) {}
    }

    @Test(.privateBus) func endsAWaitOfACancelledTask() async throws {
        let bluez = try await ScriptedBlueZ()
        let daemon = try await bluez.open()
        let wait = Task { try await daemon.wait(.seconds(600), until: Self.isConnected) }
        wait.cancel()
        await #expect(throws: TransportError(.cancelled, during: .look)) { try await wait.value }
        // As long as it is held, it has its name.
        withExtendedLifetime(bluez) {}
    }

    @Test("BLZ-22 a daemon that goes, or comes again, ends each wait", .privateBus)
    func tellsOfARestart() async throws {
        let bluez = try await ScriptedBlueZ()
        let daemon = try await bluez.open()
        let restarted = TransportError(.environment, message: "the Bluetooth service was stopped or restarted")
        let wait = Task { try await daemon.wait(.seconds(600), until: Self.isConnected) }
        try await bluez.connection.releaseName("org.bluez")
        await #expect(throws: restarted) { try await wait.value }
        try #require(try await bluez.connection.requestName("org.bluez"))
        await #expect(throws: restarted) { try await daemon.wait(.seconds(600), until: Self.isConnected) }
        #expect(await daemon.tree.adapters.isEmpty)
    }

    @Test("BLZ-22 a bus that goes ends each wait")
    func tellsOfTheEndOfTheBus() async throws {
        let bus = try await PrivateBus.start()
        let bluez = try await PrivateBus.$current.withValue(bus) { try await ScriptedBlueZ() }
        let daemon = try await PrivateBus.$current.withValue(bus) { try await bluez.open() }
        let wait = Task { try await daemon.wait(.seconds(600), until: Self.isConnected) }
        await bus.stop()
        await #expect(throws: TransportError(.busGone("it ended the connection"), during: .look)) {
            try await wait.value
        }
        // As long as it is held, it has its name.
        withExtendedLifetime(bluez) {}
    }

    @Test(.privateBus) func callsMethodsAndReadsTheirErrors() async throws {
        let bluez = try await ScriptedBlueZ()
        let daemon = try await bluez.open()
        async let refusal: Void = bluez.refuse(
            DBusError(name: "org.bluez.Error.Failed", message: "le-connection-abort-by-local"))
        await #expect(throws: BlueZError.connectAborted("le-connection-abort-by-local")) {
            try await daemon.call(
                "Connect", of: BlueZInterface.device, at: path(ScriptedBlueZ.band), timeout: .seconds(30))
        }
        try await refusal
    }
}
