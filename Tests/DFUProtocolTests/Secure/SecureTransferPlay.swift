import DFUProtocol
import TestSupport

extension SecureTranscriptPlayer {
    /// A link over which a transfer is played.
    struct TransferPlay {
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
