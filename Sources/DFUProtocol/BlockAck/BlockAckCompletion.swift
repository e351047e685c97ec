extension BlockAck {
    /// Finds out what became of an image whose `complete` was not answered, and whose version does not tell.
    ///
    /// One `start` asks how many blocks the device holds: all of them, and `complete` is sent once more. Anything else
    /// ends in `.unconfirmed`, after an `abort` where that `start` has opened a new session.
    public struct Completion: Procedure {
        /// How it ends well.
        public enum Outcome: Sendable, Hashable {
            /// The device answered `complete` with 00, and reboots into the image.
            case accepted
        }

        private enum Stage: Equatable {
            /// Next: completing, withdrawing, over.
            case starting
            /// Next: over.
            case completing
            /// `abort`, because of what the device said. Next: over.
            case withdrawing(finding: String)
        }

        private let image: Image
        private let blockCount: Int
        private var dialogue: Dialogue
        private var stage = Stage.starting
        /// How often the command under way was sent.
        private var sends = 0
        private var result: Result<Outcome, ProcedureError>?

        /// The question for an image that a `Transfer` by these parameters has sent to the end.
        public init(of image: Image, by parameters: Parameters) {
            self.image = image
            blockCount = image.blockCount(blockSize: parameters.blockSize)
            dialogue = Dialogue(by: parameters)
            dialogue.waitsForBusy = parameters.tries > 1
            ask()
        }

        /// See `Procedure`.
        public var phase: Phase { .verify }

        /// See `Procedure`.
        public mutating func next() -> Step<Outcome> {
            if let result { .finish(result) } else { dialogue.next() }
        }

        /// See `Procedure`.
        public mutating func receive(_ event: Event) {
            guard result == nil, let turn = dialogue.receive(event) else { return }
            switch (turn, stage) {
            case (.sent, _):
                preconditionFailure("all commands have an answer")
            case (.stopped, _):
                result = .failure(.stoppedAfterComplete)
            case (_, .withdrawing(let finding)):
                leaveOpen(finding)
            case (.answered(let reply), _), (.disconnected(answer: let reply?), .completing):
                answered(reply)
            case (.stayedBusy, _):
                leaveOpen("it stayed busy")
            case (.noAnswer, _):
                leaveOpen("it does not answer")
            case (.writeFailed(let failure), _):
                leaveOpen(failure.message)
            case (.disconnected, _):
                leaveOpen("the link was lost")
            }
        }

        /// See `Procedure`.
        public mutating func takeLog() -> [String] {
            dialogue.takeLog()
        }

        private mutating func ask() {
            let parameters = dialogue.parameters
            sends += 1
            switch stage {
            case .starting:
                dialogue.ask(.start(image.announcement(by: parameters)))
            case .completing:
                dialogue.ask(.complete(crc32: image.crc32))
            case .withdrawing:
                dialogue.waitsForBusy = false
                dialogue.ask(.abort)
            }
        }

        private mutating func enter(_ stage: Stage) {
            self.stage = stage
            sends = 0
            ask()
        }

        private mutating func answered(_ reply: Reply) {
            switch (reply, reply.status) {
            case (.started(let next, _), _):
                started(Int(next))
            case (_, .badFrameChecksum) where sends < dialogue.parameters.tries:
                ask()
            case (_, .ok) where stage == .completing:
                result = .success(.accepted)
            case (_, .badFrameChecksum):
                leaveOpen("frames arrive damaged", status: .badFrameChecksum)
            case (_, let status) where stage == .completing:
                result = .failure(.refused(status, to: .complete))
            case (_, let status):
                leaveOpen("it answered start with \(status.meaning)", status: status)
            }
        }

        private mutating func started(_ next: Int) {
            let finding = "it asks for block \(next + 1) of \(blockCount)"
            if next == blockCount {
                enter(.completing)
            } else if next < blockCount {
                enter(.withdrawing(finding: finding))
            } else {
                leaveOpen(finding)
            }
        }

        /// Ends without knowing.
        private mutating func leaveOpen(_ finding: String, status: Status? = nil) {
            result = .failure(
                ProcedureError(
                    .unconfirmed, deviceCode: (status?.rawValue).map(Int.init),
                    message: "all was sent, but nothing shows that the device runs the new firmware (\(finding)); "
                        + "look at its version before you try again"))
        }
    }
}
