// What a transfer makes of the device's answers and receipts, of silence, of a lost link, and of the user's stop.

extension SecureDFU.Transfer {
    mutating func answered(_ answer: SecureDFU.Response) {
        switch stage {
        case .settingUp:
            if case .refused(_, let result, _) = answer { dialogue.note("receipts cannot be switched off: \(result)") }
            select(.command)
        case .selecting(let type):
            guard case .selected(let size, let reception) = answer else { return refused(answer) }
            switch type {
            case .command: resumeInitPacket(reception)
            case .data: resumeFirmware(reception, maximumSize: Int(size))
            }
        case .settingReceipts(let packets):
            if case .refused(_, let result, _) = answer {
                dialogue.note("receipts cannot be had: \(result)")
                learnt.sendsNoReceipts = true
            } else {
                receiptInterval = packets
            }
            createOrGoOn()
        case .creating:
            if case .refused = answer { refusedCreate(answer) } else { created() }
        case .checking:
            guard case .checksum(let reception) = answer else { return sendAgain(because: .receipt(answer)) }
            checked(reception)
        case .executing:
            if case .refused(_, let result, let extended) = answer {
                refusedExecute(result, extended)
            } else {
                executed()
            }
        case .leaving(let error, _):
            end(with: error, isConfirmed: true)
        case .preparing, .sending, .awaitingReceipt, .settling:
            preconditionFailure("nothing was asked")
        }
    }

    mutating func unreadable(_ bytes: [UInt8]) {
        switch stage {
        case .checking: sendAgain(because: .kept(object.acknowledged))
        case .leaving(let error, _): end(with: error, isConfirmed: false)
        case .settingUp, .selecting, .settingReceipts, .creating, .executing:
            result = .failure(.unexpectedAnswer(bytes, to: requestName))
        case .preparing, .sending, .awaitingReceipt, .settling: preconditionFailure("nothing was asked")
        }
    }

    mutating func waited() {
        switch stage {
        case .preparing: proceed()
        case .awaitingReceipt: askForMissingReceipt()
        case .settling(let failure):
            stage = .executing
            repeatRequest(orFailWith: .writeFailed(failure, of: requestName))
        case .settingUp, .selecting, .settingReceipts, .creating, .sending, .checking, .executing, .leaving:
            preconditionFailure("nothing was waited for")
        }
    }

    mutating func noAnswer() {
        switch stage {
        case .executing where isLastObject:
            result = .success(.unanswered(linkLost: false))
        case .leaving(let error, _):
            end(with: error, isConfirmed: false)
        case .settingUp, .selecting, .settingReceipts, .creating, .checking, .executing:
            if let bytes = dialogue.strangeBytes {
                result = .failure(.unexpectedAnswer(bytes, to: requestName))
            } else {
                repeatRequest(orFailWith: .noAnswer(to: requestName, sends: requestSends))
            }
        case .preparing, .sending, .awaitingReceipt, .settling:
            preconditionFailure("nothing was asked")
        }
    }

    mutating func writeFailed(_ failure: WriteFailure) {
        switch stage {
        case .sending:
            sendAgain(because: .writeFailed(failure))
        case .executing where isLastObject:
            stage = .settling(failure)
            dialogue.wait(parameters.limits.restart)
        case .leaving(let error, _):
            end(with: error, isConfirmed: false)
        case .settingUp, .selecting, .settingReceipts, .creating, .checking, .executing:
            repeatRequest(orFailWith: .writeFailed(failure, of: requestName))
        case .preparing, .awaitingReceipt, .settling:
            preconditionFailure("nothing was written")
        }
    }

    /// The link is gone; `answer` came just before.
    mutating func disconnected(_ answer: SecureDFU.Response?) {
        switch stage {
        case .executing where isLastObject:
            if let answer { return answered(answer) }
            result = isRequestWritten ? .success(.unanswered(linkLost: true)) : .failure(.linkLost(at: whereabouts))
        case .settling:
            result = .success(.unanswered(linkLost: true))
        case .leaving(let error, _):
            end(with: error, isConfirmed: true)
        case .settingUp, .selecting, .settingReceipts, .creating, .preparing, .sending, .awaitingReceipt, .checking,
            .executing:
            result = .failure(.linkLost(at: whereabouts))
        }
    }

    /// The user wants to stop; `answer` came just before.
    mutating func stopped(_ answer: SecureDFU.Response?) {
        switch stage {
        case .settingUp where !isRequestWritten:
            result = .failure(.stopped("nothing was changed on the device"))
        case .executing where isLastObject && isRequestWritten:
            if let answer { return answered(answer) }
            result = .failure(.stoppedAfterComplete)
        case .settling:
            result = .failure(.stoppedAfterComplete)
        case .settingUp, .selecting, .settingReceipts, .creating, .preparing, .sending, .awaitingReceipt, .checking,
            .executing:
            leave(with: .stopped("the device was told, and restarts"))
        case .leaving(let error, _):
            end(with: error, isConfirmed: false)
        }
    }

    /// Whether the request under way was handed to the driver at least once.
    private var isRequestWritten: Bool { requestSends > 1 || dialogue.isHandedOut }

    private mutating func repeatRequest(orFailWith error: ProcedureError) {
        guard requestSends < parameters.tries, let request else { return result = .failure(error) }
        dialogue.note("\(requestName) once more")
        askAgain(request)
    }

    /// Tells the device to end the update, and waits for the end of the link; then ends with `error`.
    private mutating func leave(with error: ProcedureError, within limit: Duration? = nil) {
        stage = .leaving(error, in: phase)
        requestSends = 0
        dialogue.ask(.abort, within: limit ?? parameters.limits.abort)
    }

    private mutating func end(with error: ProcedureError, isConfirmed: Bool) {
        let isUnheard = error.code == .aborted && !isConfirmed
        result = .failure(
            isUnheard ? .stopped("the device did not confirm it, and may wait for an update for some minutes") : error)
    }
}

// MARK: - Where to go on

extension SecureDFU.Transfer {
    private func isOurs(_ reception: SecureDFU.Reception) -> Bool {
        Int(reception.offset) <= bytes.count
            && checksum(upTo: Int(reception.offset)).value == reception.crc32
    }

    private mutating func resumeInitPacket(_ reception: SecureDFU.Reception) {
        var object = Object(.command, 0..<bytes.count, after: CRC32())
        // Without bytes the checksum means nothing: SDK 17 tells the union's other member there.
        guard reception.offset > 0, isOurs(reception) else { return begin(object) }
        dialogue.note("the device has \(reception.offset) of \(bytes.count) bytes of the init packet")
        object.resume(at: Int(reception.offset), crc: CRC32(continuing: reception.crc32))
        if object.isSent {
            self.object = object
            execute()
        } else {
            begin(object)
        }
    }

    private mutating func resumeFirmware(_ reception: SecureDFU.Reception, maximumSize size: Int) {
        guard size > 0 else {
            result = .failure(
                .unexpectedAnswer(
                    SecureDFU.Response.selected(maximumSize: 0, reception).encoded, to: requestName))
            return
        }
        maximumSize = size
        let offset = Int(reception.offset)
        guard offset > 0 else { return begin(Object(.data, range(around: 0), after: CRC32())) }
        // A device writes whole words, so what ends within one cannot be gone on with.
        guard isOurs(reception), offset.isMultiple(of: 4) || offset == bytes.count else {
            return replaceForeignData(upTo: offset)
        }
        dialogue.note("the device has \(offset) of \(bytes.count) bytes of the firmware")
        acknowledgedBytes = max(acknowledgedBytes, offset)
        let isWhole = offset.isMultiple(of: size) || offset == bytes.count
        let range = range(around: isWhole ? offset - 1 : offset)
        var object = Object(.data, range, after: checksum(upTo: range.lowerBound))
        object.resume(at: offset, crc: CRC32(continuing: reception.crc32))
        if isWhole {
            // It cannot be told whether it was executed; once more does no harm.
            self.object = object
            execute()
        } else {
            begin(object)
        }
    }

    /// What the device holds is not this firmware, or not any more: packets of the open object may have gone missing.
    private mutating func replaceForeignData(upTo offset: Int) {
        guard !isBegunAnew else { return begin(Object(.data, range(around: 0), after: CRC32())) }
        guard offset > maximumSize, offset <= bytes.count else { return restart(because: nil) }
        let object = range(around: offset - 1)
        dialogue.note("the device has \(offset) bytes of the firmware that are not all right")
        isPrefixUnproven = true
        begin(Object(.data, object, after: checksum(upTo: object.lowerBound)))
    }
}

extension SecureDFU.Transfer.Object {
    fileprivate mutating func resume(at offset: Int, crc: CRC32) {
        sent = offset
        acknowledged = offset
        self.crc = crc
    }
}

// MARK: - An object

extension SecureDFU.Transfer {
    private mutating func created() {
        if object.type == .command {
            isBegunAnew = true
            learnt.isStuck = false
        }
        guard pace.delay > .zero else { return proceed() }
        stage = .preparing
        dialogue.wait(pace.delay)
    }

    private mutating func refusedCreate(_ answer: SecureDFU.Response) {
        guard object.type == .command, case .refused(_, .operationNotPermitted, _) = answer else {
            return refused(answer)
        }
        guard !learnt.isStuck else {
            result = .failure(.deviceStuck)
            return
        }
        // Bootloaders before SDK 16 can stay half locked after a lost link; a restart frees them.
        learnt.isStuck = true
        dialogue.note("the device does not take an init packet: tells it to restart")
        leave(with: .linkLost(at: whereabouts), within: parameters.limits.restart)
    }

    mutating func heard(_ receipt: SecureDFU.Response) {
        guard stage == .sending || stage == .awaitingReceipt else {
            return dialogue.drop(receipt, "a receipt of before")
        }
        switch judge(receipt) {
        case .fresh(let offset, let crc):
            object.receipts += 1
            counts.receipts += 1
            hasReceipts = true
            acknowledge(upTo: offset, crc)
        case .stale:
            return dialogue.drop(receipt, "a receipt of what is acknowledged")
        case .wrong:
            object.trouble = .receipt(receipt)
        }
        if stage == .awaitingReceipt { proceed() }
    }

    private enum Judgement {
        case fresh(offset: Int, CRC32)
        case stale
        case wrong
    }

    private func judge(_ receipt: SecureDFU.Response) -> Judgement {
        guard case .checksum(let reception) = receipt else { return .wrong }
        let offset = Int(reception.offset)
        if offset > object.acknowledged, offset <= object.sent {
            let crc = checksum(continuingTo: offset)
            return crc.value == reception.crc32 ? .fresh(offset: offset, crc) : .wrong
        }
        // SDK 17 sends 0 and 0 for a packet that it dropped.
        return offset > 0 && isOurs(reception) ? .stale : .wrong
    }

    private func checksum(continuingTo offset: Int) -> CRC32 {
        var crc = object.crc
        crc.update(bytes[object.acknowledged..<offset])
        return crc
    }

    private mutating func acknowledge(upTo offset: Int, _ crc: CRC32) {
        object.acknowledged = offset
        object.crc = crc
        if object.type == .data, !isPrefixUnproven { acknowledgedBytes = max(acknowledgedBytes, offset) }
    }

    /// A receipt is overdue: asks for the checksum instead.
    private mutating func askForMissingReceipt() {
        missedReceipts += 1
        dialogue.note("a receipt did not come: asks for the checksum")
        stage = .checking
        ask(.checksum)
    }

    private mutating func checked(_ reception: SecureDFU.Reception) {
        let offset = Int(reception.offset)
        let crc = checksum(continuingTo: object.sent)
        guard offset == object.sent, crc.value == reception.crc32 else {
            let mayBeReceipt = object.receipts > 0 && offset == object.acknowledged && requestSends == 1
            return mayBeReceipt ? askAgain(.checksum) : sendAgain(because: .kept(offset))
        }
        isPrefixUnproven = false
        acknowledge(upTo: offset, crc)
        if isReceiptDue { noteMissedReceipt() }
        if object.isSent { execute() } else { proceed() }
    }

    /// All arrived, and the receipt that was due did not.
    private mutating func noteMissedReceipt() {
        object.receipts = object.packets / max(receiptInterval, 1)
        guard !hasReceipts || missedReceipts > 1 else { return }
        dialogue.note("the device sends no receipts: goes on without")
        learnt.sendsNoReceipts = true
    }

    private mutating func executed() {
        counts.objectsExecuted += 1
        switch object.type {
        case .command:
            select(.data)
        case .data where isLastObject:
            learnPace()
            result = .success(.installed)
        case .data:
            learnPace()
            beginNextObject()
        }
    }

    private mutating func learnPace() {
        if object.creations == 1 {
            let packets = (maximumSize + packetLength - 1) / packetLength
            pace.worked(packets: packets, by: parameters)
        }
        learnt.pace = pace
    }

    private mutating func beginNextObject() {
        begin(Object(.data, range(around: object.range.upperBound), after: object.crc))
    }

    private mutating func refusedExecute(_ code: SecureDFU.ResultCode, _ extended: SecureDFU.ExtendedError?) {
        let answer = SecureDFU.Response.refused(.execute, code, extended: extended)
        guard code == .operationNotPermitted else { return refused(answer) }
        let isResumed = object.creations == 0
        switch object.type {
        case .command where isResumed:
            sendAgain(because: .refused(.execute, code, extended))
        case .command:
            refused(answer)
        case .data where !isLastObject && (isResumed || requestSends > 1):
            dialogue.note("\(name(of: object)) was executed already")
            beginNextObject()
        case .data:
            sendAgain(because: .refused(.execute, code, extended))
        }
    }
}
