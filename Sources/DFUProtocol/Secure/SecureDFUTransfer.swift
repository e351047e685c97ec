extension SecureDFU {
    /// Sends a part into a bootloader: the init packet, the firmware in objects, and the last `execute`.
    ///
    /// The device's word decides where to go on: what it says to `select` is believed as far as its CRC-32 shows that the
    /// bytes are these. A lost link ends the value; a further one, made with what this one has `learnt`, goes on over a
    /// new link.
    public struct Transfer: Procedure {
        /// How a transfer ends that was not refused.
        public enum Outcome: Sendable, Hashable {
            /// The device answered the last `execute` with success, and resets into what was sent.
            case installed
            /// The last `execute` was written, and no answer came: look what the device runs.
            case unanswered(linkLost: Bool)
        }

        /// What is under way.
        enum Stage: Equatable {
            /// Receipts are switched off, whatever an earlier host wanted. Next: selecting.
            case settingUp
            /// Next: settingReceipts, creating, sending, executing.
            case selecting(ObjectType)
            /// Next: creating, sending, awaitingReceipt, checking.
            case settingReceipts(every: Int)
            /// Next: preparing, sending, leaving.
            case creating
            /// Next: sending.
            case preparing
            /// A packet of the object. Next: sending, awaitingReceipt, checking, executing, settingReceipts, creating.
            case sending
            /// No more packets may be on their way, or the object's last one is. Next: as of sending.
            case awaitingReceipt
            /// Next: sending, executing, settingReceipts, creating.
            case checking
            /// Next: selecting, settingReceipts, creating, settling, over.
            case executing
            /// The write of the last `execute` failed, which a device that resets at once may have carried out: then the
            /// link ends soon. Next: executing, over.
            case settling(WriteFailure)
            /// `abort`, before the end that is already decided. Next: over.
            case leaving(ProcedureError, in: Phase)
        }

        /// Why something is sent once more; decides the error when it was sent too often.
        enum Trouble: Equatable {
            /// The device has so many bytes, and not all of them are those that were sent.
            case kept(Int)
            /// A receipt shows it.
            case receipt(Response)
            case refused(Opcode, ResultCode, ExtendedError?)
            case writeFailed(WriteFailure)
        }

        /// The object under way.
        struct Object {
            let type: ObjectType
            /// Its bytes in the init packet or in the firmware.
            let range: Range<Int>
            /// How often it was created.
            var creations = 0
            /// The end of what was sent.
            var sent: Int
            /// The end of what the device has told that it received, and the checksum of all up to there.
            var acknowledged: Int
            var crc: CRC32
            /// The checksum of all before it.
            let startCRC: CRC32
            /// Packets since the device began to count them, and the receipts that came for them.
            var packets = 0
            var receipts = 0
            var trouble: Trouble?

            /// One of which the device has nothing yet; `crc` is the checksum of all before it.
            init(_ type: ObjectType, _ range: Range<Int>, after crc: CRC32) {
                self.type = type
                self.range = range
                acknowledged = range.lowerBound
                sent = range.lowerBound
                startCRC = crc
                self.crc = crc
            }

            var isSent: Bool { sent == range.upperBound }
        }

        let image: Image
        let parameters: Parameters
        /// Bytes in a packet: devices write whole words (SDK 17: 18 bytes in a packet damage the image).
        let packetLength: Int
        /// Of the type that is under way.
        var bytes: [UInt8]

        var dialogue = Dialogue()
        var stage = Stage.settingUp
        var result: Result<Outcome, ProcedureError>?
        var object: Object
        /// The most bytes of an object of the firmware.
        var maximumSize = 0
        var pace: Pace

        /// After how many packets the device sends receipts; 0: it sends none.
        var receiptInterval = 0
        /// Whether this device was heard to send receipts.
        var hasReceipts = false
        /// Receipts that were waited for in vain, though the packets had arrived.
        var missedReceipts = 0
        /// How often the request under way was written.
        var requestSends = 0
        /// Whether the device has begun this part anew for this transfer, and so holds nothing older.
        var isBegunAnew = false
        /// Whether what lies before the object is only believed to be this firmware's.
        var isPrefixUnproven = false
        var acknowledgedBytes = 0
        var counts = Statistics()

        /// What this transfer found out, for the next one.
        public internal(set) var learnt: Learnt

        /// What this transfer went through so far.
        public var statistics: Statistics {
            var statistics = counts
            statistics.droppedAnswers = dialogue.droppedAnswers
            return statistics
        }

        /// A transfer of `image` over a link that is open.
        /// - Parameters:
        ///   - maximumWriteLength: The longest packet that the link takes: the MTU less 3, at least 4.
        ///   - learnt: What an earlier transfer to the same device found out.
        public init(
            _ image: Image, by parameters: Parameters = Parameters(), maximumWriteLength: Int,
            learnt: Learnt = Learnt()
        ) {
            self.image = image
            self.parameters = parameters
            self.learnt = learnt
            packetLength = maximumWriteLength / 4 * 4
            bytes = image.initPacket
            object = Object(.command, 0..<image.initPacket.count, after: CRC32())
            pace = learnt.pace ?? Pace(by: parameters)
            pace.bound(by: parameters)
            if let problem = parameters.problem ?? Self.problem(maximumWriteLength) {
                result = .failure(ProcedureError(.misconfigured, message: problem))
            } else {
                ask(.setReceipts(every: 0))
            }
        }

        private static func problem(_ maximumWriteLength: Int) -> String? {
            maximumWriteLength >= 4
                ? nil : "the link takes packets of \(maximumWriteLength) bytes; Secure DFU needs 4"
        }

        /// See `Procedure`.
        public var phase: Phase {
            switch stage {
            case .settingUp, .selecting(.command): .prepare
            case .selecting(.data): .transfer
            case .executing, .settling: isLastObject ? .verify : phaseOfObject
            case .settingReceipts, .creating, .preparing, .sending, .awaitingReceipt, .checking: phaseOfObject
            case .leaving(_, in: let phase): phase
            }
        }

        private var phaseOfObject: Phase {
            switch object.type {
            case .command: .initPacket
            case .data: .transfer
            }
        }

        /// See `Procedure`: bytes of the firmware; the last one counts only when the device has accepted the whole.
        public var progress: Progress {
            let total = image.firmware.count
            return Progress(
                bytes: result == .success(.installed) ? total : min(acknowledgedBytes, total - 1), total: total)
        }

        /// See `Procedure`.
        public mutating func next() -> Step<Outcome> {
            if let result { .finish(result) } else { dialogue.next() }
        }

        /// See `Procedure`.
        public mutating func receive(_ event: Event) {
            guard result == nil, let turn = dialogue.receive(event) else { return }
            switch turn {
            case .sent: proceed()
            case .receipt(let receipt): heard(receipt)
            case .waited: waited()
            case .answered(let answer): answered(answer)
            case .unreadable(let bytes): unreadable(bytes)
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

extension SecureDFU.Transfer {
    /// Whether the object is the firmware's end, so that its `execute` is the last.
    var isLastObject: Bool {
        object.type == .data && object.range.upperBound == image.firmware.count
    }

    /// Writes a request for the first time.
    mutating func ask(_ request: SecureDFU.Request) {
        requestSends = 0
        askAgain(request)
    }

    mutating func askAgain(_ request: SecureDFU.Request) {
        if requestSends > 0 { counts.requestsRepeated += 1 }
        requestSends += 1
        dialogue.ask(request, within: limit(for: request))
    }

    private func limit(for request: SecureDFU.Request) -> Duration {
        switch request {
        case .create, .setReceipts, .checksum, .select: parameters.limits.answer
        case .execute: isLastObject ? parameters.limits.lastExecute : parameters.limits.execute
        case .abort: parameters.limits.abort
        }
    }

    /// The request of this stage.
    var request: SecureDFU.Request? {
        switch stage {
        case .settingUp: .setReceipts(every: 0)
        case .selecting(let type): .select(type)
        case .settingReceipts(let packets): .setReceipts(every: UInt16(packets))
        case .creating: .create(object.type, size: UInt32(object.range.count))
        case .checking: .checksum
        case .executing: .execute
        case .leaving: .abort
        case .preparing, .sending, .awaitingReceipt, .settling: nil
        }
    }

    private mutating func enter(_ stage: Stage) {
        self.stage = stage
        if let request { ask(request) }
    }

    mutating func select(_ type: SecureDFU.ObjectType) {
        bytes = image.bytes(of: type)
        enter(.selecting(type))
    }

    /// Takes an object up: from its beginning, or where the device has the first of its bytes already.
    mutating func begin(_ object: Object) {
        self.object = object
        let interval = object.type == .data ? wantedInterval : 0
        if interval == receiptInterval {
            createOrGoOn()
        } else {
            enter(.settingReceipts(every: interval))
        }
    }

    private var wantedInterval: Int {
        switch parameters.receipts {
        case _ where learnt.sendsNoReceipts: 0
        case .none: 0
        case .adaptive, .every: min(pace.stride, Int(UInt16.max))
        }
    }

    mutating func createOrGoOn() {
        if object.creations == 0, object.sent > object.range.lowerBound { return proceed() }
        create()
    }

    private mutating func create() {
        object.creations += 1
        enter(.creating)
    }

    mutating func execute() {
        enter(.executing)
    }

    /// What is to be done about the object next.
    mutating func proceed() {
        if let trouble = object.trouble { return sendAgain(because: trouble) }
        guard isReceiptDue else {
            if object.isSent { return isProvenByReceipt ? execute() : enter(.checking) }
            return isWindowFull ? enter(.checking) : sendPacket()
        }
        if object.isSent || isWindowFull {
            guard stage != .awaitingReceipt else { return }
            stage = .awaitingReceipt
            dialogue.wait(parameters.limits.receipt)
        } else {
            sendPacket()
        }
    }

    /// Whether a receipt is still to come for the packets that were sent. A checksum is never asked for as long as one
    /// is: what comes then could be either.
    var isReceiptDue: Bool {
        heardInterval > 0 && object.packets / heardInterval > object.receipts
    }

    /// As `receiptInterval`; 0 where the device was seen to send none nevertheless.
    private var heardInterval: Int { learnt.sendsNoReceipts ? 0 : receiptInterval }

    /// A receipt says the same as the answer to `checksum`. Only the first time, because one for an earlier send of the
    /// same bytes would, too.
    private var isProvenByReceipt: Bool {
        object.receipts > 0 && object.creations == 1
            && object.acknowledged == object.range.upperBound
    }

    /// Whether as many bytes are on their way as may be.
    private var isWindowFull: Bool {
        guard let window else { return false }
        return object.sent - object.acknowledged >= window
    }

    /// The bytes that may be sent before the device has told that it received them; nil where nothing bounds them.
    private var window: Int? {
        guard heardInterval > 0 else {
            // Without receipts there is the checksum, which costs more: for devices only that have lost packets.
            guard object.type == .data, pace.isCareful, pace.stride < object.range.count / packetLength else {
                return nil
            }
            return pace.stride * packetLength
        }
        switch parameters.receipts {
        case .adaptive where !pace.isCareful: return 2 * heardInterval * packetLength
        case .adaptive, .every, .none: return heardInterval * packetLength
        }
    }

    private mutating func sendPacket() {
        let end = min(object.sent + packetLength, object.range.upperBound)
        let packet = Array(bytes[object.sent..<end])
        object.sent = end
        object.packets += 1
        counts.bytesSent += packet.count
        stage = .sending
        dialogue.send(packet)
    }

    /// Sends the object once more and slower, or ends where it was sent as often as is allowed.
    mutating func sendAgain(because trouble: Trouble) {
        pace.failed()
        learnt.pace = pace
        if isPrefixUnproven { return restart(because: trouble) }
        guard object.creations < parameters.tries else { return fail(trouble) }
        counts.objectsResent += 1
        dialogue.note("\(name(of: object)) once more: \(describe(trouble))")
        var again = Object(object.type, object.range, after: object.startCRC)
        again.creations = object.creations
        begin(again)
    }

    /// Drops all that the device has of this part, and begins with the init packet.
    mutating func restart(because trouble: Trouble?) {
        counts.objectsResent += 1
        isPrefixUnproven = false
        dialogue.note("begins anew: \(trouble.map(describe) ?? "the device holds another firmware")")
        bytes = image.initPacket
        begin(Object(.command, 0..<image.initPacket.count, after: CRC32()))
    }

    /// The checksum of the first bytes of what is sent.
    func checksum(upTo end: Int) -> CRC32 {
        var crc = CRC32()
        crc.update(bytes[..<end])
        return crc
    }

    /// The bytes of the firmware in the object that holds the byte at `offset`.
    func range(around offset: Int) -> Range<Int> {
        let start = offset / maximumSize * maximumSize
        return start..<min(start + maximumSize, image.firmware.count)
    }
}
