import DFUKit
import DFUSimulator
import Testing

/// Goes through a list of steps, one for each event; keeps the events.
private struct Script: Procedure {
    var steps: [Step<Int>]
    /// Where an abort goes on; nil for the next step.
    var abortIndex: Int?
    /// The notifications that are dropped begin with this byte.
    let dropped: UInt8 = 0xFF
    var endsWithTheLink = true
    var index = 0
    var events: [Event] = []
    var log: [String] = []
    var progress = Progress(bytes: 0, total: 100)
    var phase: Phase { index == 0 ? .prepare : .transfer }

    init(_ steps: [Step<Int>], abortIndex: Int? = nil) {
        self.steps = steps
        self.abortIndex = abortIndex
    }

    mutating func next() -> Step<Int> { steps[index] }

    mutating func receive(_ event: Event) {
        events.append(event)
        switch event {
        case .notification(let bytes, _) where bytes.first == dropped: log.append("dropped")
        case .notification(let bytes, _):
            progress.bytes += bytes.count
            index += 1
        case .disconnected: index = endsWithTheLink ? steps.count - 1 : index + 1
        case .abort: index = abortIndex ?? index + 1
        case .written, .writeFailed, .timeout: index += 1
        }
    }

    mutating func takeLog() -> [String] {
        defer { log = [] }
        return log
    }
}

/// A link that does what a test says.
private final class TestLink: Link {
    let events = LinkEvents()
    let maximumWriteLength = 20
    private let onWrite: @Sendable ([UInt8], LinkEvents) async throws(TransportError) -> Void
    private let written = Locked<[[UInt8]]>([])

    init(onWrite: @escaping @Sendable ([UInt8], LinkEvents) async throws(TransportError) -> Void = { _, _ in }) {
        self.onWrite = onWrite
    }

    var packets: [[UInt8]] { written.withLock { $0 } }

    func write(_ bytes: [UInt8], to endpoint: Endpoint) async throws(TransportError) {
        written.withLock { $0.append(bytes) }
        try await onWrite(bytes, events)
    }

    func setReceiver(_ receiver: (@Sendable (LinkEvent) -> Void)?) {
        events.setReceiver(receiver)
    }
}

@Suite struct DriverTests {
    private let world = VirtualTime()

    private func write(_ byte: UInt8) -> Step<Int> { .write([byte], to: .command) }
    private func wait(_ id: Int, _ duration: Duration) -> Step<Int> { .wait(WaitTimer(id: id, duration: duration)) }
    private func answer(_ byte: UInt8) -> LinkEvent { .notification([byte], from: .reply) }
    private let failed = ProcedureError(.silent, message: "silent")

    /// Drives a script in virtual time; `events` come at these moments, `cancelled` is when the task is.
    private func drive(
        _ script: Script, over link: TestLink = TestLink(), events: [(Duration, LinkEvent)] = [],
        cancelled: Duration? = nil, observer: ProcedureObserver = ProcedureObserver()
    ) async -> (script: Script, result: Result<Int, ProcedureError>, time: Duration) {
        await world.run {
            let task = Task(executorPreference: world) {
                var script = script
                let result = await run(&script, over: link, clock: world, observer: observer)
                return (script, result, world.now.sinceStart)
            }
            await withTaskGroup { group in
                for (moment, event) in events {
                    group.addTask {
                        try? await world.sleep(until: .init(sinceStart: moment))
                        link.events.send(event)
                    }
                }
                if let cancelled {
                    group.addTask {
                        try? await world.sleep(until: .init(sinceStart: cancelled))
                        task.cancel()
                    }
                }
            }
            return await task.value
        }
    }

    @Test func writesWaitsAndFinishes() async {
        let link = TestLink { bytes, events in if bytes == [2] { events.send(answer(9)) } }
        let script = Script([write(1), write(2), wait(1, .seconds(5)), .finish(.success(42))])
        let end = await drive(script, over: link)
        #expect(end.result == .success(42))
        #expect(end.script.events == [.written, .written, .notification([9], from: .reply)])
        #expect(end.time == .zero)
        #expect(link.packets == [[1], [2]])
    }

    @Test func aTimerRunsOutAtItsTime() async {
        let end = await drive(Script([wait(1, .seconds(3600)), .finish(.failure(failed))]))
        #expect(end.result == .failure(failed))
        #expect(end.script.events == [.timeout])
        #expect(end.time == .seconds(3600))
    }

    @Test func aDroppedEventDoesNotLengthenTheWait() async {
        let end = await drive(
            Script([wait(1, .seconds(5)), .finish(.success(0))]),
            events: [(.seconds(3), answer(0xFF)), (.seconds(4), answer(0xFF))])
        #expect(end.script.events == [answer(0xFF), answer(0xFF)].map(event) + [.timeout])
        #expect(end.time == .seconds(5))
    }

    @Test func aNewNumberIsANewTimerAndTheOldOneIsForgotten() async {
        let end = await drive(
            Script([wait(1, .seconds(5)), wait(2, .seconds(5)), .finish(.success(0))]),
            events: [(.seconds(3), answer(1))])
        #expect(end.script.events == [event(answer(1)), .timeout])
        #expect(end.time == .seconds(8))
    }

    @Test func aTimerRunsOnDuringWrites() async {
        let end = await drive(
            Script([wait(1, .seconds(5)), write(1), wait(1, .seconds(5)), .finish(.success(0))]),
            events: [(.seconds(3), answer(1))])
        #expect(end.script.events == [event(answer(1)), .written, .timeout])
        #expect(end.time == .seconds(5))
    }

    @Test func anAnswerAtTheLastMomentCounts() async {
        // The answer was on its way before the timer was set.
        let link = TestLink()
        let end = await world.run {
            async let _ = {
                try? await world.sleep(until: .init(sinceStart: .seconds(5)))
                link.events.send(answer(1))
            }()
            try? await world.sleep(until: .init(sinceStart: .seconds(1)))
            var script = Script([wait(1, .seconds(4)), .finish(.success(0))])
            _ = await run(&script, over: link, clock: world)
            return script
        }
        #expect(end.events == [event(answer(1))])
    }

    @Test func aLossInTheMiddleOfABurstIsSeen() async {
        let link = TestLink { bytes, events in if bytes == [3] { events.send(.disconnected) } }
        let end = await drive(Script((1...100).map { write($0) } + [.finish(.failure(failed))]), over: link)
        #expect(end.script.events == [.written, .written, .written, .disconnected])
        #expect(link.packets == [[1], [2], [3]])
    }

    @Test(arguments: [TransportError.Code.disconnected, .timeout])
    func anAnswerBeforeTheLossCounts(_ code: TransportError.Code) async {
        let link = TestLink { _, events throws(TransportError) in
            events.send(answer(0xFF))
            events.send(.disconnected)
            throw TransportError(code, message: "gone")
        }
        let end = await drive(Script([write(1), wait(1, .seconds(1)), .finish(.failure(failed))]), over: link)
        #expect(end.script.events == [event(answer(0xFF)), .disconnected])
    }

    @Test func theLossIsToldOnce() async {
        let link = TestLink { _, _ throws(TransportError) in throw TransportError(.disconnected, message: "gone") }
        var script = Script([write(1), wait(1, .seconds(5)), .finish(.failure(failed))])
        script.endsWithTheLink = false
        let end = await drive(script, over: link, events: [(.seconds(1), .disconnected)])
        #expect(end.script.events == [.disconnected, .timeout])
        #expect(end.time == .seconds(5))
    }

    @Test func whatCameBeforeTheStartIsTold() async {
        let link = TestLink()
        link.events.send(answer(7))
        let end = await drive(Script([wait(1, .seconds(5)), .finish(.success(0))]), over: link)
        #expect(end.script.events == [event(answer(7))])
        #expect(end.time == .zero)
    }

    @Test(arguments: [
        (TransportError(.disconnected, message: "gone"), Event.disconnected),
        (
            TransportError(.attributeError, attCode: 0x0D, message: "length"),
            .writeFailed(WriteFailure(attCode: 0x0D, message: "length"))
        ),
        (TransportError(.timeout, message: "slow"), .writeFailed(WriteFailure(message: "slow"))),
    ])
    func aFailedWriteIsAnEvent(_ error: TransportError, _ expected: Event) async {
        let link = TestLink { _, _ throws(TransportError) in throw error }
        let end = await drive(Script([write(1), .finish(.failure(failed))]), over: link)
        #expect(end.script.events == [expected])
    }

    @Test func aCancelledTaskSaysGoodbye() async {
        let stopped = ProcedureError(.aborted, message: "stopped")
        let steps = [
            wait(1, .seconds(3600)), .finish(.success(0)), write(0xA5), wait(2, .milliseconds(300)),
            .finish(.failure(stopped)),
        ]
        let link = TestLink()
        let end = await drive(Script(steps, abortIndex: 2), over: link, cancelled: .seconds(1))
        #expect(end.result == .failure(stopped))
        #expect(end.script.events == [.abort, .written, .timeout])
        #expect(end.time == .milliseconds(1300))
        #expect(link.packets == [[0xA5]])
    }

    @Test func aWriteThatHangsHoldsTheEndForASecond() async {
        let stopped = ProcedureError(.aborted, message: "stopped")
        let link = TestLink { _, _ throws(TransportError) in
            do {
                try await world.sleep(until: .init(sinceStart: .seconds(30)))
            } catch {
                throw TransportError(.cancelled, message: "it was stopped")
            }
        }
        let end = await drive(
            Script([write(1), write(0xA5), .finish(.failure(stopped))]), over: link, cancelled: .seconds(1))
        #expect(end.result == .failure(stopped))
        #expect(end.script.events == [.abort, .disconnected])
        #expect(end.time == .seconds(2))
        #expect(link.packets == [[1]])
    }

    @Test func aGoodbyeThatIsNotAnsweredHoldsTheEndForASecond() async {
        let stopped = ProcedureError(.aborted, message: "stopped")
        let steps = [
            wait(1, .seconds(3600)), .finish(.success(0)), write(0xA5), wait(2, .seconds(60)),
            .finish(.failure(stopped)),
        ]
        let end = await drive(Script(steps, abortIndex: 2), cancelled: .seconds(1))
        #expect(end.result == .failure(stopped))
        #expect(end.script.events == [.abort, .written, .timeout])
        #expect(end.time == .seconds(2))
    }

    @Test func aTaskThatWasCancelledBeforehandSaysGoodbye() async {
        let link = TestLink()
        let end = await world.run {
            let task = Task(executorPreference: world) {
                withUnsafeCurrentTask { $0?.cancel() }
                var script = Script([write(1), .finish(.success(0)), write(0xA5), .finish(.success(1))], abortIndex: 2)
                let result = await run(&script, over: link, clock: world)
                return (script.events, result)
            }
            return await task.value
        }
        #expect(end.0 == [.abort, .written])
        #expect(end.1 == .success(1))
        #expect(link.packets == [[0xA5]])
    }

    @Test func anyClockWillDo() async {
        let link = TestLink()
        let clocks: [any Clock<Duration>] = [world, ContinuousClock(), SuspendingClock()]
        for clock in clocks {
            var script = Script([wait(1, .milliseconds(1)), .finish(.success(0))])
            #expect(await run(&script, over: link, clock: clock) == .success(0))
            #expect(script.events == [.timeout])
        }
    }

    @Test func theLinkIsLetGo() async {
        let link = TestLink()
        _ = await drive(Script([.finish(.success(0))]), over: link)
        link.events.send(answer(1))
        let end = await drive(Script([wait(1, .seconds(5)), .finish(.success(0))]), over: link)
        #expect(end.script.events == [event(answer(1))])
    }

    @Test func anObserverSeesWhatHappens() async {
        let seen = Locked<[String]>([])
        @Sendable func note(_ text: String) { seen.withLock { $0.append(text) } }
        let observer = ProcedureObserver(
            progress: { phase, progress in note("\(phase) \(progress.bytes)") }, log: { note("log \($0)") },
            packet: { packet in
                switch packet {
                case .written(let bytes, let endpoint): note("> \(bytes) \(endpoint)")
                case .received(let bytes, let endpoint): note("< \(bytes) \(endpoint)")
                }
            })
        let script = Script([write(1), write(2), wait(1, .seconds(5)), .finish(.success(0))])
        let end = await drive(
            script, events: [(.seconds(1), answer(0xFF)), (.seconds(2), answer(5))], observer: observer)
        #expect(
            seen.withLock { $0 } == [
                "prepare 0", "> [1] command", "transfer 0", "> [2] command", "< [255] reply", "log dropped",
                "< [5] reply", "transfer 1",
            ])
        #expect(end.script.log == [])
    }

    @Test func theLogStaysWhereNobodyTakesIt() async {
        let end = await drive(
            Script([wait(1, .seconds(5)), .finish(.success(0))]), events: [(.seconds(1), answer(0xFF))])
        #expect(end.script.log == ["dropped"])
    }

    private func event(_ event: LinkEvent) -> Event {
        switch event {
        case .notification(let bytes, let endpoint): .notification(bytes, from: endpoint)
        case .disconnected: .disconnected
        }
    }
}
