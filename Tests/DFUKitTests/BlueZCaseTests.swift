import DFUKit
import DFUSimulator
import TestSupport
import Testing

/// What is known to go wrong between a host and BlueZ, and the one end of an update that it must come to.
@Suite(.serialized, .timeLimit(.minutes(2))) struct BlueZCaseTests {
    private let image = Firmware.bytes(6000)

    private static let inProgress = DBusError(
        name: "org.bluez.Error.InProgress", message: "Operation already in progress")

    private static func failed(_ text: String) -> DBusError {
        DBusError(name: "org.bluez.Error.Failed", message: text)
    }

    /// An update of the band by BlueZ.
    private func update(
        of settings: Band.Settings = Band.Settings(), profile: DeviceProfile? = nil, radio: RadioModel = RadioModel(),
        in scene: BlueZScene, adjust: (inout UpdateOptions) -> Void = { _ in },
        during: (@Sendable (UpdateProgress, UpdateScript.Intervention) -> Void)? = nil
    ) async throws -> SimulatedUpdate {
        try await SimulatedUpdate(
            over: .bus, of: settings, to: .bin(image), profile: profile, radio: radio, in: scene,
            adjust: { options in
                options.gap = .fixed(.zero)
                adjust(&options)
            }, during: during)
    }

    /// An update in whose middle something happens; what is left of it then takes a second.
    private func update(
        of settings: Band.Settings = Band.Settings(), in scene: BlueZScene = BlueZScene(),
        interruptedBy trouble: @escaping @Sendable (BlueZStage, UpdateScript.Intervention) async -> Void
    ) async throws -> SimulatedUpdate {
        var settings = settings
        settings.profile.blockAck.blockSize = 512
        let hasHappened = Locked(false)
        return try await update(of: settings, in: scene, adjust: { $0.gap = .fixed(.milliseconds(5)) }) {
            progress, intervention in
            guard progress.fraction >= 0.5, let stage = intervention.stage else { return }
            let isFirst = hasHappened.withLock { hasHappened in
                defer { hasHappened = true }
                return !hasHappened
            }
            if isFirst { Task { await trouble(stage, intervention) } }
        }
    }

    private func expectGood(_ update: SimulatedUpdate, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(
            update.report?.verdict == .running(version: "1.1.0"), "\(String(describing: update.error))",
            sourceLocation: sourceLocation)
        #expect(update.band.memory.image == image, sourceLocation: sourceLocation)
    }

    // MARK: The length of packets

    @Test(
        "BLZ-01 the MTU is 23 at first: the socket tells the true one, and without a socket it stays so",
        arguments: [(true, .writeWithoutResponse, 244), (false, .writeWithoutResponse, 244), (true, .write, 20)]
            as [(Bool, GATTCharacteristic.Properties, Int)])
    func lateMTU(hasMTU: Bool, properties: GATTCharacteristic.Properties, expected: Int) async throws {
        var scene = BlueZScene()
        scene.settings.mtuDelay = .milliseconds(400)
        scene.settings.hasMTU = hasMTU
        var settings = Band.Settings()
        settings.packetLimit = 244
        settings.commandProperties = properties
        let update = try await update(of: settings, radio: .bluetooth42, in: scene)
        expectGood(update)
        #expect(update.written.map(\.count).max() == expected)
    }

    @Test("BLZ-02 no write is longer than 512, whatever the MTU") func tooLargeMTU() async throws {
        var settings = BlueZSettings.quick
        settings.radio = RadioModel(dataLength: 251, mtu: 517).quick
        settings.toldMTU = 527
        try await BlueZStage.run(devices: [AdvertisedDevice(Band())], settings: settings) { stage in
            let peripheral = try await stage.transport().connect(to: Band().address, timeout: .seconds(30))
            let link = try await peripheral.openLink(DeviceProfile.band.bindings(in: await peripheral.services))
            #expect(link.maximumWriteLength == 512)
            await peripheral.disconnect()
        }
    }

    // MARK: Connecting

    @Test(
        "BLZ-03, BLZ-04 first connects are aborted, by the new text and the old one",
        arguments: ["le-connection-abort-by-local", "Software caused connection abort"])
    func abortedConnects(text: String) async throws {
        var scene = BlueZScene()
        scene.prepare = { stage in
            await stage.blueZ.failConnects(times: 2, with: text, shown: .milliseconds(100))
        }
        let update = try await update(in: scene, adjust: { $0.verification = .never })
        #expect(update.error == nil)
        #expect(update.band.memory.image == image)
        #expect(update.count(of: "Connect") == 3)
    }

    @Test("BLZ-03 five aborted connects are the end, told in BlueZ's words") func onlyAbortedConnects() async throws {
        var scene = BlueZScene()
        scene.prepare = { await $0.blueZ.failConnects(times: 5, with: "le-connection-abort-by-local") }
        let update = try await update(in: scene)
        #expect(update.error?.code == .connectFailed)
        #expect(
            update.error?.message
                == "connecting failed 5 times (le-connection-abort-by-local); bring it closer, and end other connections to it"
        )
        #expect(update.count(of: "Connect") == 5)
    }

    @Test("BLZ-06 a discovery is in progress already") func discoveryOfAnotherProgram() async throws {
        var scene = BlueZScene()
        scene.prepare = { stage in
            await stage.blueZ.discoverForAnotherProgram(on: "hci0")
            await stage.blueZ.fail("StartDiscovery", times: .max, with: Self.inProgress)
        }
        expectGood(try await update(in: scene))
    }

    @Test("BLZ-06 an end of a discovery is in progress already") func unfinishedEndOfDiscovery() async throws {
        var scene = BlueZScene()
        scene.prepare = { await $0.blueZ.fail("StopDiscovery", times: .max, with: Self.inProgress) }
        expectGood(try await update(in: scene))
    }

    @Test("BLZ-06 another program's discovery by which nothing is heard") func deafDiscovery() async throws {
        var scene = BlueZScene()
        scene.prepare = { await $0.blueZ.fail("StartDiscovery", times: .max, with: Self.inProgress) }
        let update = try await update(in: scene, adjust: { $0.connectLimit = .milliseconds(300) })
        #expect(update.error?.code == .environment)
        #expect(update.error?.message == "another program is using the adapter for a scan; end it")
    }

    @Test("BLZ-07 two updates with one adapter connect one after the other") func twoAtOnce() async throws {
        var other = Band.Settings()
        other.address = "C0:FF:EE:00:00:02"
        let bands = [Band(), Band(other)]
        try await BlueZStage.run(devices: bands.map { AdvertisedDevice($0) }) { [package = Package.bin(image)] stage in
            let transport = try await stage.transport()
            var options = UpdateOptions()
            options.gap = .fixed(.zero)
            options.verification = .never
            let updater = Updater(transport: transport, options: options)
            let (verdicts, calls) = try await stage.noteCalls {
                async let first = updater.update(bands[0].address, with: package).verdict
                async let second = updater.update(bands[1].address, with: package).verdict
                return try await [first, second]
            }
            let accepted = UpdateReport.Verdict.accepted(because: "whether it runs was not looked at")
            #expect(verdicts == [accepted, accepted])
            #expect(calls.count { $0.member == "Connect" } == 2, "none is refused, and so repeated")
        }
    }

    @Test("BLZ-07 a connection that takes its time does not shorten the wait for another device")
    func slowNeighbour() async throws {
        var other = Band.Settings()
        other.address = "C0:FF:EE:00:00:02"
        var slow = AdvertisedDevice(Band(other))
        slow.isConnectable = false
        var late = AdvertisedDevice(Band())
        late.isInRange = false
        try await BlueZStage.run(devices: [slow, late]) { stage in
            let transport = try await stage.transport()
            async let connected = transport.connect(to: Band().address, timeout: .seconds(2))
            let error = await #expect(throws: TransportError.self) {
                try await transport.connect(to: other.address, timeout: .milliseconds(2500))
            }
            #expect(error?.code == .connectFailed)
            await stage.blueZ.setInRange(true, device: Band().address)
            let peripheral = try await connected
            #expect(peripheral.address == Band().address)
        }
    }

    @Test("BLZ-08 a classic link is tried once") func classicLinkOnce() async throws {
        var scene = BlueZScene()
        scene.prepare = { await $0.blueZ.failConnects(with: "br-connection-canceled") }
        expectGood(try await update(in: scene))
    }

    @Test("BLZ-08 a classic link is tried each time") func classicLink() async throws {
        var scene = BlueZScene()
        scene.prepare = { await $0.blueZ.failConnects(times: 3, with: "br-connection-canceled") }
        let update = try await update(in: scene, adjust: { $0.connectRetries = 2 })
        #expect(update.error?.code == .connectFailed)
        let message = try #require(update.error?.message)
        #expect(message.contains("BlueZ tried the classic link (br-connection-canceled)"))
        #expect(message.contains("bluetoothctl remove"))
        #expect(message.contains("ControllerMode = le"))
    }

    @Test("BLZ-16 a device that another program has connected") func connectedAlready() async throws {
        var scene = BlueZScene()
        scene.advertise = { $0.isConnected = true }
        let update = try await update(in: scene)
        expectGood(update)
        #expect(update.warnings.map(\.reason) == ["connectedAlready"])
    }

    @Test("a device is its update's alone, while it restarts too") func reserved() async throws {
        let bus = Locked("")
        var scene = BlueZScene()
        scene.prepare = { stage in
            let answer = try await stage.connection.call(
                .call(
                    "GetId", of: DBusConnection.busName, at: DBusConnection.busPath,
                    destination: DBusConnection.busName))
            guard case .string(let id) = answer.body.first else { preconditionFailure("a bus without an ID") }
            bus.withLock { $0 = id }
        }
        let reserve = { @Sendable () throws(TransportError) in
            try DeviceReservation(of: Band().address, on: bus.withLock(\.self))
        }
        let refusals = Locked<[Phase: TransportError.Code]>([:])
        let update = try await update(
            in: scene,
            during: { progress, _ in
                do throws(TransportError) {
                    _ = try reserve()
                } catch {
                    refusals.withLock { $0[progress.phase] = error.code }
                }
            })
        expectGood(update)
        #expect(refusals.withLock(\.self)[.reconnect] == .environment)
        #expect(throws: Never.self, "nobody has it any more") { try reserve() }
    }

    @Test("two transports: one has the device, and the other one when it is disconnected") func takesTurns()
        async throws
    {
        try await BlueZStage.run(devices: [AdvertisedDevice(Band())]) { stage in
            let (one, other) = (try await stage.transport(), try await stage.transport())
            let peripheral = try await one.connect(to: Band().address, timeout: .seconds(30))
            let refusal = TransportError(
                .environment, message: "another dfu on this machine is using this device; wait until it ends, or end it"
            )
            await #expect(throws: refusal) { try await other.connect(to: Band().address, timeout: .seconds(30)) }
            await #expect(throws: refusal) { try await other.forgetServices(of: Band().address) }
            #expect(await peripheral.services.isEmpty == false, "it is connected still")
            await peripheral.disconnect()
            await #expect(throws: Never.self) {
                try await other.connect(to: Band().address, timeout: .seconds(30)).disconnect()
            }
        }
    }

    @Test("BLZ-23 keys that no longer fit: three rounds, and the bond stays") func lostKeys() async throws {
        var scene = BlueZScene()
        scene.settings.lostKeysDelay = .milliseconds(20)
        scene.advertise = { device in
            device.isPaired = true
            device.hasLostKeys = true
        }
        let update = try await update(in: scene)
        #expect(update.error?.code == .refused)
        #expect(update.error?.reason == "bondMismatch")
        #expect(
            update.error?.message
                == "the stored pairing no longer fits; remove it (dfu forget \(Band().address)) and pair again")
        #expect(update.count(of: "Connect") == 3)
        #expect(update.count(of: "RemoveDevice") == 0)
    }

    @Test("BLZ-25 the kind of an address is learnt by a scan") func scansFirst() async throws {
        let update = try await update(in: BlueZScene())
        expectGood(update)
        let members = update.calls.compactMap(\.member)
        let scan = try #require(members.firstIndex(of: "StartDiscovery"))
        let connect = try #require(members.firstIndex(of: "Connect"))
        #expect(scan < connect)
        #expect(!members.contains("ConnectDevice"))
    }

    @Test("CLI-09 each connect times out, and Disconnect never returns") func endlessAttempts() async throws {
        var scene = BlueZScene()
        scene.advertise = { $0.isConnectable = false }
        scene.prepare = { await $0.blueZ.ignore("Disconnect", times: .max) }
        scene.options = { $0.limits.disconnection = .milliseconds(50) }
        let update = try await update(in: scene) { options in
            options.connectLimit = .milliseconds(200)
            options.connectRetries = 3
        }
        #expect(update.error?.code == .connectFailed)
        #expect(update.error?.message.hasPrefix("connecting failed 4 times (") == true)
        #expect(update.error?.connections == 0)
    }

    @Test("CLI-09 the limit of the whole ends what Disconnect does not") func limitOfTheWhole() async throws {
        var scene = BlueZScene()
        scene.advertise = { $0.isConnectable = false }
        scene.prepare = { await $0.blueZ.ignore("Disconnect", times: .max) }
        scene.options = { $0.limits.disconnection = .milliseconds(50) }
        let update = try await update(in: scene) { $0.timeLimit = .milliseconds(500) }
        #expect(update.error?.code == .timeout)
        #expect(update.error?.reason == "timeLimit")
    }

    // MARK: Services

    @Test("BLZ-09 a stale table is dropped, once, and the device's true one is learnt") func staleTable() async throws {
        let band = Band()
        try await BlueZStage.run(devices: [AdvertisedDevice(JumpedBand(band), name: "Band")]) {
            [package = Package.bin(image)] stage in
            let transport = try await stage.transport()
            // BlueZ takes up what the device was before.
            let before = try await transport.connect(to: band.address, timeout: .seconds(30))
            #expect(await before.services.first?.characteristics.last?.uuid == JumpedBand.other)
            await before.disconnect()
            var options = UpdateOptions()
            options.gap = .fixed(.zero)
            options.verification = .never
            let updater = Updater(transport: transport, options: options)
            let (verdict, calls) = try await stage.noteCalls {
                try await updater.update(band.address, with: package).verdict
            }
            #expect(verdict == .accepted(because: "whether it runs was not looked at"))
            #expect(calls.count { $0.member == "RemoveDevice" } == 1)
        }
    }

    @Test("BLZ-09 a stale table of a device without a name stays, and that is the end") func staleTableWithoutAName()
        async throws
    {
        let band = Band()
        try await BlueZStage.run(devices: [AdvertisedDevice(JumpedBand(band))]) {
            [package = Package.bin(image)] stage in
            let transport = try await stage.transport()
            try await transport.connect(to: band.address, timeout: .seconds(30)).disconnect()
            let (error, calls) = try await stage.noteCalls {
                await #expect(throws: UpdateError.self) {
                    try await Updater(transport: transport).update(band.address, with: package)
                }
            }
            #expect(error?.reason == "noKnownService")
            #expect(calls.count { $0.member == "RemoveDevice" } == 1)
        }
    }

    @Test("BLZ-09 what is missing from a device that was learnt anew is missing") func missingService() async throws {
        var profile = DeviceProfile.band
        profile.service = BluetoothUUID(short: 0x1234)
        let update = try await update(profile: profile, in: BlueZScene())
        #expect(update.error?.code == .refused)
        #expect(update.error?.reason == "noKnownService")
        #expect(update.error?.message.hasSuffix("; a device with other UUIDs needs --profile") == true)
        #expect(update.count(of: "RemoveDevice") == 1)
        #expect(update.written.isEmpty)
    }

    @Test("BLZ-09 a bond is not thrown away for it") func missingServiceOfAPairedDevice() async throws {
        var profile = DeviceProfile.band
        profile.service = BluetoothUUID(short: 0x1234)
        var scene = BlueZScene()
        scene.advertise = { $0.isPaired = true }
        let update = try await update(profile: profile, in: scene)
        #expect(update.error?.code == .refused)
        #expect(
            update.error?.message.hasSuffix(
                "; what is remembered of a paired device may be out of date: dfu forget \(Band().address), then pair it "
                    + "again") == true)
        #expect(update.count(of: "RemoveDevice") == 0)
    }

    @Test("BLZ-10 services are resolved, but not there yet") func lateObjects() async throws {
        var scene = BlueZScene()
        scene.advertise = { $0.objectsDelay = .milliseconds(700) }
        let update = try await update(in: scene)
        expectGood(update)
        #expect(update.count(of: "RemoveDevice") == 0)
    }

    @Test("BLZ-11 services are never resolved") func hangingDiscovery() async throws {
        var scene = BlueZScene()
        scene.advertise = { $0.discovery = .hangs }
        scene.options = { $0.limits.discovery = .milliseconds(300) }
        let update = try await update(in: scene)
        #expect(update.error?.code == .silent)
        #expect(update.error?.reason == "servicesUnresolved")
        #expect(update.error?.phase == .discover)
        #expect(update.events.last?.kind == .disconnected)
    }

    @Test(
        "BLZ-11 services are resolved late, or the link is lost before",
        arguments: [
            AdvertisedDevice.ServiceDiscovery.succeeds(after: .milliseconds(300)), .losesLink(times: 2),
        ])
    func slowDiscovery(discovery: AdvertisedDevice.ServiceDiscovery) async throws {
        var scene = BlueZScene()
        scene.advertise = { $0.discovery = discovery }
        expectGood(try await update(in: scene))
    }

    @Test("BLZ-11 the link is lost each time before services are resolved") func lostDiscovery() async throws {
        var scene = BlueZScene()
        scene.advertise = { $0.discovery = .losesLink(times: .max) }
        let update = try await update(in: scene)
        #expect(update.error?.code == .connectFailed)
        #expect(
            update.error?.message
                == "connecting failed 5 times (the connection was lost while its services were resolved); bring it closer, "
                + "and end other connections to it")
    }

    // MARK: Subscribing and writing

    @Test("BLZ-14 not connected in the middle, and nothing else is told") func notConnected() async throws {
        var settings = Band.Settings()
        settings.commandProperties = .write
        let update = try await update(of: settings) { stage, _ in
            await stage.blueZ.fail("WriteValue", with: Self.failed("Not connected"))
        }
        expectGood(update)
        #expect(update.report?.connections == 3)
    }

    @Test(
        "BLZ-15 another program holds the characteristic",
        arguments: [
            ["AcquireWrite": "Write acquired"], ["StartNotify": "Notify acquired"],
        ])
    func heldCharacteristic(refusals: [String: String]) async throws {
        var scene = BlueZScene()
        scene.prepare = { stage in
            for (member, text) in refusals {
                await stage.blueZ.fail(
                    member, times: .max, with: DBusError(name: "org.bluez.Error.NotPermitted", message: text))
            }
        }
        let update = try await update(in: scene)
        #expect(update.error?.code == .environment)
        #expect(update.error?.message == "another program on this machine holds this characteristic; end it")
        #expect(update.written.isEmpty)
    }

    @Test("BLZ-15 another program hears the device too, so that all it says comes twice") func heardByAnother()
        async throws
    {
        let other = Locked<DBusConnection?>(nil)
        let update = try await update { stage, _ in
            guard let program = try? await DBusConnection.open(stage.bus.address),
                let tree = try? await BlueZDaemon.open(stage.bus.address).tree
            else { return }
            other.withLock { $0 = program }
            let services = tree.devices().flatMap { tree.services(of: $0.path) }
            for reply in services.flatMap({ tree.characteristics(of: $0.path) })
            where reply.properties.contains(.notify) {
                try? await stage.call(
                    "StartNotify", of: BlueZInterface.characteristic, at: reply.path.string, by: program)
            }
        }
        expectGood(update)
        #expect(update.calls.filter { $0.member == "StartNotify" }.count == 2)
    }

    @Test("BLZ-15 another program holds the characteristic that is written with response")
    func heldRequests() async throws {
        var scene = BlueZScene()
        scene.prepare = { stage in
            await stage.blueZ.fail(
                "WriteValue", times: .max,
                with: DBusError(name: "org.bluez.Error.NotPermitted", message: "Write acquired"))
        }
        var settings = Band.Settings()
        settings.commandProperties = .write
        let update = try await update(of: settings, in: scene)
        #expect(update.error?.code == .environment)
        #expect(update.error?.message == "another program on this machine holds this characteristic; end it")
        #expect(update.written.isEmpty)
    }

    @Test func aRefusedSubscriptionIsTheDevicesNo() async throws {
        var scene = BlueZScene()
        scene.prepare = { stage in
            await stage.blueZ.fail(
                "StartNotify", times: .max, with: Self.failed("Operation failed with ATT error: 0x80"))
        }
        let update = try await update(in: scene)
        #expect(update.error?.code == .refused)
        #expect(update.error?.reason == "subscribeRefused")
        #expect(update.error?.deviceCode == 0x80)
        #expect(update.written.isEmpty)
    }

    @Test("BLZ-26 BlueZ 5.50 writes requests only, but its sockets do not") func oldBlueZ() async throws {
        var scene = BlueZScene()
        scene.settings = .bluez550
        scene.settings.disconnectDelay = .zero
        let update = try await update(in: scene)
        expectGood(update)
        #expect(update.calls.contains { $0.member == "AcquireWrite" })
        #expect(!update.calls.contains { $0.member == "WriteValue" })
    }

    @Test("BLZ-27 a socket that is read with pauses loses and doubles nothing") func slowSocket() async throws {
        var scene = BlueZScene()
        scene.settings.socketPauses = BlueZSettings.SocketPauses(after: 10, lasting: .milliseconds(200))
        var settings = Band.Settings()
        settings.packetLimit = 244
        let update = try await update(of: settings, radio: .bluetooth42, in: scene)
        expectGood(update)
        #expect(update.report?.retries == 0)
    }

    @Test("CLI-03 a stop does not wait for a write that BlueZ never answers") func hangingWrite() async throws {
        var settings = Band.Settings()
        settings.commandProperties = .write
        let stopped = Locked<ContinuousClock.Instant?>(nil)
        let update = try await update(of: settings) { stage, intervention in
            await stage.blueZ.ignore("WriteValue", times: .max)
            stopped.withLock { $0 = .now }
            intervention.cancel()
        }
        #expect(update.error?.code == .aborted)
        #expect(update.error?.deviceState == .asBefore)
        #expect(update.events.last?.kind == .disconnected)
        // The attribute protocol's own limit, after which BlueZ would answer.
        #expect(try #require(stopped.withLock { $0 }).duration(to: .now) < .seconds(30))
    }

    // MARK: The machine

    @Test(
        "BLZ-17 no service, no adapter, off, blocked: four different texts",
        arguments: [
            (.noService, "the Bluetooth service is not running; start it (systemctl start bluetooth) or install bluez"),
            (.noAdapter, "there is no Bluetooth adapter; plug one in"),
            (.off, "the adapter hci0 is off; switch it on (bluetoothctl power on), or use --power-on"),
            (.blocked, "the adapter hci0 is blocked by rfkill; run: rfkill unblock bluetooth"),
        ] as [(UnfitMachine, String)])
    func unfitMachine(machine: UnfitMachine, message: String) async throws {
        var scene = BlueZScene()
        scene.settings.hasPowerState = true
        var adapter = SimulatedAdapter(isPowered: false)
        adapter.isBlocked = machine == .blocked
        switch machine {
        case .noService: scene.prepare = { await $0.blueZ.stop() }
        case .noAdapter: scene.adapters = []
        case .off, .blocked: scene.adapters = [adapter]
        }
        let update = try await update(in: scene)
        #expect(update.error?.code == .environment)
        #expect(update.error?.message == message)
        #expect(update.count(of: "Set") == 0, "nothing is switched on")
    }

    enum UnfitMachine { case noService, noAdapter, off, blocked }

    @Test("BLZ-17 blocked, by a BlueZ that does not tell", arguments: ["soft", "hard"])
    func blockedAdapter(kind: String) async throws {
        let folder = try TemporaryFolder()
        for (name, adapter, state) in [("rfkill0", "hci1", "0"), ("rfkill1", "hci0", "1")] {
            _ = try folder.write(Array("\(adapter)\n".utf8), to: name + "/name")
            _ = try folder.write(Array("\(state)\n".utf8), to: name + "/" + kind)
        }
        var scene = BlueZScene()
        scene.adapters = [SimulatedAdapter(isPowered: false)]
        scene.options = { $0.switches = folder.path }
        let update = try await update(in: scene)
        #expect(update.error?.code == .environment)
        #expect(
            update.error?.message == "the adapter hci0 is blocked by rfkill; run: rfkill unblock bluetooth")
    }

    @Test("BLZ-17 an adapter that is off is switched on when that is asked for") func switchesOn() async throws {
        var scene = BlueZScene()
        scene.adapters = [SimulatedAdapter(isPowered: false)]
        scene.options = { $0.powersOn = true }
        expectGood(try await update(in: scene))
    }

    @Test("BLZ-18 D-Bus says access denied") func accessDenied() async throws {
        var scene = BlueZScene()
        scene.prepare = { stage in
            await stage.blueZ.fail(
                "GetManagedObjects", times: .max,
                with: DBusError(name: "org.freedesktop.DBus.Error.AccessDenied", message: "Rejected send message"))
        }
        let update = try await update(in: scene)
        #expect(update.error?.code == .permission)
        #expect(
            update.error?.message
                == "this user may not talk to the Bluetooth service; join the group bluetooth, or look at D-Bus's "
                + "policy for org.bluez (bluetooth.conf)")
    }

    @Test("BLZ-19 every call goes to the adapter that was asked for") func askedAdapter() async throws {
        var scene = BlueZScene()
        scene.adapters = [SimulatedAdapter("hci0"), SimulatedAdapter("hci2", address: "00:1A:7D:DA:71:14")]
        scene.options = { $0.adapter = "hci2" }
        let update = try await update(in: scene)
        expectGood(update)
        let paths = Set(update.calls.compactMap(\.path?.string).map { $0.prefix(15) })
        #expect(paths == ["/", "/org/bluez/hci2"])
    }

    @Test("BLZ-19 no adapter's name is taken for granted") func onlyHCI1() async throws {
        var scene = BlueZScene()
        scene.adapters = [SimulatedAdapter("hci1")]
        expectGood(try await update(in: scene))
    }

    @Test("BLZ-19 an adapter that is not there") func unknownAdapter() async throws {
        var scene = BlueZScene()
        scene.adapters = [SimulatedAdapter("hci0"), SimulatedAdapter("hci2", address: "00:1A:7D:DA:71:14")]
        scene.options = { $0.adapter = "hci7" }
        let update = try await update(in: scene)
        #expect(update.error?.code == .environment)
        #expect(update.error?.message == "there is no adapter hci7; there is hci0, hci2")
    }

    @Test(
        "BLZ-22 the adapter or the service goes in the middle",
        arguments: [
            (.unplugged, "the adapter hci0 disappeared; plug it in again"),
            (.switchedOff, "the adapter hci0 was switched off (bluetoothctl power on)"),
            (.restarted, "the Bluetooth service was stopped or restarted"),
            (.busClosed, "the system's message bus is gone (it ended the connection)"),
        ] as [(Loss, String)], [GATTCharacteristic.Properties.writeWithoutResponse, .write])
    func losesTheMachine(trouble: (loss: Loss, message: String), properties: GATTCharacteristic.Properties) async throws
    {
        let moment = Locked<ContinuousClock.Instant?>(nil)
        var settings = Band.Settings()
        settings.commandProperties = properties
        let update = try await update(of: settings) { stage, _ in
            // A write that is on its way then is not answered any more.
            await stage.blueZ.ignore("WriteValue", times: .max)
            moment.withLock { $0 = .now }
            switch trouble.loss {
            case .unplugged: await stage.blueZ.unplug("hci0")
            case .switchedOff: await stage.blueZ.setPowered(false, adapter: "hci0")
            case .restarted:
                await stage.blueZ.stop()
                try? await stage.blueZ.start()
            case .busClosed: await stage.bus.stop()
            }
        }
        #expect(update.error?.code == .environment)
        #expect(update.error?.message == trouble.message)
        #expect(update.error?.deviceState == .asBefore)
        #expect(try #require(moment.withLock { $0 }).duration(to: .now) < .seconds(5))
    }

    enum Loss { case unplugged, switchedOff, restarted, busClosed }

    // MARK: Listening

    @Test("BLZ-24 a name is looked for in the advertisement, and else in the cache") func names() async throws {
        var device = AdvertisedDevice(Band(), name: "DfuTarg")
        device.keptName = "Watch"
        var other = Band.Settings()
        other.address = "C0:FF:EE:00:00:02"
        let cached = AdvertisedDevice(Band(other), name: "Other")
        try await BlueZStage.run(devices: [device, cached]) { stage in
            let transport = try await stage.transport()
            let devices = try await transport.scan(for: .seconds(30)) { $0.count { $0.candidate != nil } == 2 }
            let candidates = devices.compactMap(\.candidate)
            let matches = try DeviceSelector.resolve(
                ["DfuTarg", "Other", "C0:FF:EE:00:00:01"].map { try DeviceSelector($0) }, among: candidates)
            let addresses = ["C0:FF:EE:00:00:01", "C0:FF:EE:00:00:02", "C0:FF:EE:00:00:01"]
            #expect(matches == addresses.compactMap { BluetoothAddress($0) }.map { .device($0) })
        }
    }

    @Test("CLI-10 no ghosts, and one row a device with the name that comes later") func ghosts() async throws {
        var late = AdvertisedDevice(Band(), name: "Band")
        late.firstNamedReport = 2
        var other = Band.Settings()
        other.address = "C0:FF:EE:00:00:02"
        var ghost = AdvertisedDevice(Band(other), name: "Ghost")
        ghost.isKnown = true
        ghost.isInRange = false
        try await BlueZStage.run(devices: [late, ghost]) { stage in
            let transport = try await stage.transport()
            let devices = try await transport.scan(for: .seconds(30)) { devices in
                devices.contains { $0.candidate?.name == "Band" }
            }
            #expect(devices.map(\.address) == ["C0:FF:EE:00:00:01", "C0:FF:EE:00:00:02"])
            #expect(devices.compactMap(\.candidate?.name) == ["Band"])
        }
    }

    @Test("CLI-10 a scan that hears nothing") func silence() async throws {
        try await BlueZStage.run(devices: []) { stage in
            let devices = try await stage.transport().scan(for: .milliseconds(100))
            #expect(devices.isEmpty)
        }
    }
}

extension SimulatedUpdate {
    /// How often a method of BlueZ's was called.
    fileprivate func count(of member: String) -> Int {
        calls.count { $0.member == member }
    }
}

/// A band that was something else when it was connected first: with a service like its own, of other characteristics.
private struct JumpedBand: SimulatedDevice {
    static let other = BluetoothUUID(short: 0xFF12)

    private var band: Band
    private var connections = 0

    init(_ band: Band) {
        self.band = band
    }

    var address: String { band.address }

    var services: [GATTService] {
        guard connections < 2, var service = band.services.first else { return band.services }
        for index in service.characteristics.indices {
            if service.characteristics[index].properties.contains(.writeWithoutResponse) {
                service.characteristics[index].uuid = Self.other
            }
        }
        return [service] + band.services.dropFirst()
    }

    mutating func connected() {
        connections += 1
        band.connected()
    }

    mutating func disconnected() { band.disconnected() }
    mutating func received(packets: Int) -> [DeviceAction] { band.received(packets: packets) }
    mutating func written(_ bytes: [UInt8], to characteristic: BluetoothUUID) -> [DeviceAction] {
        band.written(bytes, to: characteristic)
    }
    func read(_ characteristic: BluetoothUUID) -> [UInt8]? { band.read(characteristic) }
    mutating func rebooted() { band.rebooted() }
    mutating func woken(_ token: Int) -> [DeviceAction] { band.woken(token) }
}
