extension SecureDFU {
    /// One thing at a time: a request and its answer, a packet, or a wait.
    ///
    /// An answer counts only while the request that it answers waits for one. What looks like the answer to `checksum`,
    /// and was not asked for, is a receipt. All else is dropped, counted and logged.
    struct Dialogue: Sendable {
        /// What came of it.
        enum Turn: Equatable {
            /// The packet is written.
            case sent
            /// A receipt came. What is under way goes on.
            case receipt(Response)
            /// The device answered.
            case answered(Response)
            /// The device answered in a form that is none of this protocol's.
            case unreadable([UInt8])
            /// No answer came in its limit.
            case noAnswer
            /// The wait is over.
            case waited
            /// The packet or the request was not taken.
            case writeFailed(WriteFailure)
            /// The link is gone; the answer is there if it came before the write was reported as done.
            case disconnected(answer: Response?)
            /// The user wants to stop, and no write is on its way; the answer as in `disconnected`.
            case stopped(answer: Response?)
        }

        /// What is written.
        private enum Message: Equatable {
            case request(Request, limit: Duration)
            case packet([UInt8])
        }

        /// What came while a request was still being written.
        private enum Early: Equatable {
            case answer(Response)
            case unreadable([UInt8])
        }

        private enum Activity: Equatable {
            /// To be written. Next: writing.
            case ready
            /// Handed out. Next: awaiting, over.
            case writing(Early?)
            /// The answer is waited for. Next: over.
            case awaiting(WaitTimer)
            /// Time is to pass. Next: ready, waiting, over.
            case waiting(WaitTimer)
            /// Nothing is to be done until the procedure says what.
            case over
        }

        /// Answers and receipts that did not count.
        private(set) var droppedAnswers = 0
        /// The last bytes that were no answer at all, since the request was asked.
        private(set) var strangeBytes: [UInt8]?
        /// Whether the message was handed to the driver at least once.
        private(set) var isHandedOut = false

        private var message = Message.packet([])
        private var activity = Activity.over
        private var isStopWanted = false
        private var timers = 0
        private var log: [String] = []

        /// Writes a request, and waits for its answer.
        mutating func ask(_ request: Request, within limit: Duration) {
            begin(.request(request, limit: limit))
        }

        /// Writes a packet.
        mutating func send(_ bytes: [UInt8]) {
            begin(.packet(bytes))
        }

        /// Lets time pass; a further order ends the wait.
        mutating func wait(_ duration: Duration) {
            precondition(activity == .over, "something is under way")
            activity = .waiting(timer(duration))
        }

        private mutating func begin(_ message: Message) {
            switch activity {
            case .over, .waiting: break
            case .ready, .writing, .awaiting: preconditionFailure("something is under way")
            }
            self.message = message
            activity = .ready
            isHandedOut = false
            strangeBytes = nil
        }

        /// What to do now, while the procedure is not finished.
        mutating func next<Outcome>() -> Step<Outcome> {
            switch activity {
            case .ready:
                activity = .writing(nil)
                isHandedOut = true
                return write()
            case .writing:
                return write()
            case .awaiting(let timer), .waiting(let timer):
                return .wait(timer)
            case .over:
                preconditionFailure("there is nothing to do")
            }
        }

        private func write<Outcome>() -> Step<Outcome> {
            switch message {
            case .request(let request, _): .write(request.encoded, to: .controlPoint)
            case .packet(let bytes): .write(bytes, to: .packet)
            }
        }

        /// Takes note of an event; tells what came of it where something did.
        mutating func receive(_ event: Event) -> Turn? {
            switch event {
            case .notification(let bytes, from: .controlPoint):
                return heard(bytes)
            case .notification(let bytes, from: .packet):
                return drop(bytes, "from the packet characteristic")
            case .notification(_, from: .command), .notification(_, from: .reply), .notification(_, from: .buttonless):
                preconditionFailure("no other protocol's endpoint is open")
            case .written:
                return written()
            case .writeFailed(let failure):
                guard case .writing = activity else { preconditionFailure("no write was asked for") }
                return end(isStopWanted ? .stopped(answer: nil) : .writeFailed(failure))
            case .timeout:
                switch activity {
                case .awaiting: return end(.noAnswer)
                case .waiting: return end(.waited)
                case .ready, .writing, .over: preconditionFailure("no timer was asked for")
                }
            case .disconnected:
                // A device may answer and be gone before the host's stack reports the write as done.
                return end(.disconnected(answer: earlyAnswer))
            case .abort:
                guard case .writing = activity else { return end(.stopped(answer: nil)) }
                isStopWanted = true
                return nil
            }
        }

        private mutating func end(_ turn: Turn) -> Turn {
            activity = .over
            isStopWanted = false
            return turn
        }

        private var earlyAnswer: Response? {
            if case .writing(.answer(let answer)) = activity { answer } else { nil }
        }

        private mutating func written() -> Turn? {
            guard case .writing(let early) = activity else { preconditionFailure("no write was asked for") }
            if isStopWanted { return end(.stopped(answer: earlyAnswer)) }
            switch (message, early) {
            case (.packet, _):
                return end(.sent)
            case (.request, .answer(let answer)):
                return end(.answered(answer))
            case (.request, .unreadable(let bytes)):
                return end(.unreadable(bytes))
            case (.request(_, let limit), nil):
                activity = .awaiting(timer(limit))
                return nil
            }
        }

        /// What waits for an answer now.
        private var awaited: Opcode? {
            guard case .request(let request, _) = message else { return nil }
            switch activity {
            case .writing(nil), .awaiting: return request.opcode
            case .writing, .ready, .waiting, .over: return nil
            }
        }

        private mutating func heard(_ bytes: [UInt8]) -> Turn? {
            guard let response = Response(bytes) else {
                strangeBytes = bytes
                guard let awaited, bytes.starts(with: [Opcode.response.rawValue, awaited.rawValue]) else {
                    return drop(bytes, "no answer of this protocol")
                }
                return take(.unreadable(bytes), turn: .unreadable(bytes))
            }
            if response.opcode == awaited { return take(.answer(response), turn: .answered(response)) }
            guard response.opcode == .checksum, isOpenForReceipts else { return drop(bytes, "nobody waits for it") }
            return .receipt(response)
        }

        private mutating func take(_ early: Early, turn: Turn) -> Turn? {
            guard case .writing = activity else { return end(turn) }
            activity = .writing(early)
            return nil
        }

        /// While packets are sent, and time passes between them.
        private var isOpenForReceipts: Bool {
            if case .waiting = activity { return true }
            if case .packet = message { return activity != .over }
            return false
        }

        /// Counts and logs a receipt that the procedure has no use for.
        mutating func drop(_ receipt: Response, _ why: String) {
            _ = drop(receipt.encoded, why)
        }

        private mutating func drop(_ bytes: [UInt8], _ why: String) -> Turn? {
            droppedAnswers += 1
            log.append("dropped \(bytes.isEmpty ? "an empty value" : bytes.hexadecimal): \(why)")
            return nil
        }

        private mutating func timer(_ duration: Duration) -> WaitTimer {
            timers += 1
            return WaitTimer(id: timers, duration: duration)
        }

        /// Adds a line to the log.
        mutating func note(_ line: String) {
            log.append(line)
        }

        /// Takes the lines that were logged since the last call.
        mutating func takeLog() -> [String] {
            defer { log.removeAll() }
            return log
        }
    }
}
