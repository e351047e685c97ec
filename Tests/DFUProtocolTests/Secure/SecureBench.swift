import DFUProtocol
import Testing

/// Runs transfers against a bootloader in step, in a time that passes only when nothing else is left to do.
struct SecureBench {
    enum Fault: Equatable {
        /// The link is lost before this write, from 1, over all links.
        case linkLost(before: Int)
        /// This write is still heard, and then the link is lost before it is answered.
        case linkLost(after: Int)
        case stop(before: Int)
        case stop(during: Int)
        case stop(after: Int)
    }

    var device: SecureBootloader
    var parameters: SecureDFU.Parameters
    var maximumWriteLength: Int
    var learnt = SecureDFU.Learnt()
    var faults: [Fault] = []
    /// How long each notification travels.
    var latency = Duration.zero
    /// Whether answers come before the word that the write is done.
    var answersEarly = false
    /// How an `abort` ends the link; nil: the device does not know it.
    var restart: Duration? = .milliseconds(10)
    /// Whether the link is lost when the last `execute` was answered.
    var resetsAtTheEnd = true
    /// Changes the answers to a request, or what a packet brings forth: told the bytes, the time, and the answers. The
    /// answers may be any.
    var tamper: ((_ bytes: [UInt8], _ isRequest: Bool, inout [[UInt8]]) -> Void)?
    /// Whether a packet of the firmware gets through, by where its object begins, and the time since that was created.
    var hears: ((_ object: Int, _ sinceCreate: Duration) -> Bool)?

    private(set) var now = Duration.zero
    private(set) var requests: [[UInt8]] = []
    private(set) var packetLengths: [Int] = []
    private(set) var writes = 0
    private(set) var writesAfterStop = 0
    /// Packets of the firmware that were sent without a word of the device about them.
    private(set) var mostInFlight = 0
    private(set) var log: [String] = []
    private(set) var links = 1
    private(set) var statistics = SecureDFU.Statistics()

    private var isStopped = false
    private var isConnected = true
    private var lastCreate = Duration.zero
    private var queue: [(due: Duration, order: Int, event: Event)] = []
    private var order = 0
    private var unacknowledged = 0

    init(_ device: SecureBootloader, maximumWriteLength: Int = 244, receipts: SecureDFU.Parameters.Receipts? = nil) {
        self.device = device
        self.maximumWriteLength = maximumWriteLength
        parameters = SecureDFU.Parameters()
        if let receipts { parameters.receipts = receipts }
    }

    /// Sends over a new link after each loss, as a whole update does.
    mutating func update(_ image: SecureDFU.Image, links limit: Int = 4) -> Result<
        SecureDFU.Transfer.Outcome, ProcedureError
    > {
        while true {
            let result = transfer(image)
            guard case .failure(let error) = result, error.code == .linkLost, links < limit else { return result }
            links += 1
            connect()
        }
    }

    mutating func connect() {
        queue = []
        isConnected = true
    }

    /// One transfer over the link that is open.
    mutating func transfer(_ image: SecureDFU.Image) -> Result<SecureDFU.Transfer.Outcome, ProcedureError> {
        var transfer = SecureDFU.Transfer(
            image, by: parameters, maximumWriteLength: maximumWriteLength, learnt: learnt)
        let result = run(&transfer)
        learnt = transfer.learnt
        statistics = transfer.statistics
        return result
    }

    /// Drives a procedure to its end, and checks what every procedure promises.
    mutating func run<P: Procedure>(_ procedure: inout P) -> Result<P.Outcome, ProcedureError>
    where P.Outcome: Equatable {
        var timer: (id: Int, deadline: Duration)?
        var progress = procedure.progress
        for _ in 0..<1_000_000 {
            while let event = takeNext(before: now) { tell(event, &procedure) }
            if faults.contains(.stop(before: writes + 1)) { stop(&procedure) }
            let step = procedure.next()
            // An expectation a step would take most of the time.
            if procedure.next() != step { Issue.record("next() is idempotent") }
            let told = procedure.progress
            if told.bytes < progress.bytes || told.bytes > told.total { Issue.record("progress never falls") }
            progress = told
            log += procedure.takeLog()
            switch step {
            case .write(let bytes, let endpoint):
                write(bytes, to: endpoint, &procedure)
            case .wait(let asked):
                if timer?.id != asked.id {
                    #expect(asked.id > timer?.id ?? 0, "a new wait has a new number")
                    timer = (asked.id, now + asked.duration)
                }
                guard let deadline = timer?.deadline else { continue }
                if let event = takeNext(before: deadline) {
                    tell(event, &procedure)
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

    private mutating func stop(_ procedure: inout some Procedure) {
        guard !isStopped else { return }
        isStopped = true
        procedure.receive(.abort)
    }

    private mutating func write(_ bytes: [UInt8], to endpoint: Endpoint, _ procedure: inout some Procedure) {
        writes += 1
        if isStopped { writesAfterStop += 1 }
        guard isConnected, !faults.contains(.linkLost(before: writes)) else {
            loseLink()
            return procedure.receive(.disconnected)
        }
        let isRequest = endpoint == .controlPoint
        var answers = isRequest ? request(bytes) : packet(bytes)
        if faults.contains(.stop(during: writes)) { stop(&procedure) }
        tamper?(bytes, isRequest, &answers)
        if faults.contains(.linkLost(after: writes)) {
            loseLink()
            return procedure.receive(.disconnected)
        }
        for answer in answers { schedule(.notification(answer, from: .controlPoint), latency) }
        if bytes == [0x0C], isRequest, let restart { schedule(.disconnected, restart) }
        if device.installed != nil, isRequest, resetsAtTheEnd { schedule(.disconnected, latency + .milliseconds(5)) }
        if answersEarly {
            while let event = takeNext(before: now + latency) { tell(event, &procedure) }
        }
        guard isConnected else { return }
        procedure.receive(.written)
        if faults.contains(.stop(after: writes)) { stop(&procedure) }
    }

    private mutating func request(_ bytes: [UInt8]) -> [[UInt8]] {
        requests.append(bytes)
        #expect(bytes.count <= 20, "a request goes into the shortest MTU")
        if bytes[0] == 0x01 { lastCreate = now }
        unacknowledged = 0
        return device.requested(bytes)
    }

    private mutating func packet(_ bytes: [UInt8]) -> [[UInt8]] {
        packetLengths.append(bytes.count)
        if requests.contains([0x06, 0x02]) {
            unacknowledged += 1
            mostInFlight = max(mostInFlight, unacknowledged)
            if let hears, !hears(device.executed, now - lastCreate) { device.lostPackets.insert(device.packets + 1) }
        }
        return device.heard(bytes).map { [$0] } ?? []
    }

    private mutating func schedule(_ event: Event, _ delay: Duration) {
        order += 1
        queue.append((now + delay, order, event))
        queue.sort { ($0.due, $0.order) < ($1.due, $1.order) }
    }

    private mutating func takeNext(before limit: Duration) -> Event? {
        guard let first = queue.first, first.due <= limit else { return nil }
        queue.removeFirst()
        now = max(now, first.due)
        return first.event
    }

    private mutating func tell(_ event: Event, _ procedure: inout some Procedure) {
        if event == .disconnected {
            guard isConnected else { return }
            loseLink()
        } else if case .notification(let bytes, _) = event, bytes.starts(with: [0x60, 0x03]) {
            unacknowledged = 0
        }
        procedure.receive(event)
    }

    private mutating func loseLink() {
        guard isConnected else { return }
        isConnected = false
        queue = []
        device.disconnected()
    }
}
