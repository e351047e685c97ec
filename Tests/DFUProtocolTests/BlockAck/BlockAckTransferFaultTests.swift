import DFUSimulator
import DFUTransport
import Testing

@testable import DFUProtocol

/// An update with one thing going wrong, at every frame and at every answer.
@Suite struct BlockAckTransferFaultTests {
    private static let frames = 1...Sample.framesOfThreeSmallBlocks
    private static let replies = 1...Sample.repliesToThreeSmallBlocks
    private static let image = Sample.threeSmallBlocks

    /// What can befall one packet of a side without ending the link.
    private static let mishaps: [(String, @Sendable (FaultPlace) -> Fault)] = [
        ("lost", { .drop($0) }),
        ("damaged at the header", { .damage($0, byte: 0) }),
        ("damaged at the opcode", { .damage($0, byte: 1) }),
        ("damaged at the payload", { .damage($0, byte: 2) }),
        ("damaged at the checksum", { .damage($0, byte: nil) }),
        ("doubled at once", { .double($0, after: .zero) }),
        ("doubled later", { .double($0, after: .milliseconds(70)) }),
        ("doubled much later", { .double($0, after: .seconds(25)) }),
        ("late", { .delay($0, by: .milliseconds(70)) }),
        ("very late", { .delay($0, by: .seconds(8)) }),
        ("too late", { .delay($0, by: .seconds(31)) }),
        ("swapped", { .swap($0) }),
    ]

    private func expectInstalled(_ bench: Bench, _ report: Bench.Report, links: Int = 1) {
        #expect(report.result == .success(.accepted))
        let isSame = bench.memory.image == Self.image.bytes
        #expect(isSame, "the band ends with exactly these bytes")
        #expect(bench.memory.version == Self.image.version)
        #expect(report.links == links)
    }

    @Test("any frame may be lost, damaged, doubled, late or swapped", arguments: frames, mishaps.indices)
    func frame(number: Int, mishap: Int) {
        var bench = Bench(Sample.smallBlocks(), faults: [Self.mishaps[mishap].1(FaultPlace(.frame, number))])
        let report = bench.update(Self.image)
        expectInstalled(bench, report)
        #expect(report.statistics.retries <= 3)
        #expect(report.statistics.resyncs <= 2)
    }

    @Test("any answer may be lost, damaged, doubled, late or swapped", arguments: replies, mishaps.indices)
    func reply(number: Int, mishap: Int) {
        var bench = Bench(Sample.smallBlocks(), faults: [Self.mishaps[mishap].1(FaultPlace(.reply, number))])
        let report = bench.update(Self.image)
        expectInstalled(bench, report)
        #expect(report.statistics.retries <= 1)
        #expect(report.statistics.resyncs <= 1)
        #expect(report.statistics.blocksAcknowledged == 3, "also where the answer to the next start tells")
    }

    @Test("any frame and the answers after it may be disturbed, without a gap too", arguments: frames, mishaps.indices)
    func frameWithoutGap(number: Int, mishap: Int) {
        let settings = Sample.smallBlocks {
            $0.profile.blockAck.gap = .adaptive(from: .zero)
            $0.flashTime = .milliseconds(50)
        }
        var bench = Bench(settings, faults: [Self.mishaps[mishap].1(FaultPlace(.frame, number))])
        let report = bench.update(Self.image)
        expectInstalled(bench, report)
    }

    // MARK: Lost links

    @Test("the link may be lost at any frame: the blocks that the band has are not sent again", arguments: frames)
    func linkLostAtFrame(number: Int) {
        let fault = Fault.disconnect(FaultPlace(.frame, number), after: .zero)
        var bench = Bench(Sample.smallBlocks(), faults: [fault])
        let report = bench.update(Self.image)
        let isLast = number == Sample.framesOfThreeSmallBlocks
        #expect(report.isDecidedAfterwards == isLast)
        expectInstalled(bench, report, links: isLast ? 1 : 2)
        #expect(report.statistics.blocksAcknowledged == 3)
        let ends = bench.frames.filter { $0[1] == 0xA3 }.map { Int($0[3]) }
        #expect(Set(ends) == [0, 1, 2] && ends.count <= 4)
    }

    @Test("the link may be lost instead of any answer", arguments: replies)
    func linkLostAtReply(number: Int) {
        let fault = Fault.disconnect(FaultPlace(.reply, number), after: .zero)
        var bench = Bench(Sample.smallBlocks(), faults: [fault])
        let report = bench.update(Self.image)
        let isLast = number == Sample.repliesToThreeSmallBlocks
        #expect(report.isDecidedAfterwards == isLast)
        expectInstalled(bench, report, links: isLast ? 1 : 2)
        let ends = bench.frames.filter { $0[1] == 0xA3 }.map { Int($0[3]) }
        #expect(ends == [0, 1, 2], "a block that the band took is not sent again")
    }

    @Test("the link may be lost with any byte", arguments: Array(stride(from: 1, through: 300, by: 7)))
    func linkLostAtByte(byte: Int) {
        var bench = Bench(Sample.smallBlocks(), faults: [.disconnectAtByte(byte)])
        let report = bench.update(Self.image)
        #expect(report.result == .success(.accepted))
        #expect(bench.memory.image == Self.image.bytes)
    }

    @Test func aLostLinkEndsTheValue() {
        var bench = Bench(Sample.smallBlocks(), faults: [.disconnect(FaultPlace(.frame, 5), after: .zero)])
        bench.connect()
        var transfer = BlockAck.Transfer(
            Self.image, by: Sample.smallBlocks().profile.blockAck, maximumWriteLength: 20)
        #expect(
            bench.run(&transfer)
                == .failure(
                    ProcedureError(.linkLost, message: "the link was lost at data; move closer and try again")))
    }

    @Test func aLostLinkLengthensAnAdaptiveGap() {
        let settings = Sample.smallBlocks { $0.profile.blockAck.gap = .adaptive(from: .milliseconds(20)) }
        var bench = Bench(settings, faults: [.disconnect(FaultPlace(.frame, 9), after: .zero)])
        let report = bench.update(Sample.image(64 * 6))
        #expect(report.result == .success(.accepted))
        #expect(report.links == 2)
        // 20 ms worked, none failed: 20 again, then half of it for each of the four further blocks.
        #expect(report.learnt.pace?.gap == .microseconds(1250))
    }

    // MARK: Reboots

    @Test("a reboot at any frame, with the blocks kept or lost", arguments: frames, [true, false])
    func reboot(number: Int, keepsBlocks: Bool) {
        let fault = Fault.reboot(FaultPlace(.frame, number), keepsBlocks: keepsBlocks, offAir: .seconds(3))
        var bench = Bench(Sample.smallBlocks(), faults: [fault])
        let report = bench.update(Self.image)
        if number == Sample.framesOfThreeSmallBlocks, !keepsBlocks {
            // `complete` was written and the band has nothing left: nobody can say that it runs.
            #expect(report.result == .failure(unconfirmed("it asks for block 1 of 3")))
            #expect(bench.frames.last == [0x1B, 0xA5, 0x40])
            #expect(bench.memory.reception == nil)
        } else {
            expectInstalled(bench, report, links: number == Sample.framesOfThreeSmallBlocks ? 1 : 2)
        }
    }

    /// Runs a transfer on one link to a band that forgets its blocks, unnoticed, before some writes, and to others
    /// answers that the block does not match.
    private func transfer(forgetting: Set<Int>, refusing: Set<Int> = []) -> (
        transfer: BlockAck.Transfer, result: Result<BlockAck.Transfer.Outcome, ProcedureError>, band: Band,
        progress: [Int]
    ) {
        var band = Band(Sample.smallBlocks())
        var transfer = BlockAck.Transfer(
            Self.image, by: Sample.smallBlocks().profile.blockAck, maximumWriteLength: 20)
        let mismatch = BlockAck.Reply.block(.blockMismatch, index: nil, firstMissing: nil)
        let refusal = [
            DeviceAction.notify(
                mismatch.encoded(by: BlockAck.Parameters()), from: DeviceProfile.band.reply, after: .zero)
        ]
        var writes = 0
        var progress: [Int] = []
        while true {
            switch transfer.next() {
            case .write(let bytes, _):
                writes += 1
                if forgetting.contains(writes) { band.restart(keepingBlocks: false) }
                let isRefused = refusing.contains(writes)
                let actions = isRefused ? refusal : band.written(bytes, to: Band.Settings().profile.command)
                transfer.receive(.written)
                for case .notify(let bytes, _, _) in actions { transfer.receive(.notification(bytes, from: .reply)) }
            case .wait:
                transfer.receive(.timeout)
            case .finish(let result):
                return (transfer, result, band, progress)
            }
            progress.append(transfer.progress.bytes)
        }
    }

    @Test(
        "blocks that the band lost are sent again, and the progress stands still meanwhile",
        arguments: [
            ([7], 1, 3), ([13], 1, 4), ([17], 1, 5), ([18], 1, 5), ([19], 1, 6),
            // Once in the third block, and once more before it is there again.
            ([18, 30], 2, 6),
        ] as [(Set<Int>, Int, Int)])
    func blocksLostOnTheSameLink(forgetting: Set<Int>, resyncs: Int, acknowledged: Int) {
        var (transfer, result, band, progress) = transfer(forgetting: forgetting)
        #expect(result == .success(.accepted))
        #expect(progress == progress.sorted())
        #expect(progress.contains(64))
        #expect(transfer.statistics.resyncs == resyncs)
        #expect(transfer.statistics.blocksAcknowledged == acknowledged)
        band.rebooted()
        #expect(band.memory.image == Self.image.bytes)
        #expect(!transfer.takeLog().isEmpty)
    }

    @Test func aBlockThatWasAcknowledgedIsSentAnewAsOftenAsAnyOther() {
        // Refused twice, there, lost at the second block's end, and refused twice again.
        let (_, result, _, _) = transfer(forgetting: [25], refusing: [7, 13, 32, 38])
        #expect(result == .success(.accepted))
    }

    @Test func aBandThatLosesItsBlocksAgainAndAgainIsGivenUpOn() {
        // In the third block, then twice in the second, so that neither is asked about too often.
        let (transfer, result, _, _) = transfer(forgetting: [18, 31, 44])
        #expect(
            result
                == .failure(
                    ProcedureError(
                        .refused, reason: "blocksLost", deviceCode: 2,
                        message: "the device lost blocks that it had acknowledged, 3 times without a new one "
                            + "(wrong state (status 02)); restart it and try again")))
        #expect(transfer.statistics.resyncs == 3)
    }

    private func unconfirmed(_ finding: String) -> ProcedureError {
        ProcedureError(
            .unconfirmed,
            message: "all was sent, but nothing shows that the device runs the new firmware (\(finding)); "
                + "look at its version before you try again")
    }

    // MARK: Silence

    @Test("a band that falls silent at any frame for 8 s", arguments: frames)
    func silence(number: Int) {
        let fault = Fault.silence(FaultPlace(.frame, number), lasting: .seconds(8))
        var bench = Bench(Sample.smallBlocks(), faults: [fault])
        let report = bench.update(Self.image)
        expectInstalled(bench, report)
    }

    @Test("a band that falls silent for ever is given up on", arguments: frames)
    func silenceForEver(number: Int) {
        var bench = Bench(Sample.smallBlocks(), faults: [.silence(FaultPlace(.frame, number), lasting: nil)])
        let report = bench.update(Self.image)
        if number == Sample.framesOfThreeSmallBlocks {
            #expect(report.result == .failure(unconfirmed("it does not answer")))
        } else {
            #expect(
                report.result
                    == .failure(
                        ProcedureError(
                            .silent, reason: "noAnswer",
                            message: "the device did not answer start within 30.0 seconds in each of 3 sends; "
                                + "move closer and try again")))
        }
    }

    // MARK: The user's stop

    @Test(
        "a stop at any write tells the band and is out in three writes", arguments: frames,
        [
            Bench.Stop.before, Bench.Stop.during, Bench.Stop.after,
        ].indices)
    func stop(number: Int, kind: Int) {
        let stop = [Bench.Stop.before, Bench.Stop.during, Bench.Stop.after][kind](number)
        var bench = Bench(Sample.smallBlocks())
        bench.stop = stop
        let before = Bench.Stop.before(write: number) == stop
        let report = bench.update(Self.image)
        let written = before ? number - 1 : number
        let spent = bench.now
        bench.settle()
        switch written {
        case 0:
            #expect(
                report.result
                    == .failure(ProcedureError(.aborted, message: "stopped: nothing was changed on the device")))
            #expect(bench.frames.isEmpty)
        case Sample.framesOfThreeSmallBlocks:
            // The verdict was asked for: nothing is said any more, and the band goes on with what it got.
            #expect(report.result == .failure(.stoppedAfterComplete))
            #expect(bench.frames.count == written)
            #expect(bench.memory.image == Self.image.bytes)
        default:
            #expect(
                report.result
                    == .failure(
                        ProcedureError(
                            .aborted,
                            message:
                                "stopped: the device has dropped the update, and goes on with the firmware that it runs"
                        )))
            #expect(bench.frames.count == written + 1)
            #expect(bench.frames.last == [0x1B, 0xA5, 0x40])
            #expect(bench.memory.reception == nil)
            #expect(bench.memory.image.isEmpty)
            #expect(spent < .seconds(3))
        }
    }

    @Test func anAbortThatIsNotAnsweredIsWaitedForBriefly() {
        var bench = Bench(Sample.smallBlocks(), faults: [.silence(FaultPlace(.frame, 4), lasting: nil)])
        bench.stop = .after(write: 4)
        let report = bench.update(Self.image)
        #expect(
            report.result
                == .failure(
                    ProcedureError(
                        .aborted,
                        message: "stopped: the device did not confirm it, and goes on with the firmware that it runs")))
        #expect(bench.now == .milliseconds(2 * 20 + 300))
    }
}
