private import CLinux

/// A thread in `poll(2)` on which actors live: it runs their jobs, watches file descriptors and keeps timers.
///
/// Watches and timers are made and used on the thread, that is by the actors that live on it; everything is called there,
/// one after the other. The thread exists while there is something to do: it starts with a job, and ends when no job,
/// watch or timer is left. All signals are blocked on it, so that they go to the process's other threads.
///
/// `@unchecked`: what is behind `shared` is locked, and the rest is touched on the thread alone.
package final class PollExecutor: SerialExecutor, @unchecked Sendable {
    /// What can happen to a file descriptor.
    package struct Events: OptionSet, Sendable, Hashable {
        package let rawValue: Int16

        package init(rawValue: Int16) {
            self.rawValue = rawValue
        }

        /// There is something to read, or the end.
        package static let readable = Events(rawValue: Int16(POLLIN))
        /// It can be written without waiting.
        package static let writable = Events(rawValue: Int16(POLLOUT))
        /// The other end is gone. Told always.
        package static let hangUp = Events(rawValue: Int16(POLLHUP))
        /// It is broken, or not open. Told always.
        package static let error = Events(rawValue: Int16(POLLERR | POLLNVAL))
    }

    /// A descriptor that is being watched.
    package struct Watch: Sendable, Hashable {
        fileprivate let id: UInt64
    }

    /// A call that is to come.
    package struct Timer: Sendable, Hashable {
        fileprivate let deadline: SuspendingClock.Instant
        fileprivate let id: UInt64

        fileprivate func isDue(before other: Timer) -> Bool {
            (deadline, id) < (other.deadline, other.id)
        }
    }

    private enum Work {
        case job(UnownedJob)
        case body(@Sendable () -> Void)
    }

    private struct Shared {
        var work: [Work] = []
        /// The thread, while there is one.
        var thread: pthread_t?
        /// Whether the thread sleeps, or is about to, and has to be woken.
        var isWaiting = false
    }

    private struct Watched {
        var id: UInt64
        var descriptor: Int32
        var events: Events
        var body: (Events) -> Void
    }

    private let name: String
    private let wakening: FileDescriptor
    private let shared = Locked(Shared())
    private var watches: [Watched] = []
    /// The earliest first.
    private var timers: [(timer: Timer, body: () -> Void)] = []
    private var lastID: UInt64 = 0

    /// An executor whose thread has this name, of which Linux keeps 15 bytes.
    ///
    /// Nil when the process has no file descriptor left.
    package init?(name: String) {
        let descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard descriptor >= 0 else { return nil }
        self.name = name
        wakening = FileDescriptor(owning: descriptor)
    }

    // MARK: From any thread

    /// Takes a job; for the runtime.
    package func enqueue(_ job: consuming ExecutorJob) {
        add(.job(UnownedJob(job)))
    }

    /// Has `body` called on the thread, after the jobs that are there already.
    package func submit(_ body: @escaping @Sendable () -> Void) {
        add(.body(body))
    }

    /// Whether this is the thread; for the runtime, which asks it where it sees no job of an actor.
    package func isIsolatingCurrentContext() -> Bool? {
        shared.withLock { $0.thread == pthread_self() }
    }

    /// Traps when this is not the thread; for the runtime, which asks it where it sees no job of an actor.
    package func checkIsolated() {
        precondition(isIsolatingCurrentContext() == true, "not on the thread \(name)")
    }

    private func add(_ work: Work) {
        let mustWake = shared.withLock { shared in
            shared.work.append(work)
            if shared.thread == nil { shared.thread = startThread() }
            defer { shared.isWaiting = false }
            return shared.isWaiting
        }
        if mustWake { eventfd_write(wakening.number, 1) }
    }

    private func startThread() -> pthread_t {
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { executor in
                guard let executor else { return nil }
                Unmanaged<PollExecutor>.fromOpaque(executor).takeRetainedValue().run()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        precondition(result == 0, "pthread_create failed with \(result)")
        pthread_detach(thread)
        return thread
    }

    // MARK: On the thread

    /// Has `body` called whenever one of `events` is true of `descriptor`, or it is broken. No events: never.
    ///
    /// A descriptor may be watched more than once. It has to stay open until `unwatch`.
    package func watch(_ descriptor: Int32, for events: Events, _ body: @escaping (Events) -> Void) -> Watch {
        checkIsolated()
        lastID += 1
        watches.append(Watched(id: lastID, descriptor: descriptor, events: events, body: body))
        return Watch(id: lastID)
    }

    /// Changes what is watched for.
    package func setEvents(_ events: Events, of watch: Watch) {
        checkIsolated()
        guard let index = watches.firstIndex(where: { $0.id == watch.id }) else { return }
        watches[index].events = events
    }

    /// Ends a watch: its body is not called any more.
    package func unwatch(_ watch: Watch) {
        checkIsolated()
        watches.removeAll { $0.id == watch.id }
    }

    /// Has `body` called once, `delay` from now; with none, after what is being done.
    @discardableResult
    package func after(_ delay: Duration, _ body: @escaping () -> Void) -> Timer {
        checkIsolated()
        lastID += 1
        let timer = Timer(deadline: .now + delay, id: lastID)
        timers.insert((timer, body), at: position(of: timer))
        return timer
    }

    /// Takes a timer back. Harmless when it has been called.
    package func cancel(_ timer: Timer) {
        checkIsolated()
        let index = position(of: timer)
        if index < timers.count, timers[index].timer == timer { timers.remove(at: index) }
    }

    private func position(of timer: Timer) -> Int {
        var low = 0
        var high = timers.count
        while low < high {
            let middle = (low + high) / 2
            if timers[middle].timer.isDue(before: timer) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func run() {
        set_thread_name(name)
        var signals = sigset_t()
        sigfillset(&signals)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        repeat {
            var work: [Work] = []
            shared.withLock { swap(&$0.work, &work) }
            for item in work {
                switch item {
                case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
                case .body(let body): body()
                }
            }
            let now = SuspendingClock.now
            while let first = timers.first, first.timer.deadline <= now {
                timers.removeFirst()
                first.body()
            }
        } while wait()
    }

    /// Waits until there is something to do, and tells the watches; false when nothing can come any more.
    private func wait() -> Bool {
        // The lock is what a starting thread sees the last one's watches and timers through.
        let timeout: Int32? = shared.withLock { shared in
            guard shared.work.isEmpty else { return 0 }
            if watches.isEmpty, timers.isEmpty {
                shared.thread = nil
                return nil
            }
            shared.isWaiting = true
            return timers.first.map { milliseconds(until: $0.timer.deadline) } ?? -1
        }
        guard let timeout else { return false }
        // An entry with a negative descriptor is passed over: a watch for nothing would hear of every hang-up.
        var entries = watches.map { watch in
            pollfd(
                fd: watch.events.isEmpty ? -1 : watch.descriptor, events: watch.events.rawValue, revents: 0)
        }
        entries.append(pollfd(fd: wakening.number, events: Int16(POLLIN), revents: 0))
        // Where it fails (interrupted, or out of memory) nothing has happened, and the next turn tries again.
        poll(&entries, nfds_t(entries.count), timeout)
        shared.withLock { $0.isWaiting = false }
        if entries.removeLast().revents != 0 {
            var count: eventfd_t = 0
            eventfd_read(wakening.number, &count)
        }
        // A body may end other watches, and make new ones.
        let ids = watches.map(\.id)
        for (id, entry) in zip(ids, entries) where entry.revents != 0 {
            watches.first { $0.id == id }?.body(Events(rawValue: entry.revents))
        }
        return true
    }

    private func milliseconds(until deadline: SuspendingClock.Instant) -> Int32 {
        let (seconds, attoseconds) = (deadline - .now).components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < 1_000_000 else { return 1_000_000_000 }
        // Rounded up: a wait that ends early would be repeated without rest.
        return Int32(seconds) * 1000 + Int32((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
