import DFUProtocol
import TestSupport

/// Plays the device's side of a recorded conversation to the host's procedures, and compares what they write with what the
/// recorded host wrote.
struct SecureTranscriptPlayer {
    /// What came of a conversation.
    struct Report {
        /// Links that were played, and writes that were the same on both sides.
        var links = 0
        var writes = 0
        /// Where ours and the recorded host part; nil: nowhere.
        var difference: String?
        /// How ours ended, a word a link.
        var ends: [String] = []
        /// Where ours says more or less, and means the same.
        var notes: Set<Note> = []
    }

    /// What may differ without a different meaning.
    enum Note: String, Hashable, CaseIterable {
        case ownReceipts = "sets the receipts where the recorded host knows them"
        case noOwnReceipts = "does not set the receipts where the recorded host does"
        case checksumByReceipt = "takes the receipt at an object's end for its checksum"
        case ownChecksum = "asks for the checksum where the recorded host does not"
        case otherBytes = "hears of bytes that it has not sent, and creates the object again"
        case asksLess = "does not ask for a checksum that tells nothing new"
        case executesOnce = "executes once"
        case executesAgain = "executes a complete object that may have been executed before"
        case selectsOnce = "asks once what there is"
        case asksForInitPacket = "asks for the init packet, and executes it, where the recorded host does not"
        case endsBefore = "ends, where the recorded host goes on looking"

        /// Each with a letter.
        static var lettered: [(String, Self)] {
            zip("abcdefghijklmnopqrstuvwxyz", allCases).map { (String($0), $1) }
        }
    }

    /// What the host did, and all that the device did before the host's next act.
    fileprivate struct Act {
        var line: Int
        var action: TranscriptEntry.HostAction
        var answers: [[UInt8]] = []
        var indications: [[UInt8]] = []
        var attError: UInt8?
        var endsLink = false

        var isSelect: Bool { action == .write([6, 1]) || action == .write([6, 2]) }
    }

    fileprivate struct Link {
        var isApplication: Bool
        var mtu = 23
        var acts: [Act] = []
    }

    private let parts: [TranscriptFolder.Part]
    private var isInitPacketExecuted = false
    private var part: TranscriptFolder.Part?
    private(set) var report = Report()

    init(parts: [TranscriptFolder.Part]) {
        self.parts = parts
    }

    mutating func play(_ entries: [TranscriptEntry]) {
        let links = Self.links(entries).filter { !$0.acts.isEmpty }
        for (index, link) in links.enumerated() {
            report.links += 1
            if link.isApplication {
                playEntry(link)
            } else {
                playTransfer(link, later: links[index...].compactMap { findPart(in: $0) }.first)
            }
            guard report.difference == nil else { return }
        }
    }

    private static func links(_ entries: [TranscriptEntry]) -> [Link] {
        var links: [Link] = []
        var isApplication = false
        for entry in entries {
            switch entry.content {
            case .device(.start(let mode)): isApplication = mode != 1
            case .device(.connected): links.append(Link(isApplication: isApplication))
            case .device(.mtu(let mtu)) where !links.isEmpty: links[links.count - 1].mtu = Int(mtu)
            case .host(let action):
                guard !links.isEmpty else { continue }
                switch action {
                case .write, .packet, .packets:
                    links[links.count - 1].acts.append(Act(line: entry.line, action: action))
                case .loseLink, .powerCycle: links[links.count - 1].end()
                default: break
                }
            case .device(.disconnect): links[links.count - 1].end()
            case .device(.notify(let bytes)): links[links.count - 1].change { $0.answers.append(bytes) }
            case .device(.indicate(let bytes)): links[links.count - 1].change { $0.indications.append(bytes) }
            case .device(.writeResponse(let code)) where code != 0 && !links.isEmpty:
                links[links.count - 1].change { $0.attError = UInt8(truncatingIfNeeded: code) }
            case .comment, .device: break
            }
        }
        return links
    }
}

extension SecureTranscriptPlayer.Link {
    fileprivate mutating func change(_ body: (inout SecureTranscriptPlayer.Act) -> Void) {
        if !acts.isEmpty { body(&acts[acts.count - 1]) }
    }

    fileprivate mutating func end() {
        change { $0.endsLink = true }
    }
}

// MARK: - A transfer

extension SecureTranscriptPlayer {
    /// - Parameter later: The part that a later link tells of.
    private mutating func playTransfer(_ link: Link, later: TranscriptFolder.Part?) {
        guard let part = findPart(in: link) ?? self.part ?? later, !part.firmware.isEmpty else {
            report.difference = "line \(link.acts[0].line): no package fits the recording"
            return
        }
        if part != self.part { isInitPacketExecuted = false }
        self.part = part
        var parameters = SecureDFU.Parameters()
        parameters.receipts = .none
        for act in link.acts {
            if case .write(let bytes) = act.action, bytes.count == 3, bytes[0] == 2, bytes[1] > 0 || bytes[2] > 0 {
                parameters.receipts = .every(Int(bytes[1]) | Int(bytes[2]) << 8)
            }
        }
        var transfer = SecureDFU.Transfer(
            SecureDFU.Image(initPacket: part.initPacket, firmware: part.firmware), by: parameters,
            maximumWriteLength: link.mtu - 3)
        var play = TransferPlay(link: link, part: part, isInitPacketExecuted: isInitPacketExecuted)
        play.run(&transfer)
        isInitPacketExecuted = play.isInitPacketExecuted
        report.writes += play.writes
        report.notes.formUnion(play.notes)
        report.difference = play.difference
        report.ends.append(play.end)
    }

    /// The part whose init packet the device tells of: the last one that was created here, else one that it has.
    private func findPart(in link: Link) -> TranscriptFolder.Part? {
        var found: TranscriptFolder.Part?
        var isCreated = false
        for act in link.acts {
            guard case .write(let bytes) = act.action else { continue }
            if bytes.prefix(2) == [1, 1] {
                isCreated = true
                // Where nothing is told of it, any part of this length does.
                found =
                    found
                    ?? parts.first {
                        $0.name.hasPrefix("x/ok")
                            && bytes.dropFirst(2).elementsEqual(little(UInt32($0.initPacket.count)))
                    }
            }
            if bytes.prefix(2) == [1, 2] || bytes == [6, 2], isCreated { break }
            guard bytes == [6, 1] || bytes == [3] && isCreated else { continue }
            for answer in act.answers where answer.count == 11 || answer.count == 15 {
                let told = answer.suffix(8)
                let offset = Int(told.prefix(4).reversed().reduce(0 as UInt32) { $0 << 8 | UInt32($1) })
                let part = parts.first { part in
                    (1...max(part.initPacket.count, 1)).contains(offset)
                        && little(CRC32.checksum(part.initPacket.prefix(offset))) == Array(told.suffix(4))
                }
                found = part ?? found
            }
        }
        return found
    }

    /// A link over which a transfer is played.
    private struct TransferPlay {
        let link: Link
        let part: TranscriptFolder.Part
        var isInitPacketExecuted: Bool
        var writes = 0
        var notes: Set<Note> = []
        var difference: String?
        var end = ""

        private var next = 0
        /// Of the packets under way: how many of the recorded ones are left, and their bytes.
        private var packetsLeft = 0
        private var bytesLeft = 0
        private var pending: [[UInt8]] = []
        private var isLinkOver = false
        private var receiptInterval = 0
        private var current: UInt8 = 1
        /// What the device has of the current type, and of the firmware in executed objects.
        private var offset = 0
        private var executed = 0
        private var asked: Set<UInt8> = []
        private var isStopped = false

        init(link: Link, part: TranscriptFolder.Part, isInitPacketExecuted: Bool) {
            self.link = link
            self.part = part
            self.isInitPacketExecuted = isInitPacketExecuted
        }

        mutating func run(_ transfer: inout SecureDFU.Transfer) {
            for _ in 0..<100_000 {
                if next < link.acts.count, packetsLeft == 0, link.acts[next].action == .write([0x0C]), !isStopped {
                    isStopped = true
                    transfer.receive(.abort)
                }
                switch transfer.next() {
                case .finish(let result):
                    return finish(result)
                case .wait:
                    if !pending.isEmpty {
                        transfer.receive(.notification(pending.removeFirst(), from: .controlPoint))
                    } else if isLinkOver || next >= link.acts.count {
                        transfer.receive(.disconnected)
                    } else {
                        transfer.receive(.timeout)
                    }
                case .write(let bytes, let endpoint):
                    // A recorded host that only looks before the link is lost has no further part in the transfer.
                    let isOnlyLooking = packetsLeft == 0 && link.acts[next...].allSatisfy(\.isSelect)
                    if isOnlyLooking, endpoint == .packet || bytes[0] == 1 { isLinkOver = true }
                    guard !isLinkOver, next < link.acts.count || packetsLeft > 0 || isOwn(bytes, endpoint) else {
                        transfer.receive(.disconnected)
                        continue
                    }
                    let isTaken = endpoint == .packet ? packet(bytes) : request(bytes)
                    guard isTaken else {
                        if difference == nil { transfer.receive(.disconnected) } else { return }
                        continue
                    }
                    transfer.receive(.written)
                    while !pending.isEmpty {
                        transfer.receive(.notification(pending.removeFirst(), from: .controlPoint))
                    }
                }
            }
            difference = "the transfer does not end"
        }

        private func isOwn(_ bytes: [UInt8], _ endpoint: Endpoint) -> Bool {
            endpoint == .controlPoint && bytes[0] == 2
        }

        private mutating func finish(_ result: Result<SecureDFU.Transfer.Outcome, ProcedureError>) {
            switch result {
            case .success(.installed): end = "installed"
            case .success(.unanswered): end = "unanswered"
            case .failure(let error):
                end = error.reason ?? (error.code == .linkLost ? "link lost" : error.code.rawValue)
            }
            if packetsLeft == 0, next < link.acts.count, !isLinkOver { notes.insert(.endsBefore) }
        }

        private mutating func differ(_ ours: String) {
            guard next < link.acts.count else { return }
            let act = link.acts[next]
            difference = "line \(act.line): the recorded host \(describe(act.action)), ours \(ours)"
        }

        private func describe(_ action: TranscriptEntry.HostAction) -> String {
            switch action {
            case .write(let bytes): "writes \(bytes.hexadecimal)"
            case .packets(let count, let bytes): "sends \(count) packets, \(bytes) bytes"
            default: "sends packets"
            }
        }

        /// Takes the recorded act, with what the device made of it.
        private mutating func take(_ act: Act) {
            pending += act.answers
            isLinkOver = act.endsLink
            next += 1
        }

        private mutating func request(_ bytes: [UInt8]) -> Bool {
            guard packetsLeft == 0 else {
                if bytes == [3] { return answerOwn(bytes) }
                difference =
                    "line \(link.acts[next - 1].line): the recorded host sends \(packetsLeft) more packets, "
                    + "ours writes \(bytes.hexadecimal)"
                return false
            }
            while next < link.acts.count {
                let act = link.acts[next]
                guard case .write(let recorded) = act.action else { break }
                if recorded == bytes {
                    writes += 1
                    note(bytes, act)
                    take(act)
                    return true
                }
                // Whenever ours sets its receipts, the recorded host may have others of its own to set later.
                guard bytes[0] != 2, skip(recorded, act, for: bytes) else { break }
                next += 1
                isLinkOver = act.endsLink
                if isLinkOver { return false }
            }
            if answerOwn(bytes) { return true }
            differ("writes \(bytes.hexadecimal)")
            return false
        }

        /// Whether the recorded host says something here that ours need not.
        private mutating func skip(_ recorded: [UInt8], _ act: Act, for bytes: [UInt8]) -> Bool {
            if recorded.count == 3, recorded[0] == 2 {
                notes.insert(.noOwnReceipts)
                return true
            }
            if recorded == [3], let answer = act.answers.first, answer.count == 11, bytes.first != 3,
                answer[3..<7].elementsEqual(little(UInt32(offset))), receiptInterval > 0
            {
                notes.insert(.checksumByReceipt)
                return true
            }
            if recorded == [3], bytes.isEmpty, act.answers.first?.suffix(8).elementsEqual(reception) == true {
                notes.insert(.asksLess)
                return true
            }
            if recorded == [4], bytes != [4], next > 0, link.acts[next - 1].action == .write([4]) {
                notes.insert(.executesOnce)
                return true
            }
            if recorded.count == 2, recorded[0] == 6, recorded != bytes {
                let isAskedLater = link.acts[(next + 1)...].contains { $0.action == .write(recorded) }
                guard asked.contains(recorded[1]) || isAskedLater && bytes.first == 1 else { return false }
                notes.insert(.selectsOnce)
                return true
            }
            return false
        }

        /// What the device has of the current type, as it tells it.
        private var reception: [UInt8] {
            let bytes = current == 1 ? part.initPacket : part.firmware
            return little(UInt32(offset)) + little(CRC32.checksum(bytes.prefix(offset)))
        }

        /// Answers what only ours asks.
        private mutating func answerOwn(_ bytes: [UInt8]) -> Bool {
            switch bytes[0] {
            case 2:
                notes.insert(.ownReceipts)
                receiptInterval = Int(bytes[1]) | Int(bytes[2]) << 8
                pending.append([0x60, 2, 1])
                return true
            case 3 where packetsLeft > 0 || next < link.acts.count && link.acts[next].action == .write([4]):
                notes.insert(.ownChecksum)
                pending.append([0x60, 3, 1] + reception)
                return true
            case 4 where current == 1 && isInitPacketExecuted:
                notes.insert(.asksForInitPacket)
                pending.append([0x60, 4, 1])
                return true
            case 4 where current == 2 && offset > 0 && offset == executed && next < link.acts.count:
                notes.insert(.executesAgain)
                pending.append([0x60, 4, 1])
                return true
            case 6:
                notes.insert(bytes[1] == 1 ? .asksForInitPacket : .selectsOnce)
                current = bytes[1]
                offset = current == 1 && isInitPacketExecuted ? part.initPacket.count : executed
                let maximum: [UInt8] = current == 1 ? [0, 2, 0, 0] : [0, 16, 0, 0]
                pending.append([0x60, 6, 1] + maximum + reception)
                return true
            default:
                return false
            }
        }

        private mutating func note(_ bytes: [UInt8], _ act: Act) {
            let told = act.answers.last.flatMap { $0.count >= 11 ? Array($0.suffix(8)) : nil }
            switch bytes[0] {
            case 1:
                current = bytes[1]
                if current == 1 { executed = 0 }
                offset = executed
            case 2: receiptInterval = Int(bytes[1]) | Int(bytes[2]) << 8
            case 3:
                if let told, told != reception { notes.insert(.otherBytes) }
            case 4 where act.answers.first == [0x60, 4, 1]:
                if current == 1 { isInitPacketExecuted = true } else { executed = offset }
            case 6:
                current = bytes[1]
                asked.insert(current)
                if let told {
                    offset = Int(told.prefix(4).reversed().reduce(0 as UInt32) { $0 << 8 | UInt32($1) })
                    if current == 2 { executed = offset / 4096 * 4096 }
                }
            default: break
            }
        }

        private mutating func packet(_ bytes: [UInt8]) -> Bool {
            if packetsLeft == 0 {
                while next < link.acts.count, case .write(let recorded) = link.acts[next].action,
                    skip(recorded, link.acts[next], for: [])
                {
                    next += 1
                }
                guard next < link.acts.count, case .packets(let count, let length) = link.acts[next].action else {
                    differ("sends \(bytes.count) bytes")
                    return false
                }
                packetsLeft = count
                bytesLeft = length
                next += 1
            }
            if bytes.count > bytesLeft, link.acts[next...].allSatisfy({ $0.isSelect }) {
                // The recorded host stops in the middle of the object, and only looks before the link is lost.
                isLinkOver = true
                packetsLeft = 0
                return false
            }
            guard bytes.count <= bytesLeft, packetsLeft > 1 || bytes.count == bytesLeft else {
                difference =
                    "line \(link.acts[next - 1].line): the recorded packets have \(bytesLeft) bytes left in "
                    + "\(packetsLeft), ours sends \(bytes.count)"
                return false
            }
            packetsLeft -= 1
            bytesLeft -= bytes.count
            writes += 1
            offset += bytes.count
            if packetsLeft == 0 {
                let act = link.acts[next - 1]
                if receiptInterval > 0 { pending += act.answers }
                isLinkOver = act.endsLink
            }
            return true
        }
    }
}

// MARK: - An entry

extension SecureTranscriptPlayer {
    private mutating func playEntry(_ link: Link) {
        var name: String?
        for act in link.acts {
            if case .write(let bytes) = act.action, bytes[0] == 2, (3...22).contains(bytes.count), name == nil {
                name = String(decoding: bytes.dropFirst(2), as: UTF8.self)
            }
        }
        // Refused writes try what a host must not do: without a subscription, or with the wrong one.
        var acts = link.acts.filter { $0.attError == nil }[...]
        var entry = SecureDFU.Entry(settingName: name)
        while true {
            switch entry.next() {
            case .finish(let result):
                switch result {
                case .success: report.ends.append("entering")
                case .failure(let error): report.ends.append(error.reason ?? error.code.rawValue)
                }
                return
            case .wait:
                entry.receive(.disconnected)
            case .write(let bytes, _):
                while let act = acts.first, act.action != .write(bytes) {
                    acts = acts.dropFirst()
                    report.notes.insert(.selectsOnce)
                }
                guard let act = acts.popFirst() else {
                    report.difference =
                        "the application: ours writes \(bytes.hexadecimal), which the recorded host never does"
                    return
                }
                report.writes += 1
                entry.receive(.written)
                for bytes in act.indications { entry.receive(.notification(bytes, from: .buttonless)) }
            }
        }
    }
}
