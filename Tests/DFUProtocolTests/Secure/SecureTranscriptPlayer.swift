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
    struct Act {
        var line: Int
        var action: TranscriptEntry.HostAction
        var answers: [[UInt8]] = []
        var indications: [[UInt8]] = []
        var attError: UInt8?
        var endsLink = false

        var isSelect: Bool { action == .write([6, 1]) || action == .write([6, 2]) }
    }

    struct Link {
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
