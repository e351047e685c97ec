import DFUSimulator
import DFUTransport
import Testing

@testable import DFUProtocol

/// The procedures of one question: battery, time, and what became of an image.
@Suite struct BlockAckQuestionTests {
    private static let parameters = BlockAck.Parameters()

    // MARK: Battery

    private func battery(_ settings: Band.Settings = Band.Settings(), faults: [Fault] = [])
        -> (Result<BlockAck.BatteryLevel, ProcedureError>, Bench)
    {
        var bench = Bench(settings, faults: faults)
        bench.connect()
        var query = BlockAck.BatteryQuery(by: Self.parameters)
        #expect(query.phase == .check)
        return (bench.run(&query), bench)
    }

    private static let notBlockAck = ProcedureError(
        .refused, reason: "notBlockAck",
        message: "the device does not answer as a block-ack device; name the right device, or a profile made for it")

    @Test(
        "the level in percent",
        arguments: [
            (0, .percent(0)), (8, .percent(80)), (10, .percent(100)), (11, .unknown),
        ] as [(UInt8, BlockAck.BatteryLevel)])
    func level(tenths: UInt8, level: BlockAck.BatteryLevel) {
        let (result, bench) = battery(faults: [.battery(tenths: tenths)])
        #expect(result == .success(level))
        #expect(bench.frames == [[0x1B, 0x99, 0x01, 0x4B]])
    }

    @Test func aDeviceThatDoesNotKnowTheQuestionIsProvenNevertheless() {
        #expect(battery(faults: [.battery(tenths: nil)]).0 == .success(.unknown))
    }

    @Test(
        "one answer that is lost or damaged does no harm",
        arguments: [
            Fault.drop(FaultPlace(.reply, 1)), .damage(FaultPlace(.reply, 1), byte: nil), .drop(FaultPlace(.frame, 1)),
            .damage(FaultPlace(.frame, 1), byte: nil), .status(FaultPlace(.frame, 1, of: .battery), .busy),
            .status(FaultPlace(.frame, 1, of: .battery), .badFrameChecksum),
        ])
    func repaired(fault: Fault) {
        let (result, bench) = battery(faults: [fault])
        #expect(result == .success(.percent(80)))
        #expect(bench.frames.count == 2)
    }

    @Test func aSilentDeviceIsNoBlockAckDevice() {
        let (result, bench) = battery(faults: [.silence(FaultPlace(.frame, 1), lasting: nil)])
        #expect(result == .failure(Self.notBlockAck))
        #expect(bench.frames == [[0x1B, 0x99, 0x01, 0x4B], [0x1B, 0x99, 0x01, 0x4B]])
        #expect(bench.now == .seconds(10))
    }

    @Test func aDeviceThatAnswersSomethingElseIsNoBlockAckDevice() {
        var query = BlockAck.BatteryQuery(by: Self.parameters)
        for _ in 0..<2 {
            guard case .write = query.next() else {
                Issue.record("a question is due")
                return
            }
            query.receive(.written)
            let wait = query.next()
            query.receive(.notification(Array("Mi Band".utf8), from: .reply))
            #expect(query.next() == wait)
            query.receive(.timeout)
        }
        #expect(query.next() == .finish(.failure(Self.notBlockAck)))
        #expect(query.takeLog().count == 2)
    }

    @Test func aDeviceThatTakesNoWriteIsNoBlockAckDevice() {
        var query = BlockAck.BatteryQuery(by: Self.parameters)
        for _ in 0..<2 {
            _ = query.next()
            query.receive(.writeFailed(WriteFailure(attCode: 3, message: "writing is not permitted")))
        }
        #expect(query.next() == .finish(.failure(Self.notBlockAck)))
    }

    @Test(
        "other statuses are refusals",
        arguments: [
            (0x02, .refused, "wrongState", 1), (0x03, .silent, "frameDamaged", 2),
            (0x42, .refused, "unexpectedStatus", 1),
        ] as [(UInt8, ProcedureError.Code, String, Int)])
    func batteryStatus(code: UInt8, end: ProcedureError.Code, reason: String, sends: Int) {
        let status = BlockAck.Status(rawValue: code)
        let (result, bench) = battery(faults: [.status(FaultPlace(.frame, 1, of: .battery, count: .max), status)])
        guard case .failure(let error) = result else {
            Issue.record("it must fail")
            return
        }
        #expect(error.code == end)
        #expect(error.reason == reason)
        #expect(error.deviceCode == Int(code))
        #expect(bench.frames.count == sends)
    }

    @Test func aStopAndALostLinkEndTheQuestion() {
        var stopped = BlockAck.BatteryQuery(by: Self.parameters)
        _ = stopped.next()
        stopped.receive(.written)
        stopped.receive(.abort)
        #expect(
            stopped.next()
                == .finish(.failure(ProcedureError(.aborted, message: "stopped: nothing was changed on the device"))))
        var lost = BlockAck.BatteryQuery(by: Self.parameters)
        _ = lost.next()
        lost.receive(.disconnected)
        #expect(
            lost.next()
                == .finish(
                    .failure(
                        ProcedureError(.linkLost, message: "the link was lost at battery; move closer and try again"))))
    }

    // MARK: Time

    private static let time = BlockAck.PackedTime(rawValue: 0x8E69_CF20)

    private func setTime(_ settings: Band.Settings = Band.Settings(), faults: [Fault] = [])
        -> (Result<BlockAck.SetTime.Outcome, ProcedureError>, Bench)
    {
        var bench = Bench(settings, faults: faults)
        bench.connect()
        var procedure = BlockAck.SetTime(Self.time, by: Self.parameters)
        return (bench.run(&procedure), bench)
    }

    @Test func theTimeIsSet() {
        let (result, bench) = setTime()
        #expect(result == .success(.set))
        #expect(bench.band.band.clock == Self.time)
        #expect(bench.frames == [[0x1B, 0x9A, 0x8E, 0x69, 0xCF, 0x20, 0x65]])
    }

    @Test func aDeviceWithoutAClockIsLeftAlone() {
        var settings = Band.Settings()
        settings.knowsTime = false
        #expect(setTime(settings).0 == .success(.leftOut))
    }

    @Test(
        "the time's other ends",
        arguments: [
            (0x02, .refused, "wrongState", 1), (0x03, .silent, "frameDamaged", 3), (0x0B, .silent, "busy", 20),
            (0x99, .refused, "unexpectedStatus", 1),
        ] as [(UInt8, ProcedureError.Code, String, Int)])
    func timeStatus(code: UInt8, end: ProcedureError.Code, reason: String, sends: Int) {
        let status = BlockAck.Status(rawValue: code)
        let (result, bench) = setTime(faults: [.status(FaultPlace(.frame, 1, of: .setTime, count: .max), status)])
        guard case .failure(let error) = result else {
            Issue.record("it must fail")
            return
        }
        #expect(error.code == end)
        #expect(error.reason == reason)
        #expect(bench.frames.count == sends)
    }

    @Test func aSilentClockIsGivenUpOn() {
        let (result, bench) = setTime(faults: [.drop(FaultPlace(.reply, 1, count: .max))])
        #expect(
            result
                == .failure(
                    ProcedureError(
                        .silent, reason: "noAnswer",
                        message: "the device did not answer setTime within 5.0 seconds in each of 3 sends; "
                            + "move closer and try again")))
        #expect(bench.now == .seconds(15))
    }

    // MARK: Completion

    private static let image = Sample.threeSmallBlocks

    /// A band that has all blocks, and then what the faults make of the rest.
    private func completion(faults: [Fault] = [], lostBlocks: Bool = false)
        -> (Result<BlockAck.Completion.Outcome, ProcedureError>, Bench)
    {
        var first = Bench(Sample.smallBlocks(), faults: [.drop(FaultPlace(.frame, 1, of: .complete))])
        first.connect()
        var transfer = BlockAck.Transfer(Self.image, by: Sample.smallBlocks().profile.blockAck, maximumWriteLength: 20)
        #expect(first.run(&transfer) == .success(.unanswered(linkLost: false)))
        var bench = Bench(Sample.smallBlocks(), memory: lostBlocks ? nil : first.memory, faults: faults)
        bench.connect()
        var completion = BlockAck.Completion(of: Self.image, by: Sample.smallBlocks().profile.blockAck)
        #expect(completion.phase == .verify)
        return (bench.run(&completion), bench)
    }

    private func unconfirmed(_ finding: String, code: Int? = nil) -> Result<BlockAck.Completion.Outcome, ProcedureError>
    {
        .failure(
            ProcedureError(
                .unconfirmed, deviceCode: code,
                message: "all was sent, but nothing shows that the device runs the new firmware (\(finding)); "
                    + "look at its version before you try again"))
    }

    @Test func aBandThatHasAllBlocksIsAskedForItsVerdict() {
        let (result, bench) = completion()
        #expect(result == .success(.accepted))
        #expect(bench.frames.map { $0[1] } == [0xA0, 0xA4])
    }

    @Test func aBandThatMissesOnlyTheLastBlockIsNotAskedForItsVerdict() {
        var first = Bench(
            Sample.smallBlocks(), faults: [.disconnect(FaultPlace(.frame, 3, of: .blockHeader), after: .zero)])
        first.connect()
        var transfer = BlockAck.Transfer(Self.image, by: Sample.smallBlocks().profile.blockAck, maximumWriteLength: 20)
        _ = first.run(&transfer)
        var bench = Bench(Sample.smallBlocks(), memory: first.memory)
        bench.connect()
        var completion = BlockAck.Completion(of: Self.image, by: Sample.smallBlocks().profile.blockAck)
        #expect(bench.run(&completion) == unconfirmed("it asks for block 3 of 3"))
        #expect(bench.frames.map { $0[1] } == [0xA0, 0xA5])
    }

    @Test func aSessionThatWasOpenedIsEnded() {
        let (result, bench) = completion(lostBlocks: true)
        #expect(result == unconfirmed("it asks for block 1 of 3"))
        #expect(bench.frames.map { $0[1] } == [0xA0, 0xA5])
        #expect(bench.memory.reception == nil)
    }

    @Test(
        "what leaves it open",
        arguments: [
            ([Fault.status(FaultPlace(.frame, 1), .versionNotNewer)], "it answered start with version not newer", 5, 0),
            ([.drop(FaultPlace(.reply, 1))], "it does not answer", nil, 0),
            ([.disconnect(FaultPlace(.reply, 1), after: .zero)], "the link was lost", nil, 0),
            ([.disconnect(FaultPlace(.reply, 2), after: .zero)], "the link was lost", nil, 1),
            ([.drop(FaultPlace(.frame, 2))], "it does not answer", nil, 1),
        ] as [([Fault], String, Int?, Int)])
    func open(faults: [Fault], finding: String, code: Int?, completes: Int) {
        let faults = faults.map { fault -> Fault in
            guard case .status(_, let status) = fault else { return fault }
            return .status(FaultPlace(.frame, 1, of: .start), status)
        }
        let (result, bench) = completion(faults: faults)
        #expect(result == unconfirmed(finding, code: code))
        #expect(bench.frames.map { $0[1] } == [0xA0] + Array(repeating: 0xA4, count: completes))
    }

    @Test(
        "the verdict's other ends",
        arguments: [
            (0x01, .refused, "unsupportedCommand"), (0x02, .refused, "wrongState"), (0x09, .refused, "imageRejected"),
            (0x0A, .refused, "flashWriteFailed"), (0x77, .refused, "unexpectedStatus"),
        ] as [(UInt8, ProcedureError.Code, String)])
    func verdict(code: UInt8, end: ProcedureError.Code, reason: String) {
        let fault = Fault.status(FaultPlace(.frame, 1, of: .complete), BlockAck.Status(rawValue: code))
        guard case .failure(let error) = completion(faults: [fault]).0 else {
            Issue.record("it must fail")
            return
        }
        #expect(error.code == end)
        #expect(error.reason == reason)
    }

    @Test(
        "a damaged or busy moment does no harm", arguments: [BlockAck.Command.start, .complete],
        [0x03, 0x0B] as [UInt8])
    func repairedCompletion(command: BlockAck.Command, code: UInt8) {
        let fault = Fault.status(FaultPlace(.frame, 1, of: command), BlockAck.Status(rawValue: code))
        #expect(completion(faults: [fault]).0 == .success(.accepted))
    }

    @Test func aStopSaysNothingToTheDevice() {
        var completion = BlockAck.Completion(of: Self.image, by: Self.parameters)
        _ = completion.next()
        completion.receive(.abort)
        completion.receive(.written)
        #expect(completion.next() == .finish(.failure(.stoppedAfterComplete)))
    }
}
