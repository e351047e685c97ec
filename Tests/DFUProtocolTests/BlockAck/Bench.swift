import DFUProtocol
import DFUSimulator
import DFUTransport
import Testing

/// Runs procedures against a simulated band in step, in a time that passes only when nothing else is left to do.
struct Bench {
    /// When the user stops a procedure.
    enum Stop: Equatable {
        /// Before this write, from 1.
        case before(write: Int)
        /// While this write is under way.
        case during(write: Int)
        /// As soon as this write is done.
        case after(write: Int)
    }

    private enum Occurrence {
        case notified([UInt8], BluetoothUUID)
        case linkLost
        case wentDown(offAir: Duration)
        case cameUp
        case woke(Int)
    }

    private(set) var band: FaultyBand
    private(set) var now = Duration.zero
    /// All frames that were written, over all links.
    private(set) var frames: [[UInt8]] = []
    /// The log lines of all procedures.
    private(set) var log: [String] = []
    /// Whether answers come before the word that the write is done.
    var answersEarly = false
    var stop: Stop?
    /// Changes what the band answers, or adds to it: told the frame and its answers.
    var tamper: (([UInt8], inout [[UInt8]]) -> Void)?
    /// The radio's connection interval; packets of one interval are told to the band.
    var interval: Duration?
    private(set) var isConnected = false

    private var isOnAir = true
    private var writes = 0
    private var queue: [(due: Duration, order: Int, Occurrence)] = []
    private var order = 0
    /// The packets of the present connection interval.
    private var burst = (interval: -1, packets: 0)

    init(_ settings: Band.Settings = Band.Settings(), memory: Band.Memory? = nil, faults: [Fault] = []) {
        band = FaultyBand(Band(settings, memory: memory), faults: FaultScript(faults))
    }

    var memory: Band.Memory { band.band.memory }

    /// Connects; waits for a band that is off the air.
    mutating func connect() {
        while !isOnAir {
            guard let next = takeNext(before: nil) else {
                Issue.record("the band stays off the air")
                return
            }
            happen(next)
        }
        isConnected = true
        band.connected()
    }

    /// Lets everything happen that is still to happen, so that a band which is to reboot has done so.
    mutating func settle() {
        while let next = takeNext(before: nil) { happen(next) }
    }

    /// Drives a procedure to its end, and checks what every procedure promises.
    mutating func run<P: Procedure>(_ procedure: inout P) -> Result<P.Outcome, ProcedureError>
    where P.Outcome: Equatable {
        writes = 0
        var timer: (id: Int, deadline: Duration)?
        var lastProgress = 0
        for _ in 0..<1_000_000 {
            while let next = takeNext(before: now) { tell(next, &procedure) }
            if stop == .before(write: writes + 1) { interrupt(&procedure) }
            let step = procedure.next()
            #expect(procedure.next() == step, "next() is idempotent")
            let progress = procedure.progress
            #expect(progress.bytes >= lastProgress && progress.bytes <= progress.total)
            lastProgress = progress.bytes
            log += procedure.takeLog()
            switch step {
            case .write(let bytes, let endpoint):
                #expect(endpoint == .command)
                write(bytes, &procedure)
            case .wait(let asked):
                if timer?.id != asked.id {
                    #expect(asked.id > timer?.id ?? 0, "a new wait has a new number")
                    timer = (asked.id, now + asked.duration)
                }
                guard let deadline = timer?.deadline else { continue }
                if let next = takeNext(before: deadline) {
                    tell(next, &procedure)
                } else {
                    now = max(now, deadline)
                    procedure.receive(.timeout)
                }
            case .finish(let result):
                for event in [Event.disconnected, .timeout, .abort, .written] { procedure.receive(event) }
                #expect(procedure.next() == step, "nothing changes an end")
                return result
            }
        }
        Issue.record("the procedure does not end")
        return .failure(ProcedureError(.silent, message: "the procedure does not end"))
    }

    private mutating func interrupt(_ procedure: inout some Procedure) {
        stop = nil
        procedure.receive(.abort)
    }

    private mutating func write(_ bytes: [UInt8], _ procedure: inout some Procedure) {
        writes += 1
        guard isConnected else { return procedure.receive(.disconnected) }
        frames.append(bytes)
        if stop == .during(write: writes) { interrupt(&procedure) }
        countBurst()
        guard isConnected else { return procedure.receive(.disconnected) }
        perform(tampered(band.written(bytes, to: band.band.settings.profile.command), to: bytes))
        if answersEarly {
            while let next = takeNext(before: now) { tell(next, &procedure) }
        }
        guard isConnected else { return }
        procedure.receive(.written)
        if stop == .after(write: writes) { interrupt(&procedure) }
    }

    private mutating func countBurst() {
        guard let interval else { return }
        let number = Int(now / interval)
        burst = burst.interval == number ? (number, burst.packets + 1) : (number, 1)
        for case .disconnect in band.received(packets: burst.packets) { loseLink() }
    }

    private func tampered(_ actions: [DeviceAction], to frame: [UInt8]) -> [DeviceAction] {
        guard let tamper else { return actions }
        var answers: [[UInt8]] = []
        var others: [DeviceAction] = []
        for action in actions {
            if case .notify(let bytes, _, _) = action { answers.append(bytes) } else { others.append(action) }
        }
        tamper(frame, &answers)
        return answers.map { .notify($0, from: band.band.settings.profile.reply, after: .zero) } + others
    }

    private mutating func perform(_ actions: [DeviceAction]) {
        for action in actions {
            switch action {
            case .notify(let bytes, let characteristic, let delay): schedule(.notified(bytes, characteristic), delay)
            case .disconnect(let delay): schedule(.linkLost, delay)
            case .reboot(let delay, let offAir): schedule(.wentDown(offAir: offAir), delay)
            case .wake(let token, let delay): schedule(.woke(token), delay)
            }
        }
    }

    private mutating func schedule(_ occurrence: Occurrence, _ delay: Duration) {
        order += 1
        queue.append((now + delay, order, occurrence))
        queue.sort { ($0.due, $0.order) < ($1.due, $1.order) }
    }

    private mutating func takeNext(before limit: Duration?) -> Occurrence? {
        guard let first = queue.first, limit.map({ first.due <= $0 }) ?? true else { return nil }
        queue.removeFirst()
        now = max(now, first.due)
        return first.2
    }

    private mutating func tell(_ occurrence: Occurrence, _ procedure: inout some Procedure) {
        let wasConnected = isConnected
        if case .notified(let bytes, let characteristic) = occurrence {
            guard isConnected else { return }
            #expect(characteristic == band.band.settings.profile.reply)
            procedure.receive(.notification(bytes, from: .reply))
        }
        happen(occurrence)
        if wasConnected, !isConnected { procedure.receive(.disconnected) }
    }

    private mutating func happen(_ occurrence: Occurrence) {
        switch occurrence {
        case .notified: break
        case .linkLost: loseLink()
        case .wentDown(let offAir):
            loseLink()
            isOnAir = false
            schedule(.cameUp, offAir)
        case .cameUp:
            band.rebooted()
            isOnAir = true
        case .woke(let token): perform(band.woken(token))
        }
    }

    private mutating func loseLink() {
        guard isConnected else { return }
        isConnected = false
        burst = (-1, 0)
        queue.removeAll { if case .notified = $0.2 { true } else { false } }
        band.disconnected()
    }
}

// MARK: - A whole update

extension Bench {
    /// What an update came to.
    struct Report {
        /// The end of the last procedure.
        var result: Result<BlockAck.Transfer.Outcome, ProcedureError>
        /// Links that were needed.
        var links = 1
        /// Over all links.
        var statistics = BlockAck.Statistics()
        var learnt = BlockAck.Learnt()
        /// The version was seen, or `Completion` had to ask.
        var isDecidedAfterwards = false
    }

    /// Sends an image as a whole update does: over a new link after each loss, and with a look after a lost verdict.
    mutating func update(_ image: BlockAck.Image, maximumWriteLength: Int = 20) -> Report {
        var report = Report(result: .success(.accepted))
        let parameters = band.band.settings.profile.blockAck
        connect()
        while true {
            var transfer = BlockAck.Transfer(
                image, by: parameters, maximumWriteLength: maximumWriteLength, learnt: report.learnt)
            report.result = run(&transfer)
            report.learnt = transfer.learnt
            report.statistics.blocksAcknowledged += transfer.statistics.blocksAcknowledged
            report.statistics.retries += transfer.statistics.retries
            report.statistics.resyncs += transfer.statistics.resyncs
            report.statistics.droppedReplies += transfer.statistics.droppedReplies
            report.statistics.busyReplies += transfer.statistics.busyReplies
            guard case .failure(let error) = report.result, error.code == .linkLost, report.links < 4 else { break }
            report.links += 1
            connect()
        }
        if case .success(.unanswered(let linkLost)) = report.result {
            report.isDecidedAfterwards = true
            settle()
            if memory.version == image.version {
                report.result = .success(.accepted)
            } else {
                if linkLost { connect() }
                var completion = BlockAck.Completion(of: image, by: parameters)
                report.result = run(&completion).map { _ in .accepted }
            }
        }
        settle()
        return report
    }
}
