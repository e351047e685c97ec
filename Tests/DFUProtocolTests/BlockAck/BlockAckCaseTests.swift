import DFUProtocol
import DFUSimulator
import DFUTransport
import Testing

/// The acceptance cases of block-ack that a procedure and a band can play.
@Suite struct BlockAckCaseTests {
    private func isSame(_ bench: Bench, _ image: BlockAck.Image) -> Bool {
        bench.memory.image == image.bytes
    }

    private func ends(_ bench: Bench) -> [Int] {
        bench.frames.filter { $0[1] == 0xA3 }.map { Int($0[2]) << 8 | Int($0[3]) }
    }

    @Test("BLK-01 last acknowledgement never comes: the new version decides")
    func lastAcknowledgementLost() {
        let image = Sample.threeSmallBlocks
        let fault = Fault.disconnect(FaultPlace(.reply, 1, of: .complete), after: .milliseconds(200))
        var bench = Bench(Sample.smallBlocks { $0.rebootDelay = .milliseconds(300) }, faults: [fault])
        let report = bench.update(image)
        #expect(report.isDecidedAfterwards)
        #expect(report.result == .success(.accepted))
        #expect(isSame(bench, image))
        #expect(bench.frames.filter { $0[1] == 0xA0 }.count == 1, "no start before the version was looked for")
    }

    @Test("BLK-01 last acknowledgement never comes: with the old version it stays open, and the band is told")
    func lastAcknowledgementLostOldVersion() {
        let faults = [
            Fault.disconnect(FaultPlace(.reply, 1, of: .complete), after: .milliseconds(200)), .oldVersion,
        ]
        var bench = Bench(Sample.smallBlocks(), faults: faults)
        let report = bench.update(Sample.threeSmallBlocks)
        guard case .failure(let error) = report.result else {
            Issue.record("it must not end well")
            return
        }
        #expect(error.code == .unconfirmed)
        #expect(bench.frames.suffix(2).map { $0[1] } == [0xA0, 0xA5])
        #expect(bench.memory.reception == nil)
    }

    @Test("BLK-02 one block, two writes, two acknowledgements", arguments: [false, true])
    func oneWriteIsOneUnit(acknowledgesEachWrite: Bool) {
        var settings = Band.Settings()
        settings.packetLimit = 255
        settings.profile.blockAck.blockSize = 512
        var bench = Bench(settings)
        if acknowledgesEachWrite {
            var block: UInt16 = 0
            bench.tamper = { frame, answers in
                if frame[1] == 0xA1 { block = UInt16(frame[2]) << 8 | UInt16(frame[3]) }
                guard frame[1] == 0xA2 else { return }
                let answer = BlockAck.Reply.block(.ok, index: block, firstMissing: 0xFFFF)
                answers.append(answer.encoded(by: settings.profile.blockAck))
            }
        }
        let image = Sample.image(512 * 5)
        let report = bench.update(image, maximumWriteLength: 509)
        #expect(report.result == .success(.accepted))
        #expect(isSame(bench, image))
        #expect(bench.frames.map(\.count).max() == 255)
        #expect(ends(bench) == [0, 1, 2, 3, 4])
        #expect(report.statistics.droppedReplies == (acknowledgesEachWrite ? 5 * 3 : 0))
    }

    @Test(
        "BLK-04 block refused: packets that are cut are made shorter",
        arguments: BlockAck.Parameters.Checksum.allCases,
        [BlockAck.Parameters.Gap.fixed(.zero), .adaptive(from: .zero)])
    func cutWrites(checksum: BlockAck.Parameters.Checksum, gap: BlockAck.Parameters.Gap) {
        var settings = Band.Settings()
        settings.packetLimit = 244
        settings.profile.blockAck.checksum = checksum
        settings.profile.blockAck.gap = gap
        var bench = Bench(settings, faults: [.truncate(length: 120)])
        let image = Sample.image(5 * 2048 + 100)
        let report = bench.update(image, maximumWriteLength: 512)
        #expect(report.result == .success(.accepted))
        #expect(isSame(bench, image))
        #expect(report.statistics.retries == 2, "the block in which it was found out, twice")
        #expect(report.learnt.dataLength == 112)
        if case .adaptive = gap { #expect(report.learnt.pace?.gap == .zero, "the gap was not to blame") }
        #expect(ends(bench) == [0, 0, 0, 1, 2, 3, 4, 5])
    }

    @Test("BLK-04 block refused: without recovery the block is named")
    func cutWritesWithoutRecovery() {
        var settings = Band.Settings()
        settings.packetLimit = 244
        settings.profile.blockAck.tries = 1
        var bench = Bench(settings, faults: [.truncate(length: 120)])
        let report = bench.update(Sample.image(5 * 2048), maximumWriteLength: 512)
        #expect(
            report.result
                == .failure(
                    ProcedureError(
                        .refused, reason: "blockRejected", deviceCode: 8,
                        message: "block 1 of 5 did not arrive whole in 1 sends: packets missing (status 08); "
                            + "move closer, or use a longer gap")))
    }

    @Test("BLK-05 same block acknowledged twice")
    func acknowledgedTwice() {
        let fault = Fault.double(FaultPlace(.reply, 8, of: .blockEnd), after: .milliseconds(20))
        var bench = Bench(Sample.smallBlocks(), faults: [fault])
        var nineWasAcknowledged = false
        bench.tamper = { frame, answers in
            guard frame[1] == 0xA3, frame[3] == 9, !nineWasAcknowledged else { return }
            nineWasAcknowledged = true
            let eight = BlockAck.Reply.block(.ok, index: 8, firstMissing: 0xFFFF)
            answers = [eight.encoded(by: BlockAck.Parameters())]
        }
        let image = Sample.image(64 * 12)
        let report = bench.update(image)
        #expect(report.result == .success(.accepted))
        #expect(isSame(bench, image))
        #expect(ends(bench) == Array(0...11), "the band had block 9, so it is not sent again")
        #expect(report.statistics.droppedReplies == 2, "the second 8, and the 8 instead of 9")
        #expect(report.statistics.resyncs == 1)
    }

    @Test("BLK-05 a block that is asked for again is sent again")
    func askedForAgain() {
        var bench = Bench(Sample.smallBlocks(), faults: [.drop(FaultPlace(.frame, 9, of: .blockEnd))])
        let image = Sample.image(64 * 12)
        let report = bench.update(image)
        #expect(report.result == .success(.accepted))
        #expect(isSame(bench, image))
        #expect(ends(bench) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 10, 11])
    }

    @Test("BLK-06 last block shorter")
    func lastBlockShorter() {
        var settings = Band.Settings()
        settings.profile.blockAck.blockSize = 4096
        var bench = Bench(settings)
        let image = Sample.image(12_301)
        let report = bench.update(image)
        #expect(report.result == .success(.accepted))
        #expect(isSame(bench, image))
        let headers = bench.frames.filter { $0[1] == 0xA1 }.map { Int($0[4]) << 8 | Int($0[5]) }
        #expect(headers == [4096, 4096, 4096, 13])
    }

    @Test("BLK-06 last block shorter: a device that counts otherwise refuses, and it is not done")
    func lastBlockCountedOtherwise() {
        let fault = Fault.status(FaultPlace(.frame, 1, of: .complete), .imageMismatch)
        var bench = Bench(Band.Settings(), faults: [fault])
        let report = bench.update(Sample.image(12_301))
        #expect(report.result == .failure(imageRejected))
    }

    @Test("BLK-07 device pauses in the middle")
    func pause() {
        let image = Sample.image(64 * 30)
        var undisturbed = Bench(Sample.smallBlocks())
        _ = undisturbed.update(image)
        let fault = Fault.delay(FaultPlace(.reply, 21, of: .blockEnd), by: .seconds(8))
        var bench = Bench(Sample.smallBlocks(), faults: [fault])
        let report = bench.update(image)
        #expect(report.result == .success(.accepted))
        #expect(isSame(bench, image))
        #expect(bench.frames == undisturbed.frames, "nothing more is sent because of the pause")
        #expect(bench.now == undisturbed.now + .seconds(8))
    }

    @Test("BLK-08 too many packets at once: the defaults are gentle enough")
    func burstWithDefaults() {
        var bench = Bench(Sample.smallBlocks(), faults: [.disconnectOverPackets(8)])
        bench.interval = .milliseconds(50)
        let image = Sample.image(64 * 12)
        let report = bench.update(image)
        #expect(report.result == .success(.accepted))
        #expect(report.links == 1)
    }

    @Test("BLK-08 too many packets at once: after the first loss the burst is smaller")
    func burstWithAnAdaptiveGap() {
        var settings = Band.Settings()
        settings.profile.blockAck.gap = .adaptive(from: .milliseconds(20))
        var bench = Bench(settings, faults: [.disconnectOverPackets(8)])
        bench.interval = .milliseconds(30)
        let image = Sample.image(2048 * 12)
        let report = bench.update(image)
        #expect(report.result == .success(.accepted))
        #expect(isSame(bench, image))
        // None at all is too many; 20, 10 and 5 ms work; 2.5 ms is 12 packets in 30 ms; so 5 ms it is.
        #expect(report.links == 3)
        #expect(report.learnt.pace?.gap == .milliseconds(5))
    }

    @Test("BLK-09 old session still open on the watch")
    func oldSession() {
        let other = BlockAck.Image(bytes: Sample.bytes(64 * 20).reversed(), version: BlockAck.Version(1, 3, 0))
        var earlier = Bench(
            Sample.smallBlocks(), faults: [.disconnect(FaultPlace(.frame, 13, of: .blockHeader), after: .zero)])
        earlier.connect()
        var transfer = BlockAck.Transfer(
            other, by: Sample.smallBlocks().profile.blockAck, maximumWriteLength: 20)
        _ = earlier.run(&transfer)
        #expect(earlier.memory.reception?.next == 12)

        var bench = Bench(Sample.smallBlocks(), memory: earlier.memory)
        let image = Sample.image(64 * 20)
        let report = bench.update(image)
        #expect(report.result == .success(.accepted))
        #expect(isSame(bench, image))
        #expect(ends(bench) == Array(0...19))
    }

    @Test("BLK-12 hundred percent, then refused")
    func refusedAtTheEnd() {
        let fault = Fault.status(FaultPlace(.frame, 1, of: .complete), .imageMismatch)
        var bench = Bench(Sample.smallBlocks(), faults: [fault])
        bench.connect()
        let image = Sample.threeSmallBlocks
        var transfer = BlockAck.Transfer(image, by: Sample.smallBlocks().profile.blockAck, maximumWriteLength: 20)
        #expect(bench.run(&transfer) == .failure(imageRejected))
        #expect(transfer.phase == .verify)
        #expect(transfer.progress == Progress(bytes: image.bytes.count - 1, total: image.bytes.count))
    }

    private var imageRejected: ProcedureError {
        ProcedureError(
            .refused, reason: "imageRejected", deviceCode: 9,
            message: "the image as it arrived does not have the announced CRC-32, and the device has dropped it "
                + "(status 09); run the update again")
    }
}
