import DFUTransport
import Glibc
import Testing

/// An actor that lives on an executor, as a connection does.
private actor Resident {
    nonisolated let executor: PollExecutor
    private(set) var heard: [String] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ executor: PollExecutor) {
        self.executor = executor
    }

    func hear(_ word: String) { heard.append(word) }

    func run<Value: Sendable>(_ body: @Sendable (isolated Resident) async throws -> Value) async rethrows -> Value {
        try await body(self)
    }
}

@Suite(.timeLimit(.minutes(1))) struct PollExecutorTests {
    private let executor: PollExecutor
    private let resident: Resident

    init() throws {
        executor = try #require(PollExecutor(name: "resident"))
        resident = Resident(executor)
    }

    @Test func callsInTheOrderOfSubmission() async {
        let heard = Locked<[Int]>([])
        for number in 0..<1000 { executor.submit { heard.withLock { $0.append(number) } } }
        await resident.run { _ in }
        #expect(heard.withLock { $0 } == Array(0..<1000))
    }

    @Test func takesJobsFromItsOwnThread() async {
        await resident.run { resident in
            for _ in 0..<1000 {
                await Task.yield()
                resident.assertIsolated()
            }
        }
    }

    @Test func startsAgainAfterItsThreadHasEnded() async {
        for _ in 0..<200 { await resident.run { $0.assertIsolated() } }
    }

    @Test func knowsItsThreadOutsideOfJobs() async {
        #expect(executor.isIsolatingCurrentContext() == false)
        await withCheckedContinuation { continuation in
            executor.submit { [executor, resident] in
                #expect(executor.isIsolatingCurrentContext() == true)
                resident.assumeIsolated { $0.hear("in") }
                continuation.resume()
            }
        }
        #expect(await resident.heard == ["in"])
    }

    @Test func trapsWhereItsThreadIsClaimedWrongly() async {
        await #expect(processExitsWith: .failure) {
            PollExecutor(name: "resident")?.checkIsolated()
        }
    }

    @Test func leavesSignalsToTheOtherThreads() async {
        let isBlocked = await resident.run { _ in
            var signals = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &signals)
            return [SIGTERM, SIGINT, SIGUSR1].map { sigismember(&signals, $0) }
        }
        #expect(isBlocked == [1, 1, 1])
    }

    @Test func endsItsThreadWhenNothingIsLeft() async throws {
        weak var gone: PollExecutor?
        do {
            let executor = try #require(PollExecutor(name: "brief"))
            gone = executor
            await Resident(executor).run { _ in }
        }
        // The thread holds the executor until it ends.
        while gone != nil { await Task.yield() }
    }

    // MARK: Timers

    @Test func callsTimersByTheirTime() async {
        await resident.run { resident in
            let executor = resident.executor
            await withCheckedContinuation { continuation in
                executor.after(.milliseconds(2)) {
                    resident.assumeIsolated { $0.hear("last") }
                    continuation.resume()
                }
                executor.after(.milliseconds(1)) { resident.assumeIsolated { $0.hear("second") } }
                let cancelled = executor.after(.milliseconds(1)) { resident.assumeIsolated { $0.hear("cancelled") } }
                executor.after(.milliseconds(1)) { resident.assumeIsolated { $0.hear("third") } }
                executor.after(.zero) { resident.assumeIsolated { $0.hear("first") } }
                executor.cancel(cancelled)
                resident.hear("now")
            }
        }
        #expect(await resident.heard == ["now", "first", "second", "third", "last"])
    }

    @Test func cancelsATimerThatIsDueFromAnothersBody() async {
        await resident.run { resident in
            let executor = resident.executor
            await withCheckedContinuation { continuation in
                var second: PollExecutor.Timer?
                executor.after(.zero) { second.map(executor.cancel) }
                second = executor.after(.zero) { resident.assumeIsolated { $0.hear("cancelled") } }
                executor.after(.zero) { continuation.resume() }
            }
        }
        #expect(await resident.heard == [])
    }

    // MARK: Watches

    @Test func tellsWhatHappensToADescriptor() async {
        let events = await resident.run { resident in
            let pair = DescriptorPair()
            var heard: [PollExecutor.Events] = []
            for step in 0..<3 {
                if step == 1 { pair.far.write("x") }
                if step == 2 { pair.far.shutDown() }
                await withCheckedContinuation { continuation in
                    var watch: PollExecutor.Watch?
                    watch = resident.executor.watch(pair.near.number, for: step == 0 ? .writable : .readable) {
                        events in
                        heard.append(events)
                        watch.map(resident.executor.unwatch)
                        continuation.resume()
                    }
                }
                if step == 1 { #expect(pair.near.read() == "x") }
            }
            return heard
        }
        #expect(events == [.writable, .readable, [.readable, .hangUp]])
    }

    @Test func tellsTwoWatchesOfOneDescriptor() async {
        await resident.run { resident in
            let executor = resident.executor
            let pair = DescriptorPair()
            pair.far.write("x")
            await withCheckedContinuation { continuation in
                let first = executor.watch(pair.near.number, for: .readable) { events in
                    #expect(events == .readable)
                    resident.assumeIsolated { $0.hear("first") }
                }
                var second: PollExecutor.Watch?
                second = executor.watch(pair.near.number, for: .writable) { events in
                    #expect(events == .writable)
                    resident.assumeIsolated { $0.hear("second") }
                    executor.unwatch(first)
                    second.map(executor.unwatch)
                    continuation.resume()
                }
            }
        }
        #expect(await resident.heard == ["first", "second"])
    }

    @Test func callsNoWatchThatAnothersBodyHasEnded() async {
        await resident.run { resident in
            let executor = resident.executor
            let pair = DescriptorPair()
            pair.far.write("x")
            await withCheckedContinuation { continuation in
                var watches: [PollExecutor.Watch] = []
                for number in 0..<2 {
                    watches.append(
                        executor.watch(pair.near.number, for: .readable) { _ in
                            resident.assumeIsolated { $0.hear("\(number)") }
                            watches.forEach(executor.unwatch)
                            // By then the turn is over.
                            executor.after(.zero) { continuation.resume() }
                        })
                }
            }
        }
        #expect(await resident.heard == ["0"])
    }

    @Test func tellsAWatchForNothingOfNothing() async {
        await resident.run { resident in
            let executor = resident.executor
            let broken = DescriptorPair()
            broken.far.shutDown()
            let pair = DescriptorPair()
            pair.far.write("x")
            let silent = executor.watch(broken.near.number, for: .readable) { _ in
                resident.assumeIsolated { $0.hear("hung up") }
            }
            executor.setEvents([], of: silent)
            await withCheckedContinuation { continuation in
                var watch: PollExecutor.Watch?
                watch = executor.watch(pair.near.number, for: .readable) { _ in
                    executor.unwatch(silent)
                    watch.map(executor.unwatch)
                    continuation.resume()
                }
            }
        }
        #expect(await resident.heard == [])
    }
}
