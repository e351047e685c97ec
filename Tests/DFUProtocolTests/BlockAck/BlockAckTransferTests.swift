import DFUProtocol
import DFUSimulator
import DFUTransport
import Testing

@Suite struct BlockAckTransferTests {
    @Test func theFramesOfAnUpdate() {
        var bench = Bench(Sample.smallBlocks())
        let image = Sample.threeSmallBlocks
        let report = bench.update(image)
        #expect(report.result == .success(.accepted))
        #expect(bench.memory.image == image.bytes)
        #expect(bench.memory.version == image.version)
        let operations = bench.frames.map { $0[1] }
        let block: [UInt8] = [0xA1, 0xA2, 0xA2, 0xA2, 0xA2, 0xA3]
        #expect(operations == [0xA0] + block + block + [0xA1, 0xA2, 0xA2, 0xA2, 0xA3] + [0xA4])
        #expect(operations.count == Sample.framesOfThreeSmallBlocks)
        #expect(bench.frames.map(\.count).max() == 20)
        #expect(bench.frames[16].count == 12, "the last packet carries the 8 bytes that are left")
        #expect(report.statistics == statistics { $0.blocksAcknowledged = 3 })
    }

    @Test func theGapLiesBetweenTheFramesOfABlockOnly() {
        var bench = Bench(Sample.smallBlocks())
        _ = bench.update(Sample.threeSmallBlocks)
        // 5, 5 and 4 gaps of 20 ms; then the band's 100 ms to its reboot, and 2 s of it.
        #expect(bench.now == .milliseconds(14 * 20 + 100 + 2000))
    }

    @Test func withoutAGapNothingIsWaitedFor() {
        var bench = Bench(Sample.smallBlocks { $0.profile.blockAck.gap = .fixed(.zero) })
        let report = bench.update(Sample.threeSmallBlocks)
        #expect(report.result == .success(.accepted))
        #expect(bench.now == .milliseconds(100 + 2000))
    }

    @Test func anAdaptiveGapShortens() {
        var bench = Bench(Sample.smallBlocks { $0.profile.blockAck.gap = .adaptive(from: .milliseconds(20)) })
        let report = bench.update(Sample.image(64 * 8))
        #expect(report.result == .success(.accepted))
        #expect(report.learnt.pace?.gap == .zero)
        #expect(bench.now == .milliseconds(5 * 20 + 100 + 2000))
    }

    @Test(
        "a larger packet limit is used as far as the link allows",
        arguments: [
            (limit: 0, link: 244, packet: 20), (19, 244, 20), (20, 244, 20), (100, 244, 100), (244, 244, 244),
            (255, 512, 255), (244, 100, 100), (255, 20, 20),
        ] as [(limit: UInt8, link: Int, packet: Int)])
    func packetLimit(limit: UInt8, link: Int, packet: Int) {
        var settings = Band.Settings()
        settings.packetLimit = limit
        var bench = Bench(settings)
        let image = Sample.image(5000)
        let report = bench.update(image, maximumWriteLength: link)
        #expect(report.result == .success(.accepted))
        #expect(bench.memory.image == image.bytes)
        #expect(bench.frames.map(\.count).max() == packet)
    }

    @Test(
        "every form of the frames goes", arguments: BlockAck.Parameters.Checksum.allCases,
        [
            BlockAck.Parameters.ByteOrder.big, .little,
        ])
    func forms(checksum: BlockAck.Parameters.Checksum, byteOrder: BlockAck.Parameters.ByteOrder) {
        var bench = Bench(
            Sample.smallBlocks {
                $0.profile.blockAck.checksum = checksum
                $0.profile.blockAck.byteOrder = byteOrder
            })
        let report = bench.update(Sample.threeSmallBlocks)
        #expect(report.result == .success(.accepted))
        #expect(bench.memory.image == Sample.threeSmallBlocks.bytes)
    }

    @Test("answers count that come before the write is reported as done", arguments: [true, false])
    func earlyAnswers(early: Bool) {
        var bench = Bench(Sample.smallBlocks())
        bench.answersEarly = early
        let report = bench.update(Sample.threeSmallBlocks)
        #expect(report.result == .success(.accepted))
        #expect(report.statistics == statistics { $0.blocksAcknowledged = 3 })
    }

    @Test("images of one byte and at the edges of a block go", arguments: [1, 15, 16, 17, 63, 64, 65, 128])
    func sizes(size: Int) {
        var bench = Bench(Sample.smallBlocks())
        let image = Sample.image(size)
        #expect(bench.update(image).result == .success(.accepted))
        #expect(bench.memory.image == image.bytes)
    }

    @Test func anyVersionSkipsTheCheckAndIsNotKept() {
        var bench = Bench(Sample.smallBlocks { $0.version = BlockAck.Version(9, 0, 0) })
        let image = BlockAck.Image(bytes: Sample.bytes(100), version: .any)
        #expect(bench.update(image).result == .success(.accepted))
        #expect(bench.memory.image == image.bytes)
        #expect(bench.memory.version == BlockAck.Version(9, 0, 0))
    }

    @Test("phases follow the stages")
    func phases() {
        let image = Sample.image(64)
        var transfer = BlockAck.Transfer(image, by: Sample.smallBlocks().profile.blockAck, maximumWriteLength: 20)
        #expect(transfer.phase == .prepare)
        tell(&transfer, .written, .notification([0x56, 0xA0, 0, 0, 0, 20, 0xF6], from: .reply))
        #expect(transfer.phase == .transfer)
        for _ in 0..<5 { tell(&transfer, .written, .timeout) }
        tell(&transfer, .written, .notification([0x56, 0xA3, 0, 0, 0, 0xFF, 0xFF, 0x09], from: .reply))
        #expect(transfer.phase == .verify)
        #expect(transfer.progress == Progress(bytes: 63, total: 64))
        tell(&transfer, .written, .notification([0x56, 0xA4, 0, 0x06], from: .reply))
        #expect(transfer.next() == .finish(.success(.accepted)))
        #expect(transfer.progress == Progress(bytes: 64, total: 64))
    }

    /// Asks for a step before each event, as a driver does.
    private func tell(_ transfer: inout BlockAck.Transfer, _ events: Event...) {
        for event in events {
            _ = transfer.next()
            transfer.receive(event)
        }
    }

    // MARK: What cannot be sent

    @Test func anEmptyImageIsMisconfigured() {
        var transfer = BlockAck.Transfer(
            Sample.image(0), by: BlockAck.Parameters(), maximumWriteLength: 20)
        #expect(transfer.next() == .finish(misconfigured("the image is empty")))
    }

    @Test func blocksThatDoNotGoIntoThePacketsAreMisconfigured() {
        var parameters = BlockAck.Parameters()
        parameters.blockSize = 8192
        parameters.packetSize = 40
        var transfer = BlockAck.Transfer(Sample.image(9000), by: parameters, maximumWriteLength: 20)
        #expect(
            transfer.next()
                == .finish(
                    misconfigured(
                        "a block of 8192 bytes takes more than 256 packets of 20 bytes; "
                            + "the block size may be at most 4096")))
    }

    @Test func aDeviceThatOffersTooLittleIsToldThatTheSessionIsOver() {
        var settings = Band.Settings()
        settings.profile.blockAck.blockSize = 8192
        settings.profile.blockAck.packetSize = 40
        settings.packetLimit = 30
        var bench = Bench(settings)
        let report = bench.update(Sample.image(9000), maximumWriteLength: 40)
        #expect(
            report.result
                == misconfigured(
                    "a block of 8192 bytes takes more than 256 packets of 30 bytes; the block size may be at most 6656")
        )
        #expect(bench.frames.map { $0[1] } == [0xA0, 0xA5])
        #expect(bench.memory.reception == nil)
    }

    @Test func aLinkOfLessThanTwentyBytesIsMisconfigured() {
        var transfer = BlockAck.Transfer(Sample.image(9), by: BlockAck.Parameters(), maximumWriteLength: 19)
        #expect(transfer.next() == .finish(misconfigured("the link takes packets of 19 bytes; block-ack needs 20")))
    }

    private func misconfigured(_ message: String) -> Result<BlockAck.Transfer.Outcome, ProcedureError> {
        .failure(ProcedureError(.misconfigured, message: message))
    }

    private func statistics(_ change: (inout BlockAck.Statistics) -> Void) -> BlockAck.Statistics {
        var statistics = BlockAck.Statistics()
        change(&statistics)
        return statistics
    }
}
