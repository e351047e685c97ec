private import DFUTransport
private import Dispatch

/// A world with a time of its own: an hour of waiting in it passes in no time, and the same way each time.
///
/// The tasks that run in it take turns, one job after the other, in the order in which they became ready. When none is
/// ready, time jumps to the earliest sleeper. A job that comes from outside (a cancellation, an answer from a thread
/// elsewhere) is taken as it comes, and time does not wait for it: what shall be measured must happen inside.
///
/// What goes on for ever of itself (a device that restarts every two minutes) ends a minute after the last `run(_:)`:
/// who sleeps for longer is cancelled.
///
/// It is a clock to sleep by and a task executor to run on. It owns no thread: while there is something to do, it borrows
/// one of Dispatch's.
public final class VirtualTime: Clock, TaskExecutor {
    /// A moment, as the time since the world began.
    public struct Instant: InstantProtocol {
        /// How long after the beginning.
        public var sinceStart: Duration

        /// The moment `sinceStart` after the beginning.
        public init(sinceStart: Duration) {
            self.sinceStart = sinceStart
        }

        /// The moment `duration` later.
        public func advanced(by duration: Duration) -> Instant {
            Instant(sinceStart: sinceStart + duration)
        }

        /// How long it is until `other`.
        public func duration(to other: Instant) -> Duration {
            other.sinceStart - sinceStart
        }

        /// Whether one moment comes before the other.
        public static func < (earlier: Instant, later: Instant) -> Bool {
            earlier.sinceStart < later.sinceStart
        }
    }

    private struct Sleeper {
        var id: UInt64
        var deadline: Instant
        var continuation: CheckedContinuation<Void, any Error>
    }

    private enum Work {
        case job(UnownedJob)
        case wake(Sleeper)
        case cancel(Sleeper)
    }

    /// How long time goes on when nobody is in the world any more: what was begun may come to its end.
    private static let afterlife = Duration.seconds(60)

    private struct State {
        var now = Instant(sinceStart: .zero)
        var ready = Queue<UnownedJob>()
        /// The earliest last; of equal ones the one that came first last.
        var sleepers: [Sleeper] = []
        var lastID: UInt64 = 0
        var isRunning = false
        /// How many `run(_:)` are under way, and when the last one of them ended.
        var bodies = 0
        var end: Instant?

        mutating func insert(_ sleeper: Sleeper) {
            var low = 0
            var high = sleepers.count
            while low < high {
                let middle = (low + high) / 2
                if sleepers[middle].deadline > sleeper.deadline { low = middle + 1 } else { high = middle }
            }
            sleepers.insert(sleeper, at: low)
        }

        mutating func remove(_ id: UInt64) -> Sleeper? {
            sleepers.lastIndex { $0.id == id }.map { sleepers.remove(at: $0) }
        }

        mutating func takeWork() -> Work? {
            if let job = ready.popFirst() { return .job(job) }
            guard let sleeper = sleepers.popLast() else {
                isRunning = false
                return nil
            }
            if bodies == 0, let end, sleeper.deadline > end.advanced(by: afterlife) { return .cancel(sleeper) }
            now = max(now, sleeper.deadline)
            return .wake(sleeper)
        }

        /// Whether whoever asks has to start the turns.
        mutating func mustStart() -> Bool {
            defer { isRunning = true }
            return !isRunning
        }
    }

    private let state = Locked(State())

    /// A world in which no time has passed yet.
    public init() {}

    /// Runs `body`, and the child tasks that it makes, in this world.
    ///
    /// Unstructured tasks have to be sent here by `Task(executorPreference:)`.
    @concurrent public func run<Success: Sendable, Failure: Error>(
        _ body: @Sendable @concurrent () async throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        try await withTaskExecutorPreference(self) { () async throws(Failure) -> Success in
            state.withLock { $0.bodies += 1 }
            // In the world: on the way out of it, time would go on.
            defer {
                state.withLock { state in
                    state.bodies -= 1
                    state.end = state.now
                }
            }
            return try await body()
        }
    }

    // MARK: Clock

    /// The world's time.
    public var now: Instant { state.withLock { $0.now } }

    /// As fine as `Duration`.
    public var minimumResolution: Duration { Duration(secondsComponent: 0, attosecondsComponent: 1) }

    /// Sleeps until time has come to `deadline`; whatever is ready at this moment comes first.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let mustStart = state.withLock { state in
                    state.insert(Sleeper(id: id, deadline: max(deadline, state.now), continuation: continuation))
                    return state.mustStart()
                }
                if mustStart { start() }
                // The handler finds nothing when it runs before the sleeper is in its place.
                if Task.isCancelled { cancelSleep(id) }
            }
        } onCancel: {
            cancelSleep(id)
        }
    }

    private func cancelSleep(_ id: UInt64) {
        state.withLock { $0.remove(id) }?.continuation.resume(throwing: CancellationError())
    }

    // MARK: TaskExecutor

    /// Takes a job; for the runtime.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let mustStart = state.withLock { state in
            state.ready.append(job)
            return state.mustStart()
        }
        if mustStart { start() }
    }

    private func start() {
        DispatchQueue.global().async { [self] in
            while let work = state.withLock({ $0.takeWork() }) {
                switch work {
                case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
                case .wake(let sleeper): sleeper.continuation.resume()
                case .cancel(let sleeper): sleeper.continuation.resume(throwing: CancellationError())
                }
            }
        }
    }
}
