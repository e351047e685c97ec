extension BlockAck {
    /// What all procedures of block-ack share: one frame at a time is written, and then a pause or an answer awaited.
    ///
    /// Answers count only while the command that they answer waits for one; all others are dropped, counted and logged.
    struct Dialogue: Sendable {
        /// How a frame, with the pause or the answer behind it, came to its end.
        enum Turn: Equatable {
            /// The frame is written, and its pause over.
            case sent
            /// The device answered, and not with busy as long as that is waited for.
            case answered(Reply)
            /// The device was busy for as long as is waited for.
            case stayedBusy
            /// No answer came in its limit.
            case noAnswer
            /// The frame was not taken.
            case writeFailed(WriteFailure)
            /// The link is gone; the answer is there if it came before the write was reported as done.
            case disconnected(answer: Reply?)
            /// The user wants to stop, and no write is on its way; the answer as in `disconnected`.
            case stopped(answer: Reply?)
        }

        /// What follows a frame.
        private enum Sequel: Equatable {
            /// Nothing, or a pause before the next frame.
            case pause(Duration)
            /// An answer.
            case answer
        }

        private enum Activity: Equatable {
            /// To be written. Next: writing.
            case ready
            /// Handed out; its answer may come before the word that it was written. Next: pausing, awaiting, over.
            case writing(answer: Reply?)
            /// Next: over.
            case pausing(WaitTimer)
            /// Next: backingOff, over.
            case awaiting(WaitTimer)
            /// The device was busy. Next: ready.
            case backingOff(WaitTimer)
            /// Nothing is to be done until the procedure says what.
            case over
        }

        /// The first wait of a busy device; each further one is twice as long, up to the last.
        private static let firstBackOff = Duration.milliseconds(250)
        private static let longestBackOff = Duration.seconds(4)
        /// How long a device may be busy in a row.
        private static let longestBusy = Duration.seconds(60)

        let parameters: Parameters
        /// Whether a busy device is waited for.
        var waitsForBusy = true
        /// Answers that did not count.
        private(set) var droppedReplies = 0
        /// Answers that said busy.
        private(set) var busyReplies = 0
        /// Whether the frame was handed to the driver at least once.
        private(set) var isHandedOut = false

        private var request = Request.abort
        private var bytes: [UInt8] = []
        private var sequel = Sequel.pause(.zero)
        private var activity = Activity.over
        private var busyFor = Duration.zero
        private var backOff = Self.firstBackOff
        private var isStopWanted = false
        private var timers = 0
        private var log: [String] = []

        init(by parameters: Parameters) {
            self.parameters = parameters
        }

        /// Writes a command, and waits for its answer as long as the parameters say.
        mutating func ask(_ request: Request) {
            begin(request, then: .answer)
            busyFor = .zero
            backOff = Self.firstBackOff
        }

        /// Writes a frame that is not answered, and lets `pause` pass.
        mutating func send(_ request: Request, pause: Duration) {
            begin(request, then: .pause(pause))
        }

        private mutating func begin(_ request: Request, then sequel: Sequel) {
            precondition(activity == .over, "\(self.request.command) is not over yet")
            self.request = request
            self.sequel = sequel
            bytes = request.encoded(by: parameters)
            activity = .ready
            isHandedOut = false
        }

        /// What to do now, while the procedure is not finished.
        mutating func next<Outcome>() -> Step<Outcome> {
            switch activity {
            case .ready:
                activity = .writing(answer: nil)
                isHandedOut = true
                return .write(bytes, to: .command)
            case .writing:
                return .write(bytes, to: .command)
            case .pausing(let timer), .awaiting(let timer), .backingOff(let timer):
                return .wait(timer)
            case .over:
                preconditionFailure("nothing to do after \(request.command)")
            }
        }

        /// Takes note of an event; tells how the turn ended where it did.
        mutating func receive(_ event: Event) -> Turn? {
            switch event {
            case .notification(let bytes, from: .reply):
                return heard(bytes)
            case .notification(let bytes, from: .command):
                return drop(bytes, "from the command's characteristic")
            case .notification(_, from: .controlPoint), .notification(_, from: .packet),
                .notification(_, from: .buttonless):
                preconditionFailure("no other protocol's endpoint is open")
            case .written:
                return written()
            case .writeFailed(let failure):
                guard case .writing = activity else { preconditionFailure("no write was asked for") }
                return end(isStopWanted ? .stopped(answer: nil) : .writeFailed(failure))
            case .timeout:
                return timeout()
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

        private var earlyAnswer: Reply? {
            if case .writing(let answer) = activity { answer } else { nil }
        }

        private mutating func written() -> Turn? {
            guard case .writing(let answer) = activity else { preconditionFailure("no write was asked for") }
            if isStopWanted { return end(.stopped(answer: answer)) }
            switch sequel {
            case .pause(.zero):
                return end(.sent)
            case .pause(let pause):
                activity = .pausing(timer(pause))
                return nil
            case .answer:
                if let answer { return answered(answer) }
                activity = .awaiting(timer(parameters.limits[request.command]))
                return nil
            }
        }

        private mutating func timeout() -> Turn? {
            switch activity {
            case .pausing:
                return end(.sent)
            case .awaiting:
                return end(.noAnswer)
            case .backingOff:
                activity = .ready
                return nil
            case .ready, .writing, .over:
                preconditionFailure("no timer was asked for")
            }
        }

        private mutating func heard(_ bytes: [UInt8]) -> Turn? {
            let frame: Frame
            do {
                frame = try Frame(decoding: bytes, from: .device, by: parameters)
            } catch {
                switch error {
                case .short: return drop(bytes, "too short for a frame")
                case .foreign: return drop(bytes, "not a frame of this protocol")
                case .damaged: return drop(bytes, "damaged")
                }
            }
            guard let reply = Reply(frame, by: parameters) else { return drop(bytes, "unknown, or of a wrong length") }
            guard isAwaited(reply) else { return drop(bytes, "nobody waits for it") }
            switch activity {
            case .writing(answer: nil):
                activity = .writing(answer: reply)
                return nil
            case .awaiting:
                return answered(reply)
            case .writing, .ready, .pausing, .backingOff, .over:
                return drop(bytes, "nobody waits for it")
            }
        }

        private func isAwaited(_ reply: Reply) -> Bool {
            guard sequel == .answer, reply.command == request.command else { return false }
            if case .block(_, let index?, _) = reply, case .blockEnd(let expected) = request {
                return index == expected
            }
            return true
        }

        private mutating func drop(_ bytes: [UInt8], _ why: String) -> Turn? {
            droppedReplies += 1
            log.append("dropped \(bytes.hexadecimal): \(why)")
            return nil
        }

        private mutating func answered(_ reply: Reply) -> Turn? {
            guard reply.status == .busy else { return end(.answered(reply)) }
            busyReplies += 1
            guard waitsForBusy, busyFor < Self.longestBusy else { return end(.stayedBusy) }
            let wait = min(backOff, Self.longestBusy - busyFor)
            log.append("busy: \(request.command.rawValue) again in \(wait)")
            busyFor += wait
            backOff = min(backOff * 2, Self.longestBackOff)
            activity = .backingOff(timer(wait))
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
