extension SecureDFU {
    /// Asks a bootloader what it holds of an update, and what it takes: `select` of both types, which changes nothing but
    /// the selected type.
    public struct Inquiry: Procedure {
        /// What there is of one type of object.
        public struct Holding: Sendable, Hashable {
            /// The most bytes of an object.
            public var maximumSize: Int
            /// What was received.
            public var reception: Reception
        }

        /// What a bootloader holds.
        public struct Outcome: Sendable, Hashable {
            /// Of the init packet.
            public var command: Holding
            /// Of the firmware.
            public var data: Holding
        }

        private static let tries = 2

        private let limit: Duration
        private var dialogue = Dialogue()
        private var type = ObjectType.command
        private var sends = 0
        private var command: Holding?
        private var result: Result<Outcome, ProcedureError>?

        /// An inquiry over a link that is open.
        public init(limits: Parameters.Limits = Parameters.Limits()) {
            limit = limits.answer
            ask()
        }

        /// See `Procedure`.
        public var phase: Phase { .check }

        /// See `Procedure`.
        public mutating func next() -> Step<Outcome> {
            if let result { .finish(result) } else { dialogue.next() }
        }

        /// See `Procedure`.
        public mutating func receive(_ event: Event) {
            guard result == nil, let turn = dialogue.receive(event) else { return }
            switch turn {
            case .answered(.selected(let size, let reception)):
                answered(Holding(maximumSize: Int(size), reception: reception))
            case .answered(.refused(_, let code, let extended)):
                let number = SecureDFU.code(code, extended)
                result = .failure(
                    ProcedureError(
                        .refused, reason: "bootloaderRefused", deviceCode: number.number,
                        message: "the device refused \(Opcode.select): \(number.text)"))
            case .answered(let answer):
                result = .failure(.unexpectedAnswer(answer.encoded, to: "\(Opcode.select)"))
            case .unreadable(let bytes):
                result = .failure(.unexpectedAnswer(bytes, to: "\(Opcode.select)"))
            case .noAnswer:
                askAgain(orFailWith: .noAnswer(to: "\(Opcode.select)", sends: sends))
            case .writeFailed(let failure):
                askAgain(orFailWith: .writeFailed(failure, of: "\(Opcode.select)"))
            case .disconnected:
                result = .failure(.linkLost(at: "\(Opcode.select)"))
            case .stopped:
                result = .failure(.stopped("nothing was changed on the device"))
            case .receipt:
                break
            case .sent, .waited:
                preconditionFailure("a request has an answer")
            }
        }

        /// See `Procedure`.
        public mutating func takeLog() -> [String] {
            dialogue.takeLog()
        }

        private mutating func answered(_ holding: Holding) {
            if let command {
                result = .success(Outcome(command: command, data: holding))
            } else {
                command = holding
                type = .data
                sends = 0
                ask()
            }
        }

        private mutating func ask() {
            sends += 1
            dialogue.ask(.select(type), within: limit)
        }

        private mutating func askAgain(orFailWith error: ProcedureError) {
            if sends < Self.tries { ask() } else { result = .failure(error) }
        }
    }
}
