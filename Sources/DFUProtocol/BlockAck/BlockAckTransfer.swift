extension BlockAck {
    /// Sends an image: `start`, the blocks from where the device says, `complete`.
    ///
    /// The device's word is the one source of truth: an answer that does not come, or that says wrong state, makes the
    /// transfer ask with another `start` where to go on. A lost link ends the value; a further one, made with what this
    /// one has `learnt`, goes on over a new link.
    public struct Transfer: Procedure {
        /// How a transfer ends that was not refused.
        public enum Outcome: Sendable, Hashable {
            /// The device answered `complete` with 00, and reboots into the image.
            case accepted
            /// `complete` was written, and no answer came: look at the version, then use `Completion`.
            case unanswered(linkLost: Bool)
        }

        /// What the frame that is under way belongs to.
        enum Stage: Equatable {
            /// The first `start`. Next: sending, completing, stopping, over.
            case starting
            /// A further `start`, because of a block, or of `complete` (nil). Next: sending, completing, stopping, over.
            case resyncing(block: Int?, Trouble)
            /// The header (-1) or data packet `packet` of a block. Next: sending, closing, stopping, over.
            case sending(block: Int, packet: Int)
            /// The end of a block. Next: sending, resyncing, completing, stopping, over.
            case closing(block: Int)
            /// Next: resyncing, over.
            case completing
            /// `abort`, before the end that is already decided. Next: over.
            case stopping(ProcedureError, in: Phase)
        }

        /// Why something is sent once more; decides the error when it was sent too often.
        enum Trouble: Equatable, CustomStringConvertible {
            case status(Status)
            case noAnswer
            case writeFailed(WriteFailure)

            var description: String {
                switch self {
                case .status(let status): status.description
                case .noAnswer: "no answer"
                case .writeFailed(let failure): failure.message
                }
            }
        }

        /// What a block that is not acknowledged went through.
        struct BlockRecord {
            var sends = 0
            var resyncs = 0
            /// Times that it did not arrive whole.
            var mismatches = 0
            /// The pace before the first of them.
            var pace: Pace?

            var isHalved: Bool { mismatches > 1 }
        }

        let parameters: Parameters
        let image: Image
        let blockCount: Int
        let maximumWriteLength: Int

        var dialogue: Dialogue
        var stage = Stage.starting
        var result: Result<Outcome, ProcedureError>?

        /// Bytes of the image in a data packet; set by each answer to `start`.
        var dataLength = 0
        /// The most blocks that the device has had.
        var acknowledgedBlocks = 0
        /// By block; forgotten when the block is acknowledged.
        var records: [Int: BlockRecord] = [:]
        /// How often the device lost blocks since it had the most.
        var setbacks = 0
        /// How often the command under way (`start` or `complete`) was sent.
        var commandSends = 0
        var isResyncedAfterComplete = false
        var counts = Statistics()

        /// What this transfer found out, for the next one.
        public internal(set) var learnt: Learnt

        /// What this transfer went through so far.
        public var statistics: Statistics {
            var statistics = counts
            statistics.droppedReplies = dialogue.droppedReplies
            statistics.busyReplies = dialogue.busyReplies
            return statistics
        }

        /// A transfer of `image` over a link that is open.
        /// - Parameters:
        ///   - maximumWriteLength: The longest packet that the link takes: the MTU less 3.
        ///   - learnt: What an earlier transfer to the same device found out.
        public init(
            _ image: Image, by parameters: Parameters, maximumWriteLength: Int, learnt: Learnt = Learnt()
        ) {
            self.parameters = parameters
            self.image = image
            self.maximumWriteLength = maximumWriteLength
            self.learnt = learnt
            dialogue = Dialogue(by: parameters)
            dialogue.waitsForBusy = parameters.tries > 1
            blockCount = image.blockCount(blockSize: max(parameters.blockSize, 1))
            if case .adaptive(from: let gap) = parameters.gap {
                self.learnt.pace = learnt.pace ?? Pace(from: gap)
            } else {
                self.learnt.pace = nil
            }
            if let problem = Self.problem(image, parameters, maximumWriteLength) {
                result = .failure(ProcedureError(.misconfigured, message: problem))
            } else {
                askStart()
            }
        }

        private static func problem(_ image: Image, _ parameters: Parameters, _ maximumWriteLength: Int) -> String? {
            if let problem = parameters.problems.first ?? parameters.problem(with: image) { return problem }
            guard maximumWriteLength >= Parameters.smallestPacket else {
                return "the link takes packets of \(maximumWriteLength) bytes; "
                    + "block-ack needs \(Parameters.smallestPacket)"
            }
            return parameters.sequenceProblem(min(maximumWriteLength, Int(UInt8.max)))
        }

        /// See `Procedure`.
        public var phase: Phase {
            switch stage {
            case .starting: .prepare
            case .resyncing, .sending, .closing: .transfer
            case .completing: .verify
            case .stopping(_, in: let phase): phase
            }
        }

        /// See `Procedure`; the last byte counts only when the device has accepted the whole.
        public var progress: Progress {
            let total = image.bytes.count
            let bytes = min(acknowledgedBlocks * parameters.blockSize, total - 1)
            return Progress(bytes: result == .success(.accepted) ? total : max(bytes, 0), total: total)
        }

        /// See `Procedure`.
        public mutating func next() -> Step<Outcome> {
            if let result { .finish(result) } else { dialogue.next() }
        }

        /// See `Procedure`.
        public mutating func receive(_ event: Event) {
            guard result == nil, let turn = dialogue.receive(event) else { return }
            switch turn {
            case .sent: sendRest()
            case .answered(let reply): answered(reply)
            case .stayedBusy: stayedBusy()
            case .noAnswer: noAnswer()
            case .writeFailed(let failure): writeFailed(failure)
            case .disconnected(let answer): disconnected(answer)
            case .stopped(let answer): stopped(answer)
            }
        }

        /// See `Procedure`.
        public mutating func takeLog() -> [String] {
            dialogue.takeLog()
        }
    }
}

// MARK: - Going on

extension BlockAck.Transfer {
    private var gap: Duration {
        learnt.pace?.gap ?? parameters.gap.start
    }

    mutating func askStart() {
        countCommand()
        dialogue.ask(.start(image.announcement(by: parameters)))
    }

    mutating func askComplete() {
        countCommand()
        dialogue.ask(.complete(crc32: image.crc32))
    }

    private mutating func countCommand() {
        if commandSends > 0 { counts.retries += 1 }
        commandSends += 1
    }

    /// Goes on at the block that the device named.
    mutating func move(to block: Int, because trouble: Trouble? = nil) {
        commandSends = 0
        if block == blockCount {
            stage = .completing
            askComplete()
        } else {
            send(block, because: trouble)
        }
    }

    /// Sends a block, or ends where it was sent as often as is allowed, `because` of the trouble with it.
    mutating func send(_ block: Int, because trouble: Trouble?) {
        let sends = records[block, default: BlockRecord()].sends
        if let trouble, sends >= parameters.tries {
            return fail(trouble, at: .blockEnd, block: block)
        }
        if sends > 0 { counts.retries += 1 }
        records[block, default: BlockRecord()].sends += 1
        stage = .sending(block: block, packet: -1)
        let bytes = image.block(block, size: parameters.blockSize)
        dialogue.send(
            .blockHeader(
                index: UInt16(block), length: UInt16(bytes.count), crc32: CRC32.checksum(bytes)),
            pause: gap)
    }

    /// The frame under way is sent: the next one of the block.
    private mutating func sendRest() {
        guard case .sending(let block, let packet) = stage else { preconditionFailure("only blocks go unanswered") }
        let bytes = image.block(block, size: parameters.blockSize)
        let sequence = packet + 1
        let rest = bytes.dropFirst(sequence * dataLength)
        guard !rest.isEmpty else {
            stage = .closing(block: block)
            return dialogue.ask(.blockEnd(index: UInt16(block)))
        }
        stage = .sending(block: block, packet: sequence)
        dialogue.send(.data(sequence: UInt8(sequence), bytes: Array(rest.prefix(dataLength))), pause: gap)
    }
}
