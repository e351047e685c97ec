import DFUSimulator
import DFUTransport
import Testing

@testable import DFUProtocol

/// Each status to each command comes to the one end that the protocol's table names.
@Suite struct BlockAckTransferStatusTests {
    private static let image = Sample.threeSmallBlocks

    private func update(
        _ status: BlockAck.Status, to command: BlockAck.Command, number: Int = 1, count: Int, tries: Int = 3
    ) -> (bench: Bench, report: Bench.Report) {
        let settings = Sample.smallBlocks { $0.profile.blockAck.tries = tries }
        let fault = Fault.status(FaultPlace(.frame, number, of: command, count: count), status)
        var bench = Bench(settings, faults: [fault])
        let report = bench.update(Self.image)
        return (bench, report)
    }

    private func error(_ report: Bench.Report) -> ProcedureError? {
        guard case .failure(let error) = report.result else { return nil }
        return error
    }

    private struct End: Sendable {
        var command: BlockAck.Command
        var status: BlockAck.Status
        var code: ProcedureError.Code
        var reason: String
        /// Frames of that command until the end.
        var sends: Int

        init(
            _ command: BlockAck.Command, _ status: UInt8, _ code: ProcedureError.Code, _ reason: String, sends: Int = 1
        ) {
            self.command = command
            self.status = BlockAck.Status(rawValue: status)
            self.code = code
            self.reason = reason
            self.sends = sends
        }
    }

    private static let ends = [
        End(.start, 0x01, .refused, "unsupportedCommand"),
        End(.start, 0x02, .refused, "wrongState", sends: 3),
        End(.start, 0x03, .silent, "frameDamaged", sends: 3),
        End(.start, 0x04, .refused, "imageTooLarge"),
        End(.start, 0x05, .refused, "versionNotNewer"),
        End(.start, 0x06, .refused, "batteryLow"),
        End(.start, 0x07, .refused, "unexpectedStatus"),
        End(.start, 0x08, .refused, "unexpectedStatus"),
        End(.start, 0x09, .refused, "imageRejected"),
        End(.start, 0x0A, .refused, "flashWriteFailed"),
        End(.start, 0x0B, .silent, "busy", sends: 20),
        End(.start, 0x7F, .refused, "unexpectedStatus"),
        End(.blockEnd, 0x01, .refused, "unsupportedCommand"),
        End(.blockEnd, 0x02, .refused, "wrongState", sends: 3),
        End(.blockEnd, 0x03, .silent, "frameDamaged", sends: 3),
        End(.blockEnd, 0x04, .refused, "imageTooLarge"),
        End(.blockEnd, 0x05, .refused, "versionNotNewer"),
        End(.blockEnd, 0x06, .refused, "batteryLow"),
        End(.blockEnd, 0x07, .refused, "blockRejected", sends: 3),
        End(.blockEnd, 0x08, .refused, "blockRejected", sends: 3),
        End(.blockEnd, 0x09, .refused, "imageRejected"),
        End(.blockEnd, 0x0A, .refused, "flashWriteFailed"),
        End(.blockEnd, 0x0B, .silent, "busy", sends: 20),
        End(.blockEnd, 0xC0, .refused, "unexpectedStatus"),
        End(.complete, 0x01, .refused, "unsupportedCommand"),
        End(.complete, 0x02, .refused, "wrongState", sends: 2),
        End(.complete, 0x03, .silent, "frameDamaged", sends: 3),
        End(.complete, 0x04, .refused, "imageTooLarge"),
        End(.complete, 0x05, .refused, "versionNotNewer"),
        End(.complete, 0x06, .refused, "batteryLow"),
        End(.complete, 0x07, .refused, "unexpectedStatus"),
        End(.complete, 0x08, .refused, "unexpectedStatus"),
        End(.complete, 0x09, .refused, "imageRejected"),
        End(.complete, 0x0A, .refused, "flashWriteFailed"),
        End(.complete, 0x0B, .silent, "busy", sends: 20),
        End(.complete, 0xFF, .refused, "unexpectedStatus"),
    ]

    @Test("a status that stays", arguments: ends)
    private func lasting(end: End) {
        let (bench, report) = update(end.status, to: end.command, count: .max)
        let error = error(report)
        #expect(error?.code == end.code)
        #expect(error?.reason == end.reason)
        #expect(error?.deviceCode == Int(end.status.rawValue))
        #expect(error?.message.contains("(status \(end.status.rawValue.hexadecimal))") == true)
        let opcode = BlockAck.Parameters().opcodes[end.command]
        #expect(bench.frames.filter { $0[1] == opcode }.count == end.sends)
        #expect(bench.memory.image.isEmpty)
    }

    @Test(
        "a status that is repaired",
        arguments: [
            (.start, 0x02), (.start, 0x03), (.start, 0x0B), (.blockEnd, 0x02), (.blockEnd, 0x03), (.blockEnd, 0x07),
            (.blockEnd, 0x08), (.blockEnd, 0x0B), (.complete, 0x02), (.complete, 0x03), (.complete, 0x0B),
        ] as [(BlockAck.Command, UInt8)], [1, 2])
    private func passing(what: (command: BlockAck.Command, code: UInt8), count: Int) {
        let (bench, report) = update(BlockAck.Status(rawValue: what.code), to: what.command, count: count)
        if what == (.complete, 0x02), count == 2 {
            // Once only after `complete`.
            #expect(error(report)?.reason == "wrongState")
        } else {
            #expect(report.result == .success(.accepted))
            let isSame = bench.memory.image == Self.image.bytes
            #expect(isSame)
        }
    }

    @Test(
        "with one try the first error ends the update",
        arguments: [
            (.start, 0x02, .refused, "wrongState"), (.start, 0x03, .silent, "frameDamaged"),
            (.start, 0x0B, .silent, "busy"),
            (.blockEnd, 0x02, .refused, "wrongState"), (.blockEnd, 0x03, .silent, "frameDamaged"),
            (.blockEnd, 0x07, .refused, "blockRejected"), (.blockEnd, 0x08, .refused, "blockRejected"),
            (.blockEnd, 0x0B, .silent, "busy"), (.complete, 0x02, .refused, "wrongState"),
            (.complete, 0x03, .silent, "frameDamaged"), (.complete, 0x0B, .silent, "busy"),
        ] as [(BlockAck.Command, UInt8, ProcedureError.Code, String)])
    private func oneTry(command: BlockAck.Command, code: UInt8, end: ProcedureError.Code, reason: String) {
        let (bench, report) = update(BlockAck.Status(rawValue: code), to: command, count: 1, tries: 1)
        #expect(error(report)?.code == end)
        #expect(error(report)?.reason == reason)
        #expect(bench.frames.last?[1] == BlockAck.Parameters().opcodes[command], "nothing is written after it")
    }

    @Test(
        "with one try silence ends the update",
        arguments: [
            (.start, .seconds(30)), (.blockEnd, .milliseconds(20 * 5 + 20_000)),
        ] as [(BlockAck.Command, Duration)])
    private func oneTrySilence(command: BlockAck.Command, spent: Duration) {
        let settings = Sample.smallBlocks { $0.profile.blockAck.tries = 1 }
        var bench = Bench(settings, faults: [.drop(FaultPlace(.reply, 1, of: command))])
        let report = bench.update(Self.image)
        #expect(error(report)?.code == .silent)
        #expect(error(report)?.reason == "noAnswer")
        #expect(bench.now == spent)
        #expect(bench.frames.last?[1] == BlockAck.Parameters().opcodes[command])
    }

    // MARK: Busy

    @Test func aBusyBandIsAskedAgainAfterADoublingWait() {
        let (bench, report) = update(.busy, to: .start, count: 6)
        #expect(report.result == .success(.accepted))
        #expect(report.statistics.busyReplies == 6)
        // 0.25 + 0.5 + 1 + 2 + 4 + 4 s, then the update itself.
        #expect(bench.now == .milliseconds(11_750 + 14 * 20 + 100 + 2000))
    }

    @Test(
        "a band that stays busy is waited for for 60 s",
        arguments: [
            (.start, 0), (.blockEnd, 5), (.complete, 14),
        ] as [(BlockAck.Command, Int)])
    private func busy(command: BlockAck.Command, gaps: Int) {
        let (bench, report) = update(.busy, to: command, count: .max)
        #expect(error(report)?.reason == "busy")
        #expect(bench.now == .seconds(60) + .milliseconds(20 * gaps))
    }

    @Test func onlyTheBlocksEndIsRepeatedToABusyBand() {
        let (bench, report) = update(.busy, to: .blockEnd, number: 2, count: 2)
        #expect(report.result == .success(.accepted))
        #expect(bench.frames.filter { $0[1] == 0xA1 }.count == 3)
        #expect(bench.frames.filter { $0[1] == 0xA3 }.count == 5)
    }

    @Test func busyInARowIsCountedAnewAfterAnotherAnswer() {
        // 55.75 s twice, with an answer between them.
        let faults = [1, 2].map {
            Fault.status(FaultPlace(.frame, ($0 - 1) * 18 + $0, of: .blockEnd, count: 17), .busy)
        }
        var bench = Bench(Sample.smallBlocks(), faults: faults)
        #expect(bench.update(Self.image).result == .success(.accepted))
        #expect(bench.now > .seconds(2 * 51))
    }

    // MARK: Blocks

    @Test func thePacketsAreHalvedAfterTwoRefusalsAndStayShort() {
        var settings = Band.Settings()
        settings.packetLimit = 244
        let fault = Fault.status(FaultPlace(.frame, 2, of: .blockEnd, count: 2), .packetsMissing)
        var bench = Bench(settings, faults: [fault])
        let report = bench.update(Sample.image(3 * 2048), maximumWriteLength: 244)
        #expect(report.result == .success(.accepted))
        #expect(report.learnt.dataLength == 112)
        let data = bench.frames.filter { $0[1] == 0xA2 }.map(\.count)
        // 8 packets of 240 and one of 128, three times; then 18 of 112 and one of 32, twice.
        let long = Array(repeating: 244, count: 8) + [132]
        let short = Array(repeating: 116, count: 18) + [36]
        #expect(data == long + long + long + short + short)
    }

    @Test func packetsAreNotHalvedUnderSixteenBytes() {
        let (bench, report) = update(.blockMismatch, to: .blockEnd, count: 2)
        #expect(report.result == .success(.accepted))
        #expect(report.learnt.dataLength == 16)
        #expect(bench.frames.filter { $0[1] == 0xA2 }.map(\.count).max() == 20)
    }

    @Test func packetsAreNotHalvedBelowWhatTheSequenceNumberCounts() {
        var settings = Band.Settings()
        settings.profile.blockAck.blockSize = 8192
        settings.profile.blockAck.packetSize = 40
        settings.packetLimit = 40
        let fault = Fault.status(FaultPlace(.frame, 1, of: .blockEnd, count: 2), .blockMismatch)
        var bench = Bench(settings, faults: [fault])
        let report = bench.update(Sample.image(8192), maximumWriteLength: 40)
        #expect(report.result == .success(.accepted))
        #expect(report.learnt.dataLength == 32, "8192 bytes in 256 packets")
    }

    @Test func aBlocksTroubleIsForgottenWithTheBlock() {
        // Two refusals of each block: none is refused three times.
        let faults = [1, 4, 7].map { Fault.status(FaultPlace(.frame, $0, of: .blockEnd, count: 2), .blockMismatch) }
        var bench = Bench(Sample.smallBlocks(), faults: faults)
        let report = bench.update(Self.image)
        #expect(report.result == .success(.accepted))
        #expect(report.statistics.retries == 6)
    }

    @Test func theLastTroubleWithABlockNamesTheEnd() {
        let faults = [
            Fault.status(FaultPlace(.frame, 1, of: .blockEnd, count: 2), .blockMismatch),
            .silence(FaultPlace(.frame, 3, of: .blockEnd), lasting: .seconds(20)),
        ]
        var bench = Bench(Sample.smallBlocks(), faults: faults)
        let report = bench.update(Self.image)
        #expect(error(report)?.code == .silent)
        #expect(error(report)?.reason == "noAnswer")
    }

    @Test func missingPacketsLengthenAnAdaptiveGap() {
        let settings = Sample.smallBlocks { $0.profile.blockAck.gap = .adaptive(from: .milliseconds(20)) }
        let fault = Fault.drop(FaultPlace(.frame, 2, of: .data))
        var bench = Bench(settings, faults: [fault])
        let report = bench.update(Sample.image(64))
        #expect(report.result == .success(.accepted))
        // 20 ms failed: 40 worked, and half of it failed before.
        #expect(report.learnt.pace?.gap == .milliseconds(40))
    }

    @Test func aBlockThatNeverArrivedLengthensAnAdaptiveGap() {
        let settings = Sample.smallBlocks { $0.profile.blockAck.gap = .adaptive(from: .milliseconds(20)) }
        let fault = Fault.drop(FaultPlace(.frame, 1, of: .blockEnd))
        var bench = Bench(settings, faults: [fault])
        let report = bench.update(Sample.image(64))
        #expect(report.result == .success(.accepted))
        #expect(report.learnt.pace?.gap == .milliseconds(40))
    }

    @Test func anAnswerThatWasLostLeavesAnAdaptiveGapAlone() {
        let settings = Sample.smallBlocks { $0.profile.blockAck.gap = .adaptive(from: .milliseconds(20)) }
        let fault = Fault.drop(FaultPlace(.reply, 1, of: .blockEnd))
        var bench = Bench(settings, faults: [fault])
        let report = bench.update(Sample.image(64))
        #expect(report.result == .success(.accepted))
        #expect(report.learnt.pace?.gap == .zero)
    }

    @Test func aFixedGapStays() {
        let fault = Fault.drop(FaultPlace(.frame, 2, of: .data))
        var bench = Bench(Sample.smallBlocks(), faults: [fault])
        let report = bench.update(Sample.image(64))
        #expect(report.result == .success(.accepted))
        #expect(report.learnt.pace == nil)
        #expect(bench.now == .milliseconds(2 * 5 * 20 + 100 + 2000))
    }

    // MARK: The answer to start

    @Test func aBlockThatTheImageDoesNotHaveIsRefused() {
        var transfer = BlockAck.Transfer(Self.image, by: Sample.smallBlocks().profile.blockAck, maximumWriteLength: 20)
        let reply = BlockAck.Reply.started(next: 4, packetLimit: 20).encoded(by: BlockAck.Parameters())
        _ = transfer.next()
        transfer.receive(.written)
        transfer.receive(.notification(reply, from: .reply))
        #expect(
            transfer.next()
                == .finish(
                    .failure(
                        ProcedureError(
                            .refused, reason: "blockOutOfRange",
                            message: "the device asks for block 5 of an image of 3; restart the device and try again")))
        )
    }

    @Test func anImageThatIsAllThereNeedsOnlyComplete() {
        var bench = Bench(Sample.smallBlocks(), faults: [.drop(FaultPlace(.frame, 1, of: .complete))])
        bench.connect()
        var first = BlockAck.Transfer(Self.image, by: Sample.smallBlocks().profile.blockAck, maximumWriteLength: 20)
        #expect(bench.run(&first) == .success(.unanswered(linkLost: false)))
        var second = BlockAck.Transfer(Self.image, by: Sample.smallBlocks().profile.blockAck, maximumWriteLength: 20)
        #expect(bench.run(&second) == .success(.accepted))
        #expect(bench.frames.suffix(2).map { $0[1] } == [0xA0, 0xA4])
        #expect(second.statistics.blocksAcknowledged == 0)
    }

    // MARK: An answer to complete that comes before its write is reported as done

    @Test(
        "an early verdict counts when the link is lost, or the user stops, right behind it",
        arguments: [
            (0x00, Event.disconnected, .success(.accepted)),
            (0x00, .abort, .success(.accepted)),
            (0x09, .disconnected, .failure("imageRejected")),
            (0x09, .abort, .failure("imageRejected")),
            (0x0B, .disconnected, .success(.unanswered(linkLost: true))),
            (0x0B, .abort, .failure("stoppedAfterComplete")),
            (0x02, .disconnected, .success(.unanswered(linkLost: true))),
        ] as [(UInt8, Event, Result<BlockAck.Transfer.Outcome, Reason>)])
    func earlyVerdict(code: UInt8, event: Event, end: Result<BlockAck.Transfer.Outcome, Reason>) {
        var transfer = BlockAck.Transfer(Self.image, by: Sample.smallBlocks().profile.blockAck, maximumWriteLength: 20)
        let started = BlockAck.Reply.started(next: 3, packetLimit: 20).encoded(by: BlockAck.Parameters())
        let verdict = BlockAck.Reply.status(.init(rawValue: code), of: .complete).encoded(by: BlockAck.Parameters())
        _ = transfer.next()
        transfer.receive(.written)
        transfer.receive(.notification(started, from: .reply))
        let step = transfer.next()
        #expect(step == .write(BlockAck.Request.complete(crc32: Self.image.crc32).encoded(by: .init()), to: .command))
        transfer.receive(.notification(verdict, from: .reply))
        #expect(transfer.next() == step, "the write is still under way")
        transfer.receive(event)
        if event == .abort { transfer.receive(.written) }
        guard case .finish(let result) = transfer.next() else {
            Issue.record("it must be over")
            return
        }
        #expect(result.mapError { Reason(stringLiteral: $0.reason ?? "none") } == end)
    }

    @Test func aLinkThatIsLostBeforeCompleteIsHandedOutIsAnOrdinaryLoss() {
        var transfer = BlockAck.Transfer(Self.image, by: Sample.smallBlocks().profile.blockAck, maximumWriteLength: 20)
        let started = BlockAck.Reply.started(next: 3, packetLimit: 20).encoded(by: BlockAck.Parameters())
        _ = transfer.next()
        transfer.receive(.written)
        transfer.receive(.notification(started, from: .reply))
        transfer.receive(.disconnected)
        #expect(
            transfer.next()
                == .finish(
                    .failure(
                        ProcedureError(.linkLost, message: "the link was lost at complete; move closer and try again")))
        )
    }

    // MARK: Writes that fail

    @Test(
        "a write that the device refuses is tried three times",
        arguments: [
            (0xA0, "start"), (0xA1, "block 1 of 1"), (0xA2, "block 1 of 1"), (0xA3, "block 1 of 1"),
            (0xA4, "complete"),
        ] as [(UInt8, String)])
    func writeFails(opcode: UInt8, what: String) {
        let failure = WriteFailure(attCode: 0x0E, message: "the device answered with an unlikely error")
        var transfer = BlockAck.Transfer(
            Sample.image(64), by: Sample.smallBlocks().profile.blockAck, maximumWriteLength: 20)
        var band = Band(Sample.smallBlocks())
        var failures = 0
        var result: Result<BlockAck.Transfer.Outcome, ProcedureError>?
        while result == nil {
            switch transfer.next() {
            case .write(let bytes, _) where bytes[1] == opcode:
                failures += 1
                transfer.receive(.writeFailed(failure))
            case .write(let bytes, _):
                let actions = band.written(bytes, to: Band.Settings().profile.command)
                transfer.receive(.written)
                for case .notify(let bytes, _, _) in actions { transfer.receive(.notification(bytes, from: .reply)) }
            case .wait: transfer.receive(.timeout)
            case .finish(let end): result = end
            }
        }
        #expect(failures == 3)
        #expect(
            result
                == .failure(
                    ProcedureError(
                        .refused, reason: "writeFailed", deviceCode: 0x0E,
                        message: "\(what) could not be written: \(failure.message)")))
    }

    @Test func aWriteThatFailsOnceIsRepaired() {
        var transfer = BlockAck.Transfer(Self.image, by: Sample.smallBlocks().profile.blockAck, maximumWriteLength: 20)
        let step = transfer.next()
        transfer.receive(.writeFailed(WriteFailure(message: "the queue is full")))
        #expect(transfer.next() == step)
        #expect(transfer.statistics.retries == 1)
    }

    // MARK: Answers that do not count

    @Test(
        "answers that are foreign, damaged or not awaited are dropped and counted",
        arguments: [
            ([0x56, 0xA0, 0x00, 0x00, 0x00, 0x14, 0xF7], "damaged"),
            ([0x1B, 0xA0, 0x00, 0x00, 0x00, 0x14, 0x31], "not a frame of this protocol"),
            ([0x56], "too short for a frame"),
            ([0x56, 0xA0, 0x00, 0x0A], "unknown, or of a wrong length"),
            ([0x56, 0xEE, 0x00, 0xBC], "unknown, or of a wrong length"),
            ([0x56, 0xA4, 0x00, 0x06], "nobody waits for it"),
            ([0x56, 0xA3, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0x09], "nobody waits for it"),
        ] as [([UInt8], String)])
    func dropped(bytes: [UInt8], why: String) {
        var transfer = BlockAck.Transfer(Self.image, by: Sample.smallBlocks().profile.blockAck, maximumWriteLength: 20)
        _ = transfer.next()
        transfer.receive(.written)
        let step = transfer.next()
        transfer.receive(.notification(bytes, from: .reply))
        #expect(transfer.next() == step, "the same wait, under the same number")
        #expect(transfer.statistics.droppedReplies == 1)
        #expect(transfer.takeLog() == ["dropped \(bytes.hexadecimal): \(why)"])
        #expect(transfer.takeLog() == [])
    }

    @Test func whatTheCommandsCharacteristicNotifiesIsDropped() {
        var transfer = BlockAck.Transfer(Self.image, by: Sample.smallBlocks().profile.blockAck, maximumWriteLength: 20)
        _ = transfer.next()
        transfer.receive(.written)
        transfer.receive(.notification([0x56, 0xA0, 0x00, 0x00, 0x00, 0x14, 0xF6], from: .command))
        #expect(transfer.statistics.droppedReplies == 1)
        #expect(transfer.phase == .prepare)
    }
}

/// A failure's reason.
struct Reason: Error, Equatable, ExpressibleByStringLiteral {
    let word: String

    init(stringLiteral word: String) {
        self.word = word
    }
}
