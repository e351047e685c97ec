public import DFUProtocol
public import DFUTransport

/// Runs a procedure over a link until it finishes: the only place where a procedure meets time.
///
/// What has arrived is told to the procedure before it is asked for its next step. What arrives while a packet is being
/// written comes after `.written`, but before the news that the write failed, because it may be the answer. The end of
/// the link is told once, and again to each write that is tried nevertheless. A cancelled task is told to the procedure
/// as `.abort`, and the procedure goes on until it finishes by itself, so the call returns when the goodbye is said. A
/// second later, what is still being waited for is over, and a write that hangs is taken for the loss of the link.
/// - Parameters:
///   - procedure: Holds its last state afterwards, with the log lines that nobody took.
///   - link: Open, and not used by anybody else meanwhile.
///   - clock: Measures the waits.
///   - observer: Is told the progress, the log and the packets.
public func run<Driven: Procedure, Time: Clock>(
    _ procedure: inout Driven, over link: any Link, clock: Time, observer: ProcedureObserver = ProcedureObserver()
) async -> Result<Driven.Outcome, ProcedureError> where Time.Duration == Duration {
    let driver = Driver(procedure: procedure, link: link, clock: clock, observer: observer)
    let inbox = driver.inbox
    link.setReceiver { inbox.push(.link($0)) }
    defer { link.setReceiver(nil) }
    // A cancelled task can neither sleep nor write, so the goodbye needs a task of its own. It stays on the executor.
    let executor = withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
    let task = Task(executorPreference: executor) {
        var driver = driver
        return (result: await driver.run(), procedure: driver.procedure)
    }
    let limit = Locked<Task<Void, Never>?>(nil)
    let end = await withTaskCancellationHandler {
        await task.value
    } onCancel: {
        inbox.push(.cancelled)
        let running = Task(executorPreference: executor) {
            guard (try? await clock.sleep(for: goodbyeLimit, tolerance: .zero)) != nil else { return }
            task.cancel()
            inbox.push(.alarm)
        }
        limit.withLock { $0 = running }
    }
    limit.withLock { $0 }?.cancel()
    procedure = end.procedure
    return end.result
}

/// How long a procedure may take to finish when it has been told to stop.
private let goodbyeLimit = Duration.seconds(1)

private enum Occurrence: Sendable {
    case link(LinkEvent)
    case cancelled
    /// A timer may have run out. The clock tells which, so an alarm that comes too late does no harm.
    case alarm
}

private struct Driver<Driven: Procedure, Time: Clock>: Sendable where Time.Duration == Duration {
    private struct Timer {
        var id: Int
        var deadline: Time.Instant
        var hasRunOut = false
    }

    private(set) var procedure: Driven
    let inbox = Inbox<Occurrence>()
    private let link: any Link
    private let clock: Time
    private let observer: ProcedureObserver
    private var timer: Timer?
    private var isLinkOver = false
    private var lastPhase: Phase?
    private var lastProgress: Progress?

    init(procedure: Driven, link: any Link, clock: Time, observer: ProcedureObserver) {
        self.procedure = procedure
        self.link = link
        self.clock = clock
        self.observer = observer
    }

    mutating func run() async -> Result<Driven.Outcome, ProcedureError> {
        while true {
            receiveAll()
            let step = procedure.next()
            report()
            switch step {
            case .write(let bytes, let endpoint): await write(bytes, to: endpoint)
            case .wait(let timer): await wait(for: timer)
            case .finish(let result): return result
            }
        }
    }

    private mutating func receiveAll() {
        while let occurrence = inbox.poll() { receive(occurrence) }
    }

    private mutating func receive(_ occurrence: Occurrence) {
        switch occurrence {
        case .link(.notification(let bytes, let endpoint)):
            observer.packet?(.received(bytes, from: endpoint))
            procedure.receive(.notification(bytes, from: endpoint))
        case .link(.disconnected):
            guard !isLinkOver else { return }
            isLinkOver = true
            procedure.receive(.disconnected)
        case .cancelled: procedure.receive(.abort)
        case .alarm: break
        }
    }

    private mutating func write(_ bytes: [UInt8], to endpoint: Endpoint) async {
        observer.packet?(.written(bytes, to: endpoint))
        do {
            try await link.write(bytes, to: endpoint)
            procedure.receive(.written)
        } catch {
            observer.writeFailure?(error)
            let wasLinkOver = isLinkOver
            receiveAll()
            if isLinkOver, !wasLinkOver {
                // What has just been told answers the write too.
                return
            } else if error.code == .disconnected || error.code == .cancelled {
                isLinkOver = true
                procedure.receive(.disconnected)
            } else {
                procedure.receive(.writeFailed(WriteFailure(attCode: error.attCode, message: error.message)))
            }
        }
    }

    private mutating func wait(for asked: WaitTimer) async {
        let current: Timer
        if let timer, timer.id == asked.id {
            precondition(!timer.hasRunOut, "A procedure waits for a timer that has run out.")
            current = timer
        } else {
            current = Timer(id: asked.id, deadline: clock.now.advanced(by: asked.duration))
            timer = current
        }
        // In a cancelled task nothing can be waited for any more.
        if clock.now >= current.deadline || Task.isCancelled {
            timer?.hasRunOut = true
            procedure.receive(.timeout)
        } else {
            async let _ = Self.ring(inbox, at: current.deadline, of: clock)
            receive(await inbox.next())
        }
    }

    private static func ring(_ inbox: Inbox<Occurrence>, at deadline: Time.Instant, of clock: Time) async {
        // Thrown when something came before the alarm.
        guard (try? await clock.sleep(until: deadline, tolerance: .zero)) != nil else { return }
        inbox.push(.alarm)
    }

    /// Hands on what is new to be told.
    private mutating func report() {
        if let show = observer.progress {
            let (phase, progress) = (procedure.phase, procedure.progress)
            if phase != lastPhase || progress != lastProgress {
                (lastPhase, lastProgress) = (phase, progress)
                show(phase, progress)
            }
        }
        if let log = observer.log { procedure.takeLog().forEach(log) }
    }
}
