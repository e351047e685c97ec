/// A line of a recorded conversation between a host and real device code.
///
/// `>>` is what the host did, `<<` what the device did, `;` a remark, `#` a comment of its own line. A file is one
/// conversation, in order, over all power cycles and links.
public struct TranscriptEntry: Sendable, Hashable {
    /// What the host did.
    public enum HostAction: Sendable, Hashable {
        /// A write with response to the control point, or to the buttonless characteristic.
        case write([UInt8])
        /// A write without response to the packet characteristic.
        case packet([UInt8])
        /// So many writes without response, which carry the next `bytes` of what is being sent.
        case packets(Int, bytes: Int)
        /// Afterwards the MTU is 23, and nothing is subscribed to.
        case connect
        case loseLink
        /// The value of the client characteristic configuration.
        case subscribe(UInt16)
        case exchangeMTU(UInt16)
        case readRevision
        case powerCycle
        /// The application asks for its bootloader, and restarts.
        case enterBootloader
        case pass(milliseconds: UInt32)
        /// How quick the flash is from here on.
        case setFlashTimes([UInt8])
        /// The device gets its public key, and restarts.
        case setPublicKey
    }

    /// What the device did.
    public enum DeviceAction: Sendable, Hashable {
        /// The ATT answer to a write; 0 is success, and the low byte else the error.
        case writeResponse(UInt16)
        case notify([UInt8])
        case indicate([UInt8])
        /// It started: 1 the bootloader, 0 an application, 2 one with a DFU service, 3 the window of serial DFU.
        case start(UInt8)
        /// The address (6 bytes, the lowest first) and the advertising data.
        case advertise([UInt8])
        case connected
        /// It ended the link, for this reason (HCI).
        case disconnect(UInt8)
        /// Its answer to the exchange of the MTU, which is then in force.
        case mtu(UInt16)
        case revision([UInt8])
        case crash
    }

    /// What a line tells.
    public enum Content: Sendable, Hashable {
        case host(HostAction)
        case device(DeviceAction)
        case comment(String)
    }

    /// The number of the line, from 1.
    public var line: Int
    /// What it tells.
    public var content: Content
    /// What is said behind `;`, where something is.
    public var remark: String?

    /// A line that cannot be understood.
    public struct Unreadable: Error, CustomStringConvertible {
        /// Its number, from 1.
        public var line: Int
        /// What it says.
        public var text: String
        /// One sentence.
        public var description: String { "line \(line) is none of a transcript: \(text)" }
    }

    /// The lines of a file; empty ones are left out.
    public static func read(_ text: String) throws(Unreadable) -> [TranscriptEntry] {
        var entries: [TranscriptEntry] = []
        for (index, text) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            guard !text.allSatisfy(\.isWhitespace) else { continue }
            guard let entry = TranscriptEntry(text, line: index + 1) else {
                throw Unreadable(line: index + 1, text: String(text))
            }
            entries.append(entry)
        }
        return entries
    }

    private init?(_ text: Substring, line: Int) {
        self.line = line
        if text.first == "#" {
            content = .comment(String(text.dropFirst().drop(while: \.isWhitespace)))
            return
        }
        let halves = text.split(separator: ";", maxSplits: 1)
        let remark = halves.dropFirst().first.map { $0.trimmingPrefix(while: \.isWhitespace) }
        self.remark = remark.flatMap { $0.isEmpty ? nil : String($0) }
        let words = halves[0].split(whereSeparator: \.isWhitespace).map(String.init)
        guard words.count >= 2 else { return nil }
        switch words[0] {
        case ">>":
            guard let action = HostAction(words[1], Array(words.dropFirst(2))) else { return nil }
            content = .host(action)
        case "<<":
            guard let action = DeviceAction(words[1], Array(words.dropFirst(2))) else { return nil }
            content = .device(action)
        default:
            return nil
        }
    }
}

extension TranscriptEntry.HostAction {
    fileprivate init?(_ kind: String, _ words: [String]) {
        switch kind {
        case "CP":
            guard let bytes = bytes(words.first ?? "") else { return nil }
            self = .write(bytes)
        case "PKT", "SMP":
            if words.first?.first == "x" {
                guard words.count == 4, let packets = Int(words[0].dropFirst()), let bytes = Int(words[2]) else {
                    return nil
                }
                self = .packets(packets, bytes: bytes)
            } else {
                guard let bytes = bytes(words.first ?? "") else { return nil }
                self = .packet(bytes)
            }
        case "CMD":
            self.init(command: words)
        default:
            return nil
        }
    }

    private init?(command words: [String]) {
        guard let code = words.first else { return nil }
        // The public key is cut short, so what follows the code is read only where it is needed.
        func number() -> UInt32? { words.dropFirst().first.flatMap { bytes($0) }.flatMap(littleEndian) }
        switch code {
        case "10": self = .connect
        case "11": self = .loseLink
        case "12":
            guard let value = number() else { return nil }
            self = .subscribe(UInt16(truncatingIfNeeded: value))
        case "13":
            guard let value = number() else { return nil }
            self = .exchangeMTU(UInt16(truncatingIfNeeded: value))
        case "14": self = .readRevision
        case "20": self = .powerCycle
        case "21": self = .enterBootloader
        case "22":
            guard let value = number() else { return nil }
            self = .pass(milliseconds: value)
        case "23":
            guard let times = words.dropFirst().first.flatMap({ bytes($0) }) else { return nil }
            self = .setFlashTimes(times)
        case "24": self = .setPublicKey
        default: return nil
        }
    }
}

extension TranscriptEntry.DeviceAction {
    fileprivate init?(_ kind: String, _ words: [String]) {
        guard let payload = bytes(words.first ?? "") else { return nil }
        switch kind {
        case "WRITE_RSP":
            guard let value = littleEndian(payload) else { return nil }
            self = .writeResponse(UInt16(truncatingIfNeeded: value))
        case "NOTIFY": self = .notify(payload)
        case "INDICATE": self = .indicate(payload)
        case "BOOT":
            guard let mode = payload.first else { return nil }
            self = .start(mode)
        case "ADV": self = .advertise(payload)
        case "CONNECTED": self = .connected
        case "DISCONNECT":
            guard let reason = payload.first else { return nil }
            self = .disconnect(reason)
        case "MTU_RSP":
            guard let value = littleEndian(payload) else { return nil }
            self = .mtu(UInt16(truncatingIfNeeded: value))
        case "REVISION": self = .revision(payload)
        case "CRASH": self = .crash
        default: return nil
        }
    }
}

/// The bytes of pairs of digits; nil where there is something else.
private func bytes(_ digits: String) -> [UInt8]? {
    guard digits.utf8.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    var rest = digits[...]
    while !rest.isEmpty {
        guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
        bytes.append(byte)
        rest = rest.dropFirst(2)
    }
    return bytes
}

/// The number of one to four bytes, the lowest first.
private func littleEndian(_ bytes: [UInt8]) -> UInt32? {
    guard (1...4).contains(bytes.count) else { return nil }
    return bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
}
