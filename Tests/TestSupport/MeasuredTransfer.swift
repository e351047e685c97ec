public import DFUKit
private import DFUSimulator

/// A whole block-ack transfer to a simulated band in virtual time, and when the device acknowledged what.
public struct MeasuredTransfer: Sendable {
    /// What it went over.
    public let link: MeasuredLink
    /// From the first write to the acknowledgement of each block.
    public let acknowledgements: [Duration]
    /// From the first write to the answer to `complete`.
    public let total: Duration
    /// How the transfer ended.
    public let result: Result<BlockAck.Transfer.Outcome, ProcedureError>
    /// What the transfer went through.
    public let statistics: BlockAck.Statistics
    /// Whether the band runs the image at the end.
    public let isInstalled: Bool

    /// Sends an image of `size` bytes to a fresh band.
    public init(of size: Int, over link: MeasuredLink, gap: BlockAck.Parameters.Gap) async throws {
        self.link = link
        var settings = Band.Settings()
        settings.packetLimit = link.packetLimit
        settings.profile.blockAck.gap = gap
        let profile = settings.profile
        let address = settings.address
        let world = VirtualTime()
        let transport = SimulatedTransport([Band(settings)], radio: link.radio, time: .virtual(world))
        let image = BlockAck.Image(bytes: Self.body(size), version: BlockAck.Version(2, 0, 0))
        let readings = Locked<[(bytes: Int, time: VirtualTime.Instant)]>([])
        let (start, transfer, result) = try await world.run {
            let peripheral = try await transport.connect(to: address, timeout: .seconds(10))
            let link = try await peripheral.openLink(profile.bindings(in: await peripheral.services))
            var transfer = BlockAck.Transfer(
                image, by: profile.blockAck, maximumWriteLength: link.maximumWriteLength)
            let observer = ProcedureObserver(progress: { _, progress in
                readings.withLock { $0.append((progress.bytes, world.now)) }
            })
            let start = world.now
            let result = await run(&transfer, over: link, clock: world, observer: observer)
            // The band reboots into the image.
            try await world.sleep(for: .seconds(10))
            return (start, transfer, result)
        }
        self.result = result
        statistics = transfer.statistics
        isInstalled = (transport.device(address) as? Band)?.memory.image == image.bytes
        let times = readings.withLock { $0 }
        acknowledgements = zip(times, times.dropFirst()).filter { $0.bytes < $1.bytes && $1.bytes < size }
            .map { start.duration(to: $1.time) }
        total = times.last.map { start.duration(to: $0.time) } ?? .zero
    }

    /// The number of the first block, from 0, from which on every one comes as fast as this share of the bound.
    public func settledBlock(share: Double) -> Int {
        let times = zip(acknowledgements, [.zero] + acknowledgements).map { $0 - $1 }
        return (times.lastIndex { blockTime / $0 < share } ?? -1) + 1
    }

    /// The time that the blocks before this one took over their bound.
    public func cost(before block: Int) -> Duration {
        time(before: block) - blockTime * block
    }

    /// How much of the bound is reached from this block on.
    public func share(from block: Int) -> Double {
        blockTime * (acknowledgements.count - block) / (total - time(before: block))
    }

    private var blockTime: Duration { .microseconds(link.bound.blockTime) }

    private func time(before block: Int) -> Duration {
        block > 0 ? acknowledgements[block - 1] : .zero
    }

    /// Bytes without a period, so that a lost or swapped packet always changes the checksum.
    private static func body(_ size: Int) -> [UInt8] {
        var state: UInt32 = 1
        return (0..<size).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(state >> 24)
        }
    }
}
