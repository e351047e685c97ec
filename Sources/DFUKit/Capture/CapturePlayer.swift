internal import DFUProtocol

/// Plays a capture line by line.
struct CapturePlayer {
    /// How far the write before is.
    private enum Write {
        /// There is none, or its outcome is told.
        case over
        /// Done, unless the next line says otherwise.
        case written
        /// A line says that what follows came before its outcome.
        case open
    }

    private let scene: BlockAckScene
    private let dialect: BlockAckDialect
    private var entries: ArraySlice<Capture.Entry>
    private var replay = Replay()
    private var maximumTransmissionUnit = 23
    private var learnt: BlockAck.Learnt?
    private var write = Write.over
    /// Whether the packet written last is one that a pause may follow.
    private var isUnanswered = false

    init(_ capture: Capture, _ scene: BlockAckScene) {
        self.scene = scene
        dialect = BlockAckDialect(parameters: scene.parameters)
        entries = capture.entries[...]
    }

    mutating func play() throws(CaptureError) -> Replay {
        while replay.difference == nil, let entry = entries.popFirst() {
            switch entry.line {
            case .fact(.begin, let title): try play(title, entry)
            case .fact(.result, let result): (replay.result, replay.resultMessage) = (result, entry.meaning)
            case .connected: replay.links += 1
            case .maximumTransmissionUnit(let unit): maximumTransmissionUnit = Int(unit)
            case .write, .notification, .timePasses, .stop, .writeOpen, .fact(.end, _):
                throw .malformed(entry.number, "it belongs to a procedure, and none has begun ('# begin: …')")
            case .writeResponse, .writeError, .disconnected, .fact, .other: break
            }
        }
        return replay
    }

    /// Plays the procedure of this title.
    private mutating func play(_ title: String, _ entry: Capture.Entry) throws(CaptureError) {
        let words = title.split(separator: " ")
        func flaw(_ message: String) -> CaptureError { .malformed(entry.number, message) }
        guard let name = words.first.flatMap({ CapturedProcedureName(rawValue: String($0)) }) else {
            let names = CapturedProcedureName.allCases.map(\.rawValue).joined(separator: ", ")
            throw flaw("a procedure is one of \(names)")
        }
        let rest = words.dropFirst()
        switch name {
        case .battery: try drive(BlockAck.BatteryQuery(by: scene.parameters))
        case .transfer:
            guard let image = scene.image else { throw flaw("no image-size stands above") }
            guard let learnt = BlockAck.Learnt(captureWords: rest) else {
                throw flaw("a transfer begins with bytes and milliseconds: data, gap, worked, failed")
            }
            if let before = self.learnt, before != learnt {
                let mine = CaptureLine.fact(.begin, CapturedProcedureName.transfer.rawValue + before.captureWords)
                return differ(entry, mine.text())
            }
            let limit = min(maximumTransmissionUnit - 3, scene.packetLimit ?? .max)
            let end = try drive(
                BlockAck.Transfer(image, by: scene.parameters, maximumWriteLength: limit, learnt: learnt))
            self.learnt = end.learnt
        case .completion:
            guard let image = scene.image else { throw flaw("no image-size stands above") }
            guard scene.parameters.problem(with: image) == nil else {
                throw flaw("an image that cannot be sent cannot be completed")
            }
            try drive(BlockAck.Completion(of: image, by: scene.parameters))
        case .setTime:
            guard rest.count == 1, let time = rest.first.flatMap({ UInt32(hexadecimal: $0) }) else {
                throw flaw("set-time wants the packed time in eight hex digits")
            }
            try drive(BlockAck.SetTime(BlockAck.PackedTime(rawValue: time), by: scene.parameters))
        case .disconnection:
            guard let limit = rest.first.flatMap({ Duration(captureMilliseconds: $0) }), rest.dropFirst() == ["ms"]
            else {
                throw flaw("a disconnection wants the milliseconds that it may take")
            }
            try drive(Disconnection(limit: limit))
        }
    }

    /// Plays what stands there of one procedure.
    @discardableResult
    private mutating func drive<P: CapturedProcedure>(_ procedure: P) throws(CaptureError) -> P {
        var procedure = procedure
        (write, isUnanswered) = (.over, false)
        while let entry = entries.popFirst() {
            let isOver = try play(entry, &procedure)
            if isOver || replay.difference != nil { return procedure }
        }
        settle(&procedure)
        replay.next = words(step(of: &procedure), of: P.self)
        return procedure
    }

    /// Plays a line; true where it is the procedure's last.
    private mutating func play<P: CapturedProcedure>(
        _ entry: Capture.Entry, _ procedure: inout P
    ) throws(CaptureError) -> Bool {
        switch entry.line {
        case .write(let packet):
            try requireSettled(entry)
            settle(&procedure)
            switch packet {
            case .whole(let term, let bytes): playWhole(term, bytes, entry, &procedure)
            case .image(let packets, let bytes, let crc32):
                playImage(packets: packets, bytes: bytes, crc32: crc32, entry, &procedure)
            }
        case .writeOpen:
            guard case .written = write else { throw outOfPlace(entry) }
            write = .open
        case .writeResponse(let error):
            try end(.init(attCode: error, message: entry.meaning), error != nil, entry, &procedure)
        case .writeError: try end(.init(message: entry.meaning), true, entry, &procedure)
        case .notification(let bytes):
            settle(&procedure)
            procedure.receive(.notification(bytes, from: dialect.notifying))
            replay.answers += 1
        case .disconnected:
            settle(&procedure)
            write = .over
            procedure.receive(.disconnected)
        case .stop:
            settle(&procedure)
            procedure.receive(.abort)
        case .timePasses:
            try requireSettled(entry)
            settle(&procedure)
            playTime(entry, &procedure)
        case .fact(.end, let end):
            settle(&procedure)
            let step = procedure.next()
            guard case .finish(let result) = step, P.captureWords(for: result) == end else {
                differ(entry, words(step, of: P.self))
                return true
            }
            return true
        case .fact(.begin, _), .fact(.result, _):
            throw .malformed(entry.number, "the procedure before has not ended ('# end: …')")
        case .maximumTransmissionUnit, .connected, .fact, .other: break
        }
        return false
    }

    // MARK: The outcome of a write

    /// The write before is done, where no line says otherwise.
    private mutating func settle(_ procedure: inout some CapturedProcedure) {
        guard case .written = write else { return }
        write = .over
        procedure.receive(.written)
    }

    private func requireSettled(_ entry: Capture.Entry) throws(CaptureError) {
        if case .open = write {
            throw .malformed(entry.number, "the outcome of the write before is missing")
        }
    }

    /// A line with the outcome of the write before.
    private mutating func end(
        _ failure: WriteFailure, _ isFailed: Bool, _ entry: Capture.Entry, _ procedure: inout some CapturedProcedure
    ) throws(CaptureError) {
        if case .over = write { throw outOfPlace(entry) }
        write = .over
        procedure.receive(isFailed ? .writeFailed(failure) : .written)
    }

    private func outOfPlace(_ entry: Capture.Entry) -> CaptureError {
        .malformed(entry.number, "no write is before it whose outcome this could be about")
    }

    // MARK: Writes and waits

    /// What the procedure does next, after the pause that may follow what it wrote last.
    private func step<P: CapturedProcedure>(of procedure: inout P) -> Step<P.Outcome> {
        let step = procedure.next()
        guard isUnanswered, case .wait = step else { return step }
        procedure.receive(.timeout)
        return procedure.next()
    }

    private mutating func playWhole<P: CapturedProcedure>(
        _ term: CapturePacket.Term, _ captured: [UInt8], _ entry: Capture.Entry, _ procedure: inout P
    ) {
        let step = step(of: &procedure)
        guard case .write(let bytes, let endpoint) = step,
            case .whole(term, _, let isAnswered) = dialect.entry(forWriting: bytes, to: endpoint),
            dialect.isSame(bytes, as: captured, withStandIn: scene.isStandIn)
        else { return differ(entry, words(step, of: P.self)) }
        note(isAnswered: isAnswered)
    }

    private mutating func playImage<P: CapturedProcedure>(
        packets: Int, bytes: Int, crc32: UInt32?, _ entry: Capture.Entry, _ procedure: inout P
    ) {
        var run = (packets: 0, bytes: 0, checksum: CRC32())
        while run.packets < packets {
            settle(&procedure)
            let step = step(of: &procedure)
            guard case .write(let packet, let endpoint) = step,
                case .image(let count) = dialect.entry(forWriting: packet, to: endpoint)
            else {
                let begun = run.packets == 0 ? "" : "after \(run.packets) packets, \(run.bytes) bytes: "
                return differ(entry, begun + words(step, of: P.self))
            }
            run.packets += 1
            run.bytes += count
            run.checksum.update(packet)
            note(isAnswered: false)
        }
        let isSame = run.bytes == bytes && (scene.isStandIn || crc32 == nil || crc32 == run.checksum.value)
        guard !isSame else { return }
        let packet = CapturePacket.image(
            packets: run.packets, bytes: run.bytes, crc32: scene.isStandIn ? nil : run.checksum.value)
        differ(entry, CaptureLine.write(packet).text())
    }

    private mutating func note(isAnswered: Bool) {
        replay.writes += 1
        write = .written
        isUnanswered = !isAnswered
    }

    private mutating func playTime<P: CapturedProcedure>(_ entry: Capture.Entry, _ procedure: inout P) {
        let step = procedure.next()
        guard case .wait(let timer) = step, CaptureLine.timePasses(timer.duration) == entry.line else {
            return differ(entry, words(step, of: P.self))
        }
        procedure.receive(.timeout)
    }

    // MARK: Differences

    private mutating func differ(_ entry: Capture.Entry, _ procedure: String) {
        replay.difference = Replay.Difference(line: entry.number, captured: entry.text, procedure: procedure)
    }

    /// A step as a line of a capture would have it.
    private func words<P: CapturedProcedure>(_ step: Step<P.Outcome>, of: P.Type) -> String {
        switch step {
        case .write(let bytes, let endpoint):
            switch dialect.entry(forWriting: bytes, to: endpoint) {
            case .whole(let term, let meaning, _): CaptureLine.write(.whole(term, bytes)).text(meaning)
            case .image(let count): CaptureLine.write(.image(packets: 1, bytes: count, crc32: nil)).text()
            }
        case .wait(let timer): CaptureLine.timePasses(timer.duration).text("waits at most \(timer.duration)")
        case .finish(let result): CaptureLine.fact(.end, P.captureWords(for: result)).text()
        }
    }
}
