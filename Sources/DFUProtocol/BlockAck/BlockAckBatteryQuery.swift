extension BlockAck {
    /// Asks for the battery level, which also proves that the device speaks block-ack.
    ///
    /// No valid answer in two tries ends in `.refused` with the reason `notBlockAck`; nothing else was written then.
    public struct BatteryQuery: Procedure {
        private static let tries = 2

        private var dialogue: Dialogue
        private var sends = 0
        private var result: Result<BatteryLevel, ProcedureError>?

        /// A question to a device that may speak block-ack by these parameters.
        public init(by parameters: Parameters) {
            dialogue = Dialogue(by: parameters)
            ask()
        }

        /// See `Procedure`.
        public var phase: Phase { .check }

        /// See `Procedure`.
        public mutating func next() -> Step<BatteryLevel> {
            if let result { .finish(result) } else { dialogue.next() }
        }

        /// See `Procedure`.
        public mutating func receive(_ event: Event) {
            guard result == nil, let turn = dialogue.receive(event) else { return }
            switch turn {
            case .answered(.battery(let tenths)):
                result = .success(BatteryLevel(tenths: tenths))
            case .answered(let reply):
                judge(reply.status)
            case .noAnswer:
                askAgain(orFailWith: Self.notBlockAck)
            case .writeFailed(let failure):
                dialogue.note("the battery question could not be written: \(failure.message)")
                askAgain(orFailWith: Self.notBlockAck)
            case .stayedBusy:
                result = .failure(.busy(with: .battery))
            case .disconnected:
                result = .failure(.linkLost(during: .battery))
            case .stopped:
                result = .failure(.stopped("nothing was changed on the device"))
            case .sent:
                preconditionFailure("the question has an answer")
            }
        }

        /// See `Procedure`.
        public mutating func takeLog() -> [String] {
            dialogue.takeLog()
        }

        /// A bare status is a valid frame, so it proves the device, too.
        private mutating func judge(_ status: Status) {
            switch status {
            case .ok, .unsupportedCommand: result = .success(.unknown)
            case .badFrameChecksum: askAgain(orFailWith: .refused(status, to: .battery))
            default: result = .failure(.refused(status, to: .battery))
            }
        }

        private mutating func ask() {
            sends += 1
            dialogue.ask(.battery)
        }

        private mutating func askAgain(orFailWith error: ProcedureError) {
            if sends < Self.tries { ask() } else { result = .failure(error) }
        }

        private static let notBlockAck = ProcedureError(
            .refused, reason: "notBlockAck",
            message: "the device does not answer as a block-ack device; name the right device, or a profile made for it"
        )
    }
}
