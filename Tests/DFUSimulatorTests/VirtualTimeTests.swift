import DFUSimulator
import DFUTransport
import Testing

@Suite struct VirtualTimeTests {
    private let time = VirtualTime()
    private let log = Locked<[String]>([])

    private func note(_ text: String) {
        log.withLock { $0.append(text) }
    }

    private var seconds: Int64 { time.now.sinceStart.components.seconds }

    @Test func sleepersWakeInTheOrderOfTheirDeadlines() async {
        await time.run {
            await withTaskGroup { group in
                for delay in [3, 1, 2] {
                    group.addTask {
                        try? await time.sleep(for: .seconds(delay))
                        note("\(delay) at \(seconds)")
                    }
                }
            }
        }
        #expect(log.withLock { $0 } == ["1 at 1", "2 at 2", "3 at 3"])
    }

    @Test func whatGoesOnForEverEndsAMinuteAfterTheLastBody() async throws {
        let recurring = try await time.run {
            let recurring = Task(executorPreference: time) {
                while true { try await time.sleep(for: .seconds(7)) }
            }
            try await time.sleep(for: .seconds(10))
            return recurring
        }
        await #expect(throws: CancellationError.self) { try await recurring.value }
        #expect(seconds == 70)
    }

    @Test func equalDeadlinesWakeInTheOrderOfArrival() async {
        await time.run {
            await withTaskGroup { group in
                for name in 0..<20 {
                    group.addTask {
                        try? await time.sleep(for: .seconds(name == 7 ? 2 : 1))
                        note("\(name)")
                    }
                }
            }
        }
        let expected = (0..<20).filter { $0 != 7 } + [7]
        #expect(log.withLock { $0 } == expected.map(String.init))
    }

    @Test func whatIsReadyComesBeforeTimePasses() async {
        await time.run {
            await withTaskGroup { group in
                group.addTask {
                    try? await time.sleep(for: .zero)
                    note("woken at \(seconds)")
                }
                group.addTask {
                    note("ready at \(seconds)")
                }
            }
        }
        #expect(log.withLock { $0 } == ["ready at 0", "woken at 0"])
    }

    @Test func aCancelledSleeperThrowsAtOnce() async throws {
        try await time.run {
            let sleeper = Task(executorPreference: time) { try await time.sleep(for: .seconds(3600)) }
            try await time.sleep(for: .seconds(1))
            sleeper.cancel()
            await #expect(throws: CancellationError.self) { try await sleeper.value }
        }
        #expect(time.now.sinceStart == .seconds(1))
    }

    @Test func aCancelledTaskDoesNotFallAsleep() async {
        await time.run {
            let sleeper = Task(executorPreference: time) {
                withUnsafeCurrentTask { $0?.cancel() }
                try await time.sleep(for: .seconds(3600))
            }
            await #expect(throws: CancellationError.self) { try await sleeper.value }
        }
        #expect(time.now.sinceStart == .zero)
    }

    @Test func aDeadlineInThePastLetsNoTimePass() async throws {
        try await time.run {
            try await time.sleep(for: .seconds(10))
            try await time.sleep(until: VirtualTime.Instant(sinceStart: .seconds(5)))
        }
        #expect(time.now.sinceStart == .seconds(10))
    }

    @Test func anHourPassesInNoTime() async throws {
        try await time.run {
            for _ in 0..<3600 { try await time.sleep(for: .seconds(1)) }
        }
        #expect(time.now.sinceStart == .seconds(3600))
    }

    @Test func groupsAndActorsTakeTurns() async {
        actor Counter {
            private(set) var value = 0
            func count(_ time: VirtualTime) async {
                let before = value
                try? await time.sleep(for: .milliseconds(before % 7))
                value += 1
            }
        }
        let counter = Counter()
        await time.run {
            await withTaskGroup { group in
                for _ in 0..<200 { group.addTask { await counter.count(time) } }
            }
        }
        #expect(await counter.value == 200)
        #expect(time.now.sinceStart == .zero)
    }

    @Test func theBodysErrorAndValueComeOut() async {
        struct Failure: Error {}
        #expect(await time.run { 42 } == 42)
        await #expect(throws: Failure.self) { try await time.run { throw Failure() } }
    }

    @Test func jobsFromOutsideAreTaken() async {
        let answer = await time.run {
            await withCheckedContinuation { continuation in
                Task { continuation.resume(returning: 7) }
            }
        }
        #expect(answer == 7)
    }

    @Test func aCancellationFromOutsideArrives() async {
        let (stream, _) = AsyncStream.makeStream(of: Never.self)
        let task = Task {
            await time.run {
                for await _ in stream {}
                return Task.isCancelled
            }
        }
        task.cancel()
        #expect(await task.value)
    }

    @Test(.timeLimit(.minutes(1))) func itGoesWhenNobodyUsesIt() async throws {
        weak var gone: VirtualTime?
        try await {
            let time = VirtualTime()
            gone = time
            try await time.run { try await time.sleep(for: .seconds(1)) }
        }()
        // The borrowed thread lets go a moment after the last job.
        while gone != nil { await Task.yield() }
    }
}
