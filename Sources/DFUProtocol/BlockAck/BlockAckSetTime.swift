extension BlockAck {
    /// Sets the device's clock, which a reboot clears.
    public struct SetTime: Procedure {
        /// How it ends well.
        public enum Outcome: Sendable, Hashable {
            /// The device took the time.
            case set
            /// The device does not know the command: the step is left out.
            case leftOut
        }

        /// What the clock is set to.
        package let time: PackedTime
        private var dialogue: Dialogue
        private var sends = 0
        private var result: Result<Outcome, ProcedureError>?

        /// Sets the clock to a local time.
        public init(_ time: PackedTime, by parameters: Parameters) {
            self.time = time
            dialogue = Dialogue(by: parameters)
            dialogue.waitsForBusy = parameters.tries > 1
            ask()
        }

        /// See `Procedure`.
        public var phase: Phase { .confirm }

        /// See `Procedure`.
        public mutating func next() -> Step<Outcome> {
            if let result { .finish(result) } else { dialogue.next() }
        }

        /// See `Procedure`.
        public mutating func receive(_ event: Event) {
            guard result == nil, let turn = dialogue.receive(event) else { return }
            switch turn {
            case .answered(let reply):
                judge(reply.status)
            case .noAnswer:
                let limit = dialogue.parameters.limits[.setTime]
                askAgain(orFailWith: .noAnswer(to: "setTime", within: limit, sends: sends))
            case .writeFailed(let failure):
                askAgain(orFailWith: .writeFailed(failure, of: "setTime"))
            case .stayedBusy:
                result = .failure(.busy(with: .setTime))
            case .disconnected:
                result = .failure(.linkLost(during: .setTime))
            case .stopped:
                result = .failure(.stopped("the device's clock may not be set"))
            case .sent:
                preconditionFailure("the command has an answer")
            }
        }

        /// See `Procedure`.
        public mutating func takeLog() -> [String] {
            dialogue.takeLog()
        }

        private mutating func judge(_ status: Status) {
            switch status {
            case .ok: result = .success(.set)
            case .unsupportedCommand: result = .success(.leftOut)
            case .badFrameChecksum: askAgain(orFailWith: .refused(status, to: .setTime))
            default: result = .failure(.refused(status, to: .setTime))
            }
        }

        private mutating func ask() {
            sends += 1
            dialogue.ask(.setTime(time))
        }

        private mutating func askAgain(orFailWith error: ProcedureError) {
            if sends < dialogue.parameters.tries { ask() } else { result = .failure(error) }
        }
    }
}
