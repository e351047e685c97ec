// What a transfer makes of the device's answers, of silence, of a lost link, and of the user's stop.

extension BlockAck.Transfer {
    mutating func answered(_ reply: BlockAck.Reply) {
        switch (stage, reply) {
        case (.starting, .started(let next, let packetLimit)), (.resyncing, .started(let next, let packetLimit)):
            started(Int(next), packetLimit: packetLimit)
        case (.starting, _), (.resyncing, _):
            startJudged(reply.status)
        case (.closing(let block), _):
            blockJudged(block, reply.status)
        case (.completing, _):
            imageJudged(reply.status)
        case (.stopping(let error, _), _):
            end(with: error, isConfirmed: reply.status == .ok)
        case (.sending, _):
            preconditionFailure("packets of a block are not answered")
        }
    }

    mutating func stayedBusy() {
        switch stage {
        case .starting, .resyncing: result = .failure(.busy(with: .start))
        case .closing: result = .failure(.busy(with: .blockEnd))
        case .completing: result = .failure(.busy(with: .complete))
        case .stopping(let error, _): end(with: error, isConfirmed: false)
        case .sending: preconditionFailure("packets of a block are not answered")
        }
    }

    mutating func noAnswer() {
        switch stage {
        case .starting, .resyncing: startAgain(because: .noAnswer)
        case .closing(let block): resync(block, because: .noAnswer)
        case .completing: result = .success(.unanswered(linkLost: false))
        case .stopping(let error, _): end(with: error, isConfirmed: false)
        case .sending: preconditionFailure("packets of a block are not answered")
        }
    }

    mutating func writeFailed(_ failure: WriteFailure) {
        switch stage {
        case .starting, .resyncing: startAgain(because: .writeFailed(failure))
        // A device may refuse a packet because it is too long for it after all.
        case .sending(let block, _), .closing(let block): sendAgain(block, because: .writeFailed(failure))
        case .completing: completeAgain(because: .writeFailed(failure))
        case .stopping(let error, _): end(with: error, isConfirmed: false)
        }
    }

    /// The link is gone; `answer` came just before.
    mutating func disconnected(_ answer: BlockAck.Reply?) {
        switch stage {
        case .starting, .resyncing:
            result = .failure(.linkLost(during: .start))
        case .sending, .closing:
            learnt.pace?.failed()
            result = .failure(.linkLost(during: .data))
        case .completing:
            if !settle(answer) {
                result =
                    isCommandWritten ? .success(.unanswered(linkLost: true)) : .failure(.linkLost(during: .complete))
            }
        case .stopping(let error, _):
            end(with: error, isConfirmed: false)
        }
    }

    /// The user wants to stop; `answer` came just before.
    mutating func stopped(_ answer: BlockAck.Reply?) {
        switch stage {
        case .starting where !isCommandWritten:
            result = .failure(.stopped("nothing was changed on the device"))
        case .completing where isCommandWritten:
            if !settle(answer) {
                result = .failure(.stoppedAfterComplete)
            }
        case .starting, .resyncing, .sending, .closing, .completing:
            stop(with: .stopped("the device has dropped the update, and goes on with the firmware that it runs"))
        case .stopping(let error, _):
            end(with: error, isConfirmed: false)
        }
    }

    /// Whether the command under way was handed to the driver at least once.
    private var isCommandWritten: Bool {
        commandSends > 1 || dialogue.isHandedOut
    }

    /// Tells the device that the session is over, then ends.
    private mutating func stop(with error: ProcedureError) {
        stage = .stopping(error, in: phase)
        dialogue.waitsForBusy = false
        dialogue.ask(.abort)
    }

    /// Ends after `abort`; a stop that the device did not confirm is told so.
    private mutating func end(with error: ProcedureError, isConfirmed: Bool) {
        let isUnheard = error.code == .aborted && !isConfirmed
        result = .failure(
            isUnheard
                ? .stopped("the device did not confirm it, and goes on with the firmware that it runs") : error)
    }

    /// Ends with the error that the trouble, met once too often with a command or a block, stands for.
    mutating func fail(_ trouble: Trouble, at command: BlockAck.Command, block: Int? = nil) {
        let frame = block.map { "block \($0 + 1) of \(blockCount)" } ?? command.rawValue
        let error: ProcedureError =
            switch trouble {
            case .status(let status) where status == .blockMismatch || status == .packetsMissing:
                .blockRejected(status, block: frame, sends: parameters.tries)
            case .status(let status):
                .refused(status, to: command)
            case .noAnswer:
                .noAnswer(to: frame, within: parameters.limits[command], sends: parameters.tries)
            case .writeFailed(let failure):
                .writeFailed(failure, of: frame)
            }
        result = .failure(error)
    }
}

// MARK: - The answer to start

extension BlockAck.Transfer {
    private mutating func started(_ next: Int, packetLimit: UInt8) {
        guard next <= blockCount else {
            result = .failure(
                ProcedureError(
                    .refused, reason: "blockOutOfRange",
                    message: "the device asks for block \(next + 1) of an image of \(blockCount); "
                        + "restart the device and try again"))
            return
        }
        guard adopt(packetLimit) else { return }
        dialogue.note("goes on at block \(next + 1) of \(blockCount) with \(dataLength) bytes a packet")
        guard case .resyncing(let block, let trouble) = stage else {
            acknowledgedBlocks = next
            return move(to: next)
        }
        let asked = block ?? blockCount
        if next > asked {
            acknowledge(asked)
            acknowledge(upTo: next)
            move(to: next)
        } else if next == asked {
            if trouble == .noAnswer { learnt.pace?.failed() }
            move(to: next, because: trouble)
        } else {
            lostBlocks(next, because: trouble)
        }
    }

    /// Takes over the device's packet limit. False, and on the way to the end, where blocks do not go into such packets.
    private mutating func adopt(_ packetLimit: UInt8) -> Bool {
        let isNamed = packetLimit >= BlockAck.Parameters.smallestPacket
        let packet = min(isNamed ? Int(packetLimit) : parameters.packetSize, maximumWriteLength, Int(UInt8.max))
        if let problem = parameters.sequenceProblem(packet) {
            stop(with: ProcedureError(.misconfigured, message: problem))
            return false
        }
        let longest = packet - parameters.dataOverhead
        dataLength = min(longest, max(learnt.dataLength ?? longest, shortestDataLength))
        return true
    }

    private mutating func startJudged(_ status: BlockAck.Status) {
        switch status {
        case .badFrameChecksum, .wrongState: startAgain(because: .status(status))
        default: result = .failure(.refused(status, to: .start))
        }
    }

    private mutating func startAgain(because trouble: Trouble) {
        guard commandSends < parameters.tries else { return fail(trouble, at: .start) }
        dialogue.note("start once more: \(trouble)")
        askStart()
    }

    /// The device went back to a block that it had acknowledged before: goes on there.
    private mutating func lostBlocks(_ next: Int, because trouble: Trouble) {
        setbacks += 1
        guard setbacks < parameters.tries else {
            result = .failure(.blocksLost(setbacks, after: trouble))
            return
        }
        dialogue.note("the device lost the blocks from \(next + 1) on")
        move(to: next)
    }

    /// Asks the device where to go on.
    private mutating func resync(_ block: Int, because trouble: Trouble) {
        guard records[block, default: BlockRecord()].resyncs < parameters.tries - 1 else {
            return fail(trouble, at: .blockEnd, block: block)
        }
        records[block, default: BlockRecord()].resyncs += 1
        askWhereToGoOn(after: block, because: trouble)
    }

    private mutating func askWhereToGoOn(after block: Int?, because trouble: Trouble) {
        counts.resyncs += 1
        stage = .resyncing(block: block, trouble)
        commandSends = 0
        dialogue.note("asks where to go on after \(block.map { "block \($0 + 1)" } ?? "complete"): \(trouble)")
        askStart()
    }
}

// MARK: - The answers to block end and complete

extension BlockAck.Transfer {
    private mutating func blockJudged(_ block: Int, _ status: BlockAck.Status) {
        switch status {
        case .ok:
            acknowledge(block)
            move(to: block + 1)
        case .wrongState:
            resync(block, because: .status(status))
        case .badFrameChecksum:
            send(block, because: .status(status))
        case .blockMismatch, .packetsMissing:
            sendAgain(block, because: .status(status))
        default:
            result = .failure(.refused(status, to: .blockEnd))
        }
    }

    private mutating func acknowledge(_ block: Int) {
        counts.blocksAcknowledged += 1
        if let record = records.removeValue(forKey: block), record.isHalved {
            // Shorter packets were the cure, so the gap was not to blame.
            learnt.pace = record.pace
        }
        learnt.pace?.worked()
        acknowledge(upTo: block + 1)
    }

    private mutating func acknowledge(upTo next: Int) {
        guard next > acknowledgedBlocks else { return }
        acknowledgedBlocks = next
        setbacks = 0
    }

    /// Sends a block again that did not arrive whole: with a longer gap where packets were missing, and with packets of
    /// half the length after two in a row.
    private mutating func sendAgain(_ block: Int, because trouble: Trouble) {
        var record = records[block, default: BlockRecord()]
        if record.mismatches == 0 { record.pace = learnt.pace }
        record.mismatches += 1
        records[block] = record
        if trouble == .status(.packetsMissing) { learnt.pace?.failed() }
        if record.mismatches.isMultiple(of: 2) {
            // Half, in whole pieces of the shortest: a device that cuts writes counts the whole frame, not its data.
            let half = dataLength / 2 / Self.usualDataLength * Self.usualDataLength
            dataLength = min(dataLength, max(half, shortestDataLength))
            learnt.dataLength = dataLength
        }
        dialogue.note("block \(block + 1) once more with \(dataLength) bytes a packet: \(trouble)")
        send(block, because: trouble)
    }

    /// Bytes of the image in a packet of 20 bytes.
    private static var usualDataLength: Int { 16 }

    /// The fewest bytes of the image in a packet: not under the usual, and no more packets a block than can be counted.
    private var shortestDataLength: Int {
        max(
            Self.usualDataLength,
            parameters.blockSize.dividedRoundingUp(by: BlockAck.Parameters.mostPacketsOfBlock))
    }

    private mutating func imageJudged(_ status: BlockAck.Status) {
        switch status {
        case .ok:
            result = .success(.accepted)
        case .wrongState where !isResyncedAfterComplete && parameters.tries > 1:
            isResyncedAfterComplete = true
            askWhereToGoOn(after: nil, because: .status(status))
        case .badFrameChecksum:
            completeAgain(because: .status(status))
        default:
            result = .failure(.refused(status, to: .complete))
        }
    }

    private mutating func completeAgain(because trouble: Trouble) {
        guard commandSends < parameters.tries else { return fail(trouble, at: .complete) }
        dialogue.note("complete once more: \(trouble)")
        askComplete()
    }

    /// Ends with an answer to `complete` that needs no further word with the device; false where there is none.
    private mutating func settle(_ answer: BlockAck.Reply?) -> Bool {
        switch answer?.status {
        case nil, .wrongState, .badFrameChecksum, .busy:
            return false
        case let status?:
            imageJudged(status)
            return true
        }
    }
}
