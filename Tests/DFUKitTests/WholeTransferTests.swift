import DFUKit
import DFUSimulator
import Testing

/// Block-ack over the driver and the simulated radio, broken at many moments.
@Suite struct WholeTransferTests {
    private let world = VirtualTime()
    private let image = BlockAck.Image(
        bytes: (0..<(4 * 2048 + 5)).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }, version: BlockAck.Version(2, 0, 0)
    )
    private let commands = Locked<[UInt8]>([])

    private func transport() -> SimulatedTransport {
        SimulatedTransport([Band()], time: .virtual(world)) { event, _ in
            if case .written(let bytes, _) = event.kind { commands.withLock { $0.append(bytes[1]) } }
        }
    }

    private func band(_ transport: SimulatedTransport) throws -> Band {
        try #require(transport.device(Band().address) as? Band)
    }

    /// One transfer over a new link.
    private func transfer(over transport: SimulatedTransport) async throws -> Result<
        BlockAck.Transfer.Outcome, ProcedureError
    > {
        let peripheral = try await transport.connect(to: Band().address, timeout: .seconds(10))
        let link = try await peripheral.openLink(DeviceProfile.band.bindings(in: peripheral.services))
        var parameters = BlockAck.Parameters()
        parameters.gap = .fixed(.zero)
        var transfer = BlockAck.Transfer(image, by: parameters, maximumWriteLength: link.maximumWriteLength)
        let result = await run(&transfer, over: link, clock: world)
        await peripheral.disconnect()
        return result
    }

    /// The link is there after 75 ms, and all blocks are after 480 ms, so it is lost before, in and behind each of them.
    @Test(arguments: Array(stride(from: 80, through: 485, by: 15)))
    func aLostLinkIsGoneOnFromWhereTheDeviceSays(_ milliseconds: Int) async throws {
        let transport = transport()
        let (first, second) = try await world.run {
            let task = Task(executorPreference: world) { try await transfer(over: transport) }
            try await world.sleep(until: .init(sinceStart: .milliseconds(milliseconds)))
            transport.loseLink(to: Band().address)
            let first = try await task.value
            let held = try band(transport).memory.reception?.next ?? 0
            let sent = commands.withLock { $0.count }
            let second = try await transfer(over: transport)
            let opened = commands.withLock { $0.dropFirst(sent).count { $0 == 0xA1 } }
            #expect(opened == 5 - held)
            try await world.sleep(for: .seconds(10))
            return (first, second)
        }
        guard case .failure(let error) = first else {
            Issue.record("The link was lost too late: \(first)")
            return
        }
        #expect(error.code == .linkLost)
        #expect(second == .success(.accepted))
        #expect(try band(transport).memory.image == image.bytes)
    }

    @Test(arguments: Array(stride(from: 80, through: 480, by: 20)))
    func aStopIsToldToTheDevice(_ milliseconds: Int) async throws {
        let transport = transport()
        let (result, time) = try await world.run {
            let task = Task(executorPreference: world) { try await transfer(over: transport) }
            try await world.sleep(until: .init(sinceStart: .milliseconds(milliseconds)))
            let start = world.now
            task.cancel()
            return (try await task.value, start.duration(to: world.now))
        }
        guard case .failure(let error) = result else {
            Issue.record("The transfer was stopped too late: \(result)")
            return
        }
        #expect(error.code == .aborted)
        #expect(time < .seconds(1))
        #expect(commands.withLock { $0.count { $0 == 0xA5 } } == 1)
        #expect(commands.withLock { $0.last } == 0xA5)
        #expect(try band(transport).memory.reception == nil)
    }
}
