internal import DFUProtocol

/// A line of a capture; docs/captures.md has the grammar.
enum CaptureLine: Equatable {
    /// What holds of the lines below, or how far the update is.
    case fact(CaptureKey, String)
    /// A packet that the host writes.
    case write(CapturePacket)
    /// This time passes, and what was waited for has not come.
    case timePasses(milliseconds: UInt32)
    /// The update is to stop: the user wants it, or its limit is over.
    case stop
    /// The device sends these bytes.
    case notification([UInt8])
    /// The write before is answered: nil for well, or with this ATT error.
    case writeResponse(UInt8?)
    /// The host's own side does not take the write before.
    case writeError
    /// What follows comes before the outcome of the write before.
    case writeOpen
    /// A connection is made.
    case connected
    /// The longest attribute packet that the link takes.
    case maximumTransmissionUnit(UInt16)
    /// The link is gone.
    case disconnected
    /// What tells a reader something, and a procedure nothing.
    case other
}

/// What a fact is about.
package enum CaptureKey: String, Sendable, CaseIterable {
    /// The version of the form; the first line.
    case capture
    /// Who wrote it.
    case program
    case `protocol`
    /// The end of the device's address, or a simulated device's name.
    case device
    /// The SHA-256 of the package.
    case package
    case imageSize = "image-size"
    case imageCRC = "image-crc"
    /// The version that is announced, or `any`.
    case version
    /// What the device's profile differs in from the built-in one.
    case profile
    /// No packet is longer than this, whatever the link takes.
    case packetLimit = "packet-limit"
    /// What was asked for otherwise.
    case options
    /// When the line below was written.
    case time
    /// A procedure begins.
    case begin
    /// It ends.
    case end
    /// How the update ended.
    case result
    /// What the command ended with.
    case status
}

/// A packet of the host as a capture has it.
enum CapturePacket: Equatable {
    /// The word for whom it is for.
    enum Term: String, CaseIterable {
        /// The control point, or the characteristic that all goes to.
        case controlPoint = "CP"
        /// The characteristic that takes the image.
        case packet = "PKT"
        /// SMP's one characteristic.
        case smp = "SMP"
    }

    /// All of it.
    case whole(Term, [UInt8])
    /// A stand-in for consecutive packets of the image, with the checksum of all of them where that is known.
    case image(packets: Int, bytes: Int, crc32: UInt32?)
}

// MARK: Writing

extension CaptureLine {
    /// The line's text, with words that say what it means.
    func text(_ meaning: String? = nil) -> String {
        let (beginning, content) = parts
        return Self.text(beginning, content, meaning)
    }

    /// A line of the host that tells a reader something: `>> READ 2a26`.
    static func host(_ term: String, _ content: String = "", _ meaning: String? = nil) -> String {
        text(hostBeginning(term), content, meaning)
    }

    /// A line of the device that tells a reader something: `<< READ_RSP   312e302e30`.
    static func device(_ term: String, _ content: String = "", _ meaning: String? = nil) -> String {
        text(deviceBeginning(term), content, meaning)
    }

    /// A line for people alone.
    static func remark(_ words: String) -> String { text("## ", words.onOneLine, nil) }

    private static func text(_ beginning: String, _ content: String, _ meaning: String?) -> String {
        let line = (beginning + content).trimmed
        guard let meaning, !meaning.isEmpty else { return line }
        return "\(line)   ; \(meaning.onOneLine)"
    }

    private static func hostBeginning(_ term: String) -> String { ">> " + term.padded(to: 4) + " " }

    private static func deviceBeginning(_ term: String) -> String { "<< " + term.padded(to: 10) + " " }

    private var parts: (beginning: String, content: String) {
        switch self {
        case .fact(let key, let value): ("# \(key.rawValue): ", value)
        case .write(.whole(let term, let bytes)): (Self.hostBeginning(term.rawValue), bytes.digits)
        case .write(.image(let packets, let bytes, let crc32)):
            (
                Self.hostBeginning(CapturePacket.Term.packet.rawValue),
                "x\(packets) packets, \(bytes) bytes" + (crc32.map { ", CRC-32 \($0.hexadecimal)" } ?? "")
            )
        case .timePasses(let milliseconds): (Self.hostBeginning("CMD"), "22 \(milliseconds.littleEndianBytes.digits)")
        case .stop: (Self.hostBeginning("CMD"), "30")
        case .notification(let bytes): (Self.deviceBeginning("NOTIFY"), bytes.digits)
        case .writeResponse(let error):
            (Self.deviceBeginning("WRITE_RSP"), error.map { "01" + [$0].digits } ?? "0000")
        case .writeError: (Self.deviceBeginning("WRITE_ERR"), "")
        case .writeOpen: (Self.deviceBeginning("WRITE_OPEN"), "")
        case .connected: (Self.deviceBeginning("CONNECTED"), "01")
        case .maximumTransmissionUnit(let unit): (Self.deviceBeginning("MTU_RSP"), unit.littleEndianBytes.digits)
        case .disconnected: (Self.deviceBeginning("DISCONNECT"), "")
        case .other: ("", "")
        }
    }
}

// MARK: Reading

extension CaptureLine {
    /// Why a text is no line of a capture: a clause about the line.
    struct Flaw: Error {
        var message: String
    }

    /// Reads a line, and the words behind its `;`.
    static func read(_ text: String) throws(Flaw) -> (line: CaptureLine, meaning: String) {
        let text = text.trimmed
        if text.isEmpty { return (.other, "") }
        let (body, meaning) = text.partedAtMeaning
        if text.hasPrefix("#") { return (fact(body) ?? .other, meaning) }
        let isHost = text.hasPrefix(">>")
        guard isHost || text.hasPrefix("<<") else {
            throw Flaw(message: "it begins with none of '>>', '<<' and '#'")
        }
        let words = body.dropFirst(2).split(maxSplits: 1) { $0 == " " || $0 == "\t" }
        guard let term = words.first else { throw Flaw(message: "a word is missing behind '\(text.prefix(2))'") }
        let content = words.count > 1 ? String(words[1]).trimmed : ""
        let line = isHost ? try host(term, content) : try device(term, content)
        return (line, meaning)
    }

    private static func fact(_ body: String) -> CaptureLine? {
        guard body.hasPrefix("# "), let colon = body.firstIndex(of: ":"),
            let key = CaptureKey(rawValue: String(body[..<colon].dropFirst(2)))
        else { return nil }
        return .fact(key, String(body[colon...].dropFirst()).trimmed)
    }

    private static func host(_ term: Substring, _ content: String) throws(Flaw) -> CaptureLine {
        if let term = CapturePacket.Term(rawValue: String(term)) {
            if content.hasPrefix("x") { return .write(try image(content)) }
            return .write(.whole(term, try bytes(content)))
        }
        switch term {
        case "CMD": return try command(content)
        case "READ", "WRITE", "COMMAND": return .other
        default: throw Flaw(message: "'\(term)' is nothing that a host does")
        }
    }

    private static func command(_ content: String) throws(Flaw) -> CaptureLine {
        let words = content.split(separator: " ")
        switch words.first {
        case "11": return .disconnected
        case "22":
            let time = try bytes(words.dropFirst().joined())
            guard time.count == 4 else { throw Flaw(message: "CMD 22 wants the milliseconds in four bytes") }
            return .timePasses(milliseconds: UInt32(littleEndianBytes: time))
        case "30": return .stop
        case let number? where number.utf8.count == 2: return .other
        default: throw Flaw(message: "CMD wants a number of two digits")
        }
    }

    private static func device(_ term: Substring, _ content: String) throws(Flaw) -> CaptureLine {
        switch term {
        case "NOTIFY", "INDICATE": return .notification(try bytes(content))
        case "WRITE_RSP":
            let status = try bytes(content)
            guard status.count == 2, status[0] == 1 || status == [0, 0] else {
                throw Flaw(message: "WRITE_RSP wants 0000, or 01 and an ATT error code")
            }
            return .writeResponse(status[0] == 1 ? status[1] : nil)
        case "WRITE_ERR": return .writeError
        case "WRITE_OPEN": return .writeOpen
        case "CONNECTED": return .connected
        case "MTU_RSP":
            let unit = try bytes(content)
            guard unit.count == 2 else { throw Flaw(message: "MTU_RSP wants two bytes") }
            return .maximumTransmissionUnit(UInt16(unit[0]) | UInt16(unit[1]) << 8)
        case "DISCONNECT": return .disconnected
        case "ADV", "BOOT", "CONNECT_ERR", "READ_RSP", "READ_ERR", "REVISION": return .other
        default: throw Flaw(message: "'\(term)' is nothing that a device does")
        }
    }

    /// `x128 packets, 2048 bytes, CRC-32 1A2B3C4D`, the checksum where it is known.
    private static func image(_ content: String) throws(Flaw) -> CapturePacket {
        let words = content.dropFirst().split { $0 == " " || $0 == "," || $0 == "\t" }
        let hasChecksum = words.count == 6 && words[4] == "CRC-32"
        guard words.count == 4 || hasChecksum, words[1] == "packets", words[3] == "bytes",
            let packets = Int(words[0]), packets > 0, let bytes = Int(words[2]), bytes > 0
        else {
            throw Flaw(
                message: "a stand-in is written 'xN packets, M bytes', with ', CRC-32 XXXXXXXX' where it is known")
        }
        guard hasChecksum else { return .image(packets: packets, bytes: bytes, crc32: nil) }
        guard let checksum = UInt32(hexadecimal: words[5]) else {
            throw Flaw(message: "a CRC-32 has eight hex digits")
        }
        return .image(packets: packets, bytes: bytes, crc32: checksum)
    }

    private static func bytes(_ text: String) throws(Flaw) -> [UInt8] {
        let digits = text.utf8.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }.map(\.hexDigitValue)
        guard digits.count.isMultiple(of: 2), !digits.contains(nil) else {
            throw Flaw(message: "'\(text.prefix(40))' is no hexadecimal, two digits a byte")
        }
        return stride(from: 0, to: digits.count, by: 2).map { (digits[$0] ?? 0) << 4 | (digits[$0 + 1] ?? 0) }
    }
}

extension UInt32 {
    /// Reads exactly eight hex digits.
    init?(hexadecimal text: some StringProtocol) {
        guard text.utf8.count == 8, text.utf8.allSatisfy({ $0.hexDigitValue != nil }) else { return nil }
        self.init(text, radix: 16)
    }
}

extension UInt8 {
    /// Whether it is a space, a tab or a carriage return.
    fileprivate var isBlank: Bool { self == 0x20 || self == 0x09 || self == 0x0D }

    /// What the ASCII character stands for as a hex digit; nil for any other.
    fileprivate var hexDigitValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension FixedWidthInteger {
    fileprivate var littleEndianBytes: [UInt8] { withUnsafeBytes(of: littleEndian) { Array($0) } }

    fileprivate init(littleEndianBytes bytes: [UInt8]) {
        self = bytes.reversed().reduce(0) { $0 << 8 | Self($1) }
    }
}

extension Sequence<UInt8> {
    /// Two lower-case digits a byte, nothing between them: `1b99014b`.
    var digits: String { hexadecimal.lowercased().filter { $0 != " " } }
}

extension String {
    /// The text without blanks at its ends.
    var trimmed: String {
        let rest = utf8.drop(while: \.isBlank)
        guard let last = rest.lastIndex(where: { !$0.isBlank }) else { return "" }
        return String(Substring(rest[...last]))
    }

    /// What stands before the first `;` that follows a blank, and what stands behind it.
    fileprivate var partedAtMeaning: (body: String, meaning: String) {
        var isBehindBlank = true
        for index in utf8.indices {
            let byte = utf8[index]
            if byte == UInt8(ascii: ";"), isBehindBlank {
                return (String(self[..<index]).trimmed, String(self[index...].dropFirst()).trimmed)
            }
            isBehindBlank = byte.isBlank
        }
        return (self, "")
    }

    fileprivate func padded(to count: Int) -> String {
        self + String(repeating: " ", count: max(0, count - self.count))
    }

    /// The text with a space for each end of a line in it.
    var onOneLine: String {
        split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}
