import DFUKit
import DFUSimulator
import TestSupport
import Testing

/// What the kernel is asked for when devices are connected through BlueZ, and what is put back.
@Suite(.serialized, .timeLimit(.minutes(2))) struct BlueZConnectionParameterTests {
    private static let band = Band().address
    private static let wanted: [UInt16] = [9, 12, 0, 200]
    private static let defaults: [UInt16] = [0x10, 0x20, 0, 0x64]

    /// Runs `body` over a BlueZ with these devices and a kernel.
    private func run(
        _ kernel: ScriptedKernel, devices: [AdvertisedDevice] = [AdvertisedDevice(Band())],
        storage: String = "/dev/null",
        log: Locked<[String]> = Locked([]), prepare: (BlueZStage) async throws -> Void = { _ in },
        _ body: (BlueZTransport) async throws -> Void
    ) async throws {
        try await BlueZStage.run(
            devices: devices,
            observer: { event, _ in
                switch event.kind {
                case .connected: kernel.note(.connected(event.address))
                case .disconnected: kernel.note(.disconnected(event.address))
                case .written, .notified, .wentDown, .rebooted: break
                }
            },
            { stage in
                try await prepare(stage)
                try await body(
                    stage.transport { options in
                        options.management = kernel
                        options.storage = storage
                        options.log = { line in log.withLock { $0.append(line) } }
                    })
            })
    }

    private func connect(
        _ transport: BlueZTransport, to device: String = band, asking: ConnectionParameters? = .update
    ) async throws -> any Peripheral {
        try await transport.connect(to: device, asking: asking, timeout: .seconds(30))
    }

    @Test func theKernelIsAskedBeforeTheConnectionAndItsDefaultIsPutBackAfterIt() async throws {
        let kernel = ScriptedKernel()
        let log = Locked<[String]>([])
        try await run(kernel, log: log) { transport in
            let peripheral = try await connect(transport)
            #expect(peripheral.unmetParameters == nil)
            await peripheral.disconnect()
            // Once is enough.
            await peripheral.disconnect()
        }
        #expect(
            kernel.events == [
                .loaded([(Self.band, Self.wanted)]), .connected(Self.band), .disconnected(Self.band),
                .loaded([(Self.band, Self.defaults)]),
            ])
        #expect(kernel.commands == [0x01, 0x04, 0x35, 0x44, 0x4B, 0x35])
        #expect(
            log.withLock { $0.joined(separator: "\n") } == """
                such a load has this kernel (management 1.22) drop its entries of other devices that it does not connect by \
                itself; what BlueZ stored cannot be read by this user, so they are connected with the kernel's default until \
                BlueZ is restarted
                the adapter has 2M PHY, and the kernel does not use it; that is a setting of the whole adapter, and stays as \
                it is (updates over 2M are untested)
                \(Self.band): the kernel is asked for an interval of 11.25 to 15 ms, latency 0, supervision timeout 2 s
                \(Self.band): put back the kernel's default: an interval of 20 to 40 ms, latency 0, supervision timeout 1 s
                """)
    }

    @Test func whatBlueZStoredIsPutBackAndThatOfOthersGoesAlong() async throws {
        let folder = try TemporaryFolder()
        func store(_ address: String, _ text: String) throws {
            _ = try folder.write(Array(text.utf8), to: "00:1A:7D:DA:71:13/\(address)/info")
        }
        func parameters(_ interval: Int) -> String {
            "[ConnectionParameters]\nMinInterval=\(interval)\nMaxInterval=\(interval)\nLatency=0\nTimeout=42\n"
        }
        try store(Self.band, "[General]\nName=Band\nAddressType=static\n\n" + parameters(40))
        try store("C0:00:00:00:00:01", parameters(24) + "[General]\nAddressType=static\n")
        // Without parameters, with such as cannot be, and of the classic kind; the last is no device.
        try store("C0:00:00:00:00:02", "[General]\nAddressType=static\n[Other]\nMinInterval=6\n")
        try store("C0:00:00:00:00:03", "[General]\nAddressType=static\n" + parameters(5))
        try store("C0:00:00:00:00:04", "[General]\nName=Phone\n" + parameters(24))
        try store("cache", "[General]\nAddressType=static\n" + parameters(24))
        let kernel = ScriptedKernel { $0.revision = 23 }
        let log = Locked<[String]>([])
        try await run(kernel, storage: folder.path, log: log) { transport in
            await (try connect(transport)).disconnect()
        }
        let other = ("C0:00:00:00:00:01", [24, 24, 0, 42] as [UInt16])
        #expect(
            kernel.events == [
                .loaded([other, (Self.band, Self.wanted)]), .connected(Self.band), .disconnected(Self.band),
                .loaded([other, (Self.band, [40, 40, 0, 42])]),
            ])
        #expect(
            log.withLock { $0.first }
                == "such a load has this kernel (management 1.23) drop its entries of other devices that it does not "
                + "connect by itself, unless it is for a single device that has an entry already; what BlueZ stored for "
                + "2 is loaded along with it")
        #expect(log.withLock { $0.last?.contains("put back what BlueZ stored: an interval of 50 ms") } == true)
    }

    @Test func eachLoadCarriesAllThatAreInUse() async throws {
        let other = "C0:11:22:33:44:66"
        var settings = Band.Settings()
        settings.address = other
        let kernel = ScriptedKernel()
        try await run(kernel, devices: [AdvertisedDevice(Band()), AdvertisedDevice(Band(settings))]) { transport in
            let first = try await connect(transport)
            let second = try await connect(transport, to: other)
            await first.disconnect()
            await second.disconnect()
        }
        func both(_ first: [UInt16], _ second: [UInt16]) -> ScriptedKernel.Event {
            .loaded([(Self.band, first), (other, second)].sorted { $0.0 < $1.0 })
        }
        #expect(
            kernel.events == [
                .loaded([(Self.band, Self.wanted)]), .connected(Self.band), both(Self.wanted, Self.wanted),
                .connected(other), .disconnected(Self.band), both(Self.defaults, Self.wanted), .disconnected(other),
                .loaded([(other, Self.defaults)]),
            ])
    }

    @Test func aConnectThatFailsPutsBack() async throws {
        let kernel = ScriptedKernel()
        try await run(
            kernel, prepare: { await $0.blueZ.failConnects(times: 1, with: "le-connection-abort-by-local") }
        ) { transport in
            await #expect(throws: TransportError(.connectFailed, message: "le-connection-abort-by-local")) {
                try await connect(transport)
            }
        }
        #expect(kernel.events == [.loaded([(Self.band, Self.wanted)]), .loaded([(Self.band, Self.defaults)])])
    }

    @Test func servicesThatAreNotResolvedPutBack() async throws {
        var device = AdvertisedDevice(Band())
        device.discovery = .losesLink(times: 1)
        let kernel = ScriptedKernel()
        try await run(kernel, devices: [device]) { transport in
            await #expect(throws: TransportError.self) { try await connect(transport) }
        }
        #expect(kernel.events.last == .loaded([(Self.band, Self.defaults)]))
    }

    @Test func aKernelThatDoesNotTellItsDefaultGetsTheOneItIsBuiltWith() async throws {
        let kernel = ScriptedKernel { $0.failures[0x4B] = .refused(0x01) }
        try await run(kernel) { await (try connect($0)).disconnect() }
        #expect(kernel.events.last == .loaded([(Self.band, [0x18, 0x28, 0, 0x2A])]))
    }

    @Test func whatCannotBePutBackIsTold() async throws {
        let kernel = ScriptedKernel { $0.failures[0x4B] = .silent }
        let log = Locked<[String]>([])
        try await run(kernel, log: log) { await (try connect($0)).disconnect() }
        #expect(
            log.withLock { $0.last }
                == "\(Self.band): the kernel keeps an interval of 11.25 to 15 ms, latency 0, supervision timeout 2 s for "
                + "it (the kernel did not answer), until the adapter is unplugged or the machine restarted")
    }

    @Test func aConnectionThatIsThereKeepsItsParameters() async throws {
        var device = AdvertisedDevice(Band())
        device.isConnected = true
        let kernel = ScriptedKernel()
        let log = Locked<[String]>([])
        try await run(kernel, devices: [device], log: log) { transport in
            await (try connect(transport)).disconnect()
        }
        #expect(kernel.commands.isEmpty)
        #expect(log.withLock { $0 } == ["\(Self.band): it is connected already, with parameters that stay"])
    }

    @Test func whoAsksForNothingTouchesNothing() async throws {
        let kernel = ScriptedKernel()
        try await run(kernel) { await (try connect($0, asking: nil)).disconnect() }
        #expect(kernel.commands.isEmpty)
    }

    // MARK: Without the right, or the kernel

    @Test(
        arguments: [
            (
                [0x35: .permissionDenied],
                "to ask for one needs CAP_NET_ADMIN; run as root, or once: sudo setcap cap_net_admin+ep \"$(command -v dfu)\"",
                [0x01, 0x04, 0x35]
            ),
            (
                [0x01: .unavailable("Address family not supported by protocol")],
                "there is no management socket here (Address family not supported by protocol)", [0x01]
            ),
            (
                [0x04: .invalidIndex], "this machine's kernel has no adapter hci0 with the address 00:1A:7D:DA:71:13",
                [0x01, 0x04]
            ),
            ([0x35: .refused(0x0C)], "the kernel refused with the management status 12", [0x01, 0x04, 0x35]),
            ([0x01: .silent], "the kernel did not answer", [0x01]),
        ] as [([UInt16: ManagementError], String, [UInt16])])
    func aKernelThatSaysNoIsAskedAndToldOfOnce(
        failures: [UInt16: ManagementError], why: String, commands: [UInt16]
    ) async throws {
        let kernel = ScriptedKernel { $0.failures = failures }
        try await run(kernel) { transport in
            let peripheral = try await connect(transport)
            #expect(peripheral.unmetParameters == "the connection interval is left to BlueZ and the kernel: \(why)")
            await peripheral.disconnect()
            let second = try await connect(transport)
            #expect(second.unmetParameters == nil)
            await second.disconnect()
        }
        #expect(kernel.commands == commands)
    }

    @Test func anAdapterOfAnotherMachineIsLeftAlone() async throws {
        let kernel = ScriptedKernel { $0.address = [0x00, 0x1A, 0x7D, 0xDA, 0x71, 0x14] }
        try await run(kernel) { transport in
            let peripheral = try await connect(transport)
            #expect(
                peripheral.unmetParameters
                    == "the connection interval is left to BlueZ and the kernel: this machine's kernel has no adapter "
                    + "hci0 with the address 00:1A:7D:DA:71:13")
            await peripheral.disconnect()
        }
        #expect(kernel.commands == [0x01, 0x04])
    }

    // MARK: Updates

    private func update(
        _ kernel: ScriptedKernel, _ connection: DeviceProfile.Connection,
        during: (@Sendable (UpdateProgress, UpdateScript.Intervention) -> Void)? = nil
    ) async throws -> SimulatedUpdate {
        var settings = Band.Settings()
        settings.profile.connection = connection
        var scene = BlueZScene()
        scene.options = { options in
            options.management = kernel
            options.storage = "/dev/null"
        }
        return try await SimulatedUpdate(
            over: .bus, of: settings, to: .bin(Firmware.bytes(6000)), in: scene,
            adjust: { $0.gap = .fixed(.zero) }, during: during)
    }

    @Test func anUpdateAsksForWhatTheProfileWantsEachTimeThatItConnects() async throws {
        let slow = try #require(ConnectionParameters(units: [24, 40, 0, 400]))
        let asked: [(DeviceProfile.Connection, [UInt16]?)] = [
            (.automatic, Self.wanted), (.parameters(slow), slow.units), (.system, nil),
        ]
        for (connection, units) in asked {
            let kernel = ScriptedKernel()
            let update = try await update(kernel, connection)
            #expect(update.report?.connections == 2)
            let loads: [ScriptedKernel.Event]? = units.map { units in
                [.loaded([(Self.band, units)]), .loaded([(Self.band, Self.defaults)])]
            }
            #expect(kernel.events == (loads ?? []) + (loads ?? []))
            #expect(update.warnings.isEmpty)
        }
    }

    @Test func aStopPutsBack() async throws {
        let kernel = ScriptedKernel()
        let update = try await update(kernel, .automatic) { progress, intervention in
            if progress.bytes > 0 { intervention.cancel() }
        }
        #expect(update.error?.code == .aborted)
        #expect(kernel.events.last == .loaded([(Self.band, Self.defaults)]))
    }

    @Test func whoNamedParametersIsWarnedThatTheyAreNotThere() async throws {
        let message = "the connection interval is left to BlueZ and the kernel: the kernel did not answer"
        func kernel() -> ScriptedKernel { ScriptedKernel { $0.failures[0x01] = .silent } }
        let named = try await update(kernel(), .parameters(.update))
        #expect(named.error == nil)
        #expect(named.warnings == [UpdateWarning(reason: "connectionParametersNotSet", message: message)])
        let unnamed = try await update(kernel(), .automatic)
        #expect(unnamed.error == nil)
        #expect(unnamed.warnings.isEmpty)
        #expect(unnamed.log.filter { $0 == message }.count == 1)
    }
}
