import DFUKit
import DFUSimulator
import Testing

/// A band in a world of its own, to which an image of five blocks is sent.
private struct World {
    static let address = Band().address

    let time = VirtualTime()
    let transport: SimulatedTransport
    private let record = Locked<[SimulatedEvent]>([])
    private let image = BlockAck.Image(
        bytes: (0..<(4 * 2048 + 5)).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) },
        version: BlockAck.Version(2, 0, 0))

    init(commandProperties: GATTCharacteristic.Properties = .writeWithoutResponse) {
        let record = record
        var settings = Band.Settings()
        settings.commandProperties = commandProperties
        transport = SimulatedTransport([Band(settings)], time: .virtual(time)) { event, _ in
            record.withLock { $0.append(event) }
        }
    }

    /// What happened.
    var events: [SimulatedEvent] { record.withLock { $0 } }

    /// The commands that have arrived at the band.
    var commands: [UInt8] {
        events.compactMap { event in
            if case .written(let bytes, _) = event.kind { bytes[1] } else { nil }
        }
    }

    var memory: Band.Memory? { (transport.device(Self.address) as? Band)?.memory }

    var isInstalled: Bool { memory?.image == image.bytes }

    /// One transfer over a new connection.
    func transfer() async throws -> Result<BlockAck.Transfer.Outcome, ProcedureError> {
        let peripheral = try await transport.connect(to: Self.address, timeout: .seconds(10))
        let link = try await peripheral.openLink(DeviceProfile.band.bindings(in: await peripheral.services))
        var parameters = BlockAck.Parameters()
        parameters.gap = .fixed(.zero)
        var transfer = BlockAck.Transfer(image, by: parameters, maximumWriteLength: link.maximumWriteLength)
        let result = await run(&transfer, over: link, clock: time)
        await peripheral.disconnect()
        return result
    }

    /// Starts a transfer, and lets time come to this moment after the beginning.
    func startTransfer(until milliseconds: Int) async throws -> Task<
        Result<BlockAck.Transfer.Outcome, ProcedureError>, any Error
    > {
        let task = Task(executorPreference: time) { try await transfer() }
        try await time.sleep(until: .init(sinceStart: .milliseconds(milliseconds)))
        return task
    }
}

/// Block-ack over the driver and the simulated radio, broken at many moments.
///
/// The link is there after 75 ms, and `complete` is written after 485 ms.
@Suite struct WholeTransferTests {
    private let world = World()

    @Test(arguments: Array(stride(from: 80, through: 485, by: 15)))
    func aLostLinkIsGoneOnFromWhereTheDeviceSays(_ milliseconds: Int) async throws {
        try await world.time.run { [world] in
            let task = try await world.startTransfer(until: milliseconds)
            world.transport.loseLink(to: World.address)
            guard case .failure(let error) = try await task.value else {
                Issue.record("The link was lost too late.")
                return
            }
            #expect(error.code == .linkLost)
            let held = world.memory?.reception?.next ?? 0
            let sent = world.commands.count
            #expect(try await world.transfer() == .success(.accepted))
            #expect(world.commands.dropFirst(sent).count { $0 == 0xA1 } == 5 - held)
            // The band reboots into the image.
            try await world.time.sleep(for: .seconds(10))
            #expect(world.isInstalled)
        }
    }

    @Test(arguments: Array(stride(from: 80, through: 480, by: 20)))
    func aStopIsToldToTheDevice(_ milliseconds: Int) async throws {
        try await world.time.run { [world] in
            let task = try await world.startTransfer(until: milliseconds)
            let start = world.time.now
            task.cancel()
            guard case .failure(let error) = try await task.value else {
                Issue.record("The transfer was stopped too late.")
                return
            }
            #expect(error.code == .aborted)
            #expect(start.duration(to: world.time.now) < .seconds(1))
            #expect(world.commands.count { $0 == 0xA5 } == 1)
            #expect(world.commands.last == 0xA5)
            #expect(world.memory?.reception == nil)
        }
    }

    @Test func aHostThatDiesLeavesTheBlocksToTheNextOne() async throws {
        try await world.time.run { [world] in
            let task = try await world.startTransfer(until: 300)
            world.transport.loseLink(to: World.address)
            task.cancel()
            _ = try await task.value
            #expect(!world.commands.contains(0xA5))
            #expect(world.memory?.reception?.next == 2)
            #expect(try await world.transfer() == .success(.accepted))
            #expect(world.commands.count { $0 == 0xA1 } == 3 + 3)
        }
    }

    /// Each write takes two connection events: 15 ms.
    @Test(arguments: [200, 2000, 5000, 7000])
    func answeredWritesBreakAndGoOnToo(_ milliseconds: Int) async throws {
        let world = World(commandProperties: .write)
        try await world.time.run {
            let task = try await world.startTransfer(until: milliseconds)
            world.transport.loseLink(to: World.address)
            guard case .failure(let error) = try await task.value else {
                Issue.record("The link was lost too late.")
                return
            }
            #expect(error.code == .linkLost)
            #expect(try await world.transfer() == .success(.accepted))
            try await world.time.sleep(for: .seconds(10))
            #expect(world.isInstalled)
        }
    }

    @Test func virtualTimePassesTheSameWayEachTime() async throws {
        let worlds = [World(), World()]
        for world in worlds {
            try await world.time.run {
                #expect(try await world.transfer() == .success(.accepted))
                // The band reboots.
                try await world.time.sleep(for: .seconds(10))
            }
        }
        // Start, four whole blocks, one of a single data packet, complete.
        let count = 1 + 4 * 130 + 3 + 1
        #expect(worlds[0].commands.count == count)
        let isSame = worlds[0].events == worlds[1].events
        #expect(isSame)
    }
}
