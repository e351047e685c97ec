internal import DFUProtocol
internal import DFUTransport

/// Writes one update down as it happens, line by line, for people to read and for `Capture` to replay.
///
/// Give it to an `UpdateObserver`, and to one update only. docs/captures.md has the form. The firmware itself and all but
/// the end of the device's address stay out.
public final class CaptureRecorder: Sendable {
    /// Consecutive packets of the image.
    private struct Run {
        var packets = 0
        var bytes = 0
        var checksum = CRC32()
    }

    private struct State {
        var elapsed: (@Sendable () -> Duration)?
        var toldSeconds = 0
        var run = Run()
        /// Endpoints whose writes the device answers.
        var answering: Set<Endpoint> = []
        /// What was written last in this procedure.
        var lastWrite: (entry: CaptureEntry, endpoint: Endpoint)?
        /// Whether the outcome of that is not known yet, and whether a line says so.
        var isWriteOpen = false
        var isWriteOpenTold = false
        var wait: WaitTimer?
        /// A pause that is over, which the next packet shows without a line of its own.
        var silentPause: Duration?

        /// Whether the device answers the last write. That it does is not told of packets of the image.
        var isAnswerToBeTold: Bool {
            guard let (entry, endpoint) = lastWrite, case .whole = entry else { return false }
            return answering.contains(endpoint)
        }
    }

    private let write: @Sendable (String) -> Void
    private let state = Locked(State())

    /// A capture by `program`, as `dfu 0.1.0`.
    /// - Parameter write: Takes a line without its end. Called from any thread, one line at a time and in order; it must
    ///   not block.
    public init(program: String, write: @escaping @Sendable (String) -> Void) {
        self.write = write
        note(.capture, "\(Capture.version)")
        note(.program, program)
    }

    /// Writes a fact down.
    package func note(_ key: CaptureKey, _ value: String, _ meaning: String? = nil) {
        state.withLock { tell(CaptureLine.fact(key, value).text(meaning?.withoutAddresses), &$0) }
    }

    /// Writes a line for people down.
    func remark(_ words: String) {
        state.withLock { tell(CaptureLine.remark(words.withoutAddresses), &$0) }
    }

    /// Tells the time since now, as `clock` has it.
    package func measure(on clock: any Clock<Duration>) {
        let elapsed = clock.stopwatch()
        state.withLock { $0.elapsed = elapsed }
    }

    /// Writes down which device it is: the end of its address, as labels have it, or a simulated one's name.
    package func noteDevice(_ device: String) {
        note(.device, BluetoothAddress(device).map { String($0.description.suffix(5)) } ?? device)
    }

    /// Writes down a line of what happens outside of procedures.
    func tell(_ line: String, isTimed: Bool = false) {
        state.withLock { tell(line, &$0, isTimed: isTimed) }
    }

    /// A link is open over these bindings.
    func opened(_ link: any Link, over bindings: [Endpoint: EndpointBinding]) {
        let unit = link.maximumWriteLength + 3
        state.withLock { state in
            state.answering = Set(bindings.filter { $0.value.use.isAnswered }.keys)
            tell(
                CaptureLine.maximumTransmissionUnit(UInt16(clamping: unit)).text(
                    "packets of at most \(link.maximumWriteLength) bytes"), &state)
        }
    }

    /// A procedure that is written down from now on, until it ends.
    func recording<P: CapturedProcedure>(_ procedure: P, in dialect: some CaptureDialect) -> Recording<P> {
        state.withLock { state in
            state.lastWrite = nil
            (state.isWriteOpen, state.isWriteOpenTold) = (false, false)
            (state.wait, state.silentPause) = (nil, nil)
            tell(CaptureLine.fact(.begin, procedure.captureTitle).text(), &state, isTimed: true)
        }
        return Recording(procedure) { [self] moment in
            state.withLock { note(moment, of: P.self, in: dialect, &$0) }
        }
    }
}

// MARK: - What procedures do

extension CaptureRecorder {
    private func note<P: CapturedProcedure>(
        _ moment: Recording<P>.Moment, of procedure: P.Type, in dialect: some CaptureDialect, _ state: inout State
    ) {
        switch moment {
        case .log(let line): tell(CaptureLine.remark(line.withoutAddresses), &state)
        case .step(.write(let bytes, let endpoint)): written(bytes, to: endpoint, in: dialect, &state)
        case .step(.wait(let timer)): state.wait = timer
        case .step(.finish(let result)):
            var meaning: String?
            if case .failure(let error) = result { meaning = error.message.withoutAddresses }
            tell(CaptureLine.fact(.end, P.captureWords(for: result)).text(meaning), &state)
        case .event(let event): happened(event, in: dialect, &state)
        }
    }

    private func written(
        _ bytes: [UInt8], to endpoint: Endpoint, in dialect: some CaptureDialect, _ state: inout State
    ) {
        let entry = dialect.entry(forWriting: bytes, to: endpoint)
        state.lastWrite = (entry, endpoint)
        (state.isWriteOpen, state.isWriteOpenTold) = (true, false)
        state.silentPause = nil
        switch entry {
        case .image(let count):
            state.run.packets += 1
            state.run.bytes += count
            state.run.checksum.update(bytes)
        case .whole(let term, let meaning, _):
            tell(CaptureLine.write(.whole(term, bytes)).text(meaning), &state)
        }
    }

    private func happened(_ event: Event, in dialect: some CaptureDialect, _ state: inout State) {
        switch event {
        case .written:
            state.isWriteOpen = false
            if state.isWriteOpenTold || state.isAnswerToBeTold { tell(CaptureLine.writeResponse(nil).text(), &state) }
        case .writeFailed(let failure):
            state.isWriteOpen = false
            let line = failure.attCode.map { CaptureLine.writeResponse($0) } ?? .writeError
            tell(line.text(failure.message.withoutAddresses), &state)
        case .timeout:
            guard let wait = state.wait else { preconditionFailure("no timer was asked for") }
            if state.lastWrite?.entry.isAnswered == false {
                state.silentPause = wait.duration
            } else {
                tell(CaptureLine.timePasses(wait.duration).text("\(wait.duration) pass"), &state)
            }
        case .notification(let bytes, let endpoint):
            interrupt(&state)
            tell(CaptureLine.notification(bytes).text(dialect.meaning(ofReceiving: bytes, from: endpoint)), &state)
        case .disconnected:
            interrupt(&state)
            state.isWriteOpen = false
            tell(CaptureLine.disconnected.text("the link is lost"), &state, isTimed: true)
        case .abort:
            interrupt(&state)
            tell(CaptureLine.stop.text("it is to stop"), &state, isTimed: true)
        }
    }

    /// Tells what is so far told by what follows alone: something else follows.
    private func interrupt(_ state: inout State) {
        if state.isWriteOpen, !state.isWriteOpenTold {
            state.isWriteOpenTold = true
            tell(CaptureLine.writeOpen.text("what follows came before it was done"), &state)
        }
        if let pause = state.silentPause.take() {
            tell(CaptureLine.timePasses(pause).text("\(pause) pass"), &state)
        }
    }
}

// MARK: - Lines

extension CaptureRecorder {
    /// Seconds after which a line without need for it has the time above it.
    private static var quietSeconds: Int { 10 }

    private func tell(_ line: String, _ state: inout State, isTimed: Bool = false) {
        let run = state.run
        if run.packets > 0 {
            state.run = Run()
            let packet = CapturePacket.image(packets: run.packets, bytes: run.bytes, crc32: run.checksum.value)
            tell(CaptureLine.write(packet).text(), &state)
        }
        let seconds = state.elapsed.map { Int($0() / .seconds(1)) } ?? 0
        if seconds >= state.toldSeconds + (isTimed ? 1 : Self.quietSeconds) {
            state.toldSeconds = seconds
            write(CaptureLine.fact(.time, "\(seconds) s").text())
        }
        write(line)
    }
}

extension CaptureLine {
    /// A wait that is over; milliseconds are rounded up.
    static func timePasses(_ duration: Duration) -> CaptureLine {
        .timePasses(milliseconds: UInt32(clamping: Int((duration / .milliseconds(1)).rounded(.up))))
    }
}

extension String {
    /// The text with only the end of each Bluetooth address in it, however its octets are parted.
    var withoutAddresses: String {
        let bytes = Array(utf8)
        var kept: [UInt8] = []
        var place = 0
        while place < bytes.count {
            if bytes[place...].prefix(17).isAddress {
                kept += "…".utf8 + bytes[(place + 11)..<(place + 17)]
                place += 17
            } else {
                kept.append(bytes[place])
                place += 1
            }
        }
        return String(decoding: kept, as: UTF8.self)
    }
}

extension ArraySlice<UInt8> {
    /// Whether it is `C0:FF:EE:12:44:50`, or the same with other signs between the octets.
    fileprivate var isAddress: Bool {
        guard count == 17, ":_-".utf8.contains(self[startIndex + 2]) else { return false }
        return indices.allSatisfy { index in
            (index - startIndex) % 3 == 2
                ? self[index] == self[startIndex + 2] : Character(UnicodeScalar(self[index])).isHexDigit
        }
    }
}
