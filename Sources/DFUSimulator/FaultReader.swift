import DFUProtocol
import DFUTransport

/// Reads one entry of a fault script.
struct FaultReader {
    private var members: [String: JSONValue]

    static func fault(_ entry: JSONValue) throws(FaultScriptError) -> Fault {
        guard case .object(let members) = entry else {
            throw FaultScriptError(message: "a fault is an object, and this is \(entry.kind)")
        }
        var reader = FaultReader(members: members)
        let name = try reader.text("fault")
        guard let kind = Kind(rawValue: name) else {
            let known = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw FaultScriptError(message: "no fault is called \"\(name)\"; there are \(known)")
        }
        let fault = try reader.fault(kind)
        if let name = reader.members.keys.min() {
            throw FaultScriptError(message: "\"\(name)\" is no member of \"\(kind.rawValue)\"")
        }
        return fault
    }

    private enum Kind: String, CaseIterable {
        case drop, damage, double, delay, swap, disconnect, silence, reboot, status, truncate, battery, oldVersion
    }

    private mutating func fault(_ kind: Kind) throws(FaultScriptError) -> Fault {
        switch kind {
        case .drop:
            return .drop(try place())
        case .damage:
            return .damage(try place(), byte: try whole("byte", 0...511))
        case .double:
            return .double(try place(), after: try time() ?? .zero)
        case .delay:
            let place = try place()
            guard let delay = try time() else { throw missing("milliseconds") }
            return .delay(place, by: delay)
        case .swap:
            return .swap(try place())
        case .disconnect:
            if let byte = try whole("byte", 1...(.max)) { return .disconnectAtByte(byte) }
            if let packets = try whole("packetsPerEvent", 1...10_000) { return .disconnectOverPackets(packets) }
            return .disconnect(try place(), after: try time() ?? .zero)
        case .silence:
            return .silence(try place(), lasting: try time())
        case .reboot:
            return .reboot(
                try place(), keepsBlocks: try boolean("keepsBlocks"), offAir: try time() ?? .seconds(2))
        case .status:
            let place = try place()
            guard place.side == .frame, let command = place.command, command.isAnswered else {
                throw FaultScriptError(message: "a status wants \"frame\" and an \"op\" that is answered")
            }
            return .status(place, BlockAck.Status(rawValue: try byte("status")))
        case .truncate:
            guard let length = try whole("length", 0...511) else { throw missing("length") }
            return .truncate(length: length)
        case .battery:
            if members["tenths"] == .null {
                members["tenths"] = nil
                return .battery(tenths: nil)
            }
            return .battery(tenths: try byte("tenths"))
        case .oldVersion:
            return .oldVersion
        }
    }

    private mutating func place() throws(FaultScriptError) -> FaultPlace {
        let frame = try whole("frame", 1...(.max))
        let reply = try whole("reply", 1...(.max))
        let side: FaultPlace.Side
        let number: Int
        switch (frame, reply) {
        case (let frame?, nil): (side, number) = (.frame, frame)
        case (nil, let reply?): (side, number) = (.reply, reply)
        case (nil, nil), (_?, _?): throw FaultScriptError(message: "it wants one of \"frame\" and \"reply\"")
        }
        var command: BlockAck.Command?
        if members["op"] != nil {
            let name = try text("op")
            command = BlockAck.Command(rawValue: name)
            guard let command, side == .frame || command.isAnswered else {
                let fitting = BlockAck.Command.allCases.filter { side == .frame || $0.isAnswered }
                throw FaultScriptError(
                    message: "\"op\" is \"\(name)\"; it can be \(fitting.map(\.rawValue).joined(separator: ", "))")
            }
        }
        return FaultPlace(side, number, of: command, count: try count())
    }

    private mutating func count() throws(FaultScriptError) -> Int {
        if members["count"] == .string("forever") {
            members["count"] = nil
            return .max
        }
        return try whole("count", 1...(.max)) ?? 1
    }

    private func missing(_ name: String) -> FaultScriptError {
        FaultScriptError(message: "\"\(name)\" is missing")
    }

    private mutating func text(_ name: String) throws(FaultScriptError) -> String {
        guard let value = members.removeValue(forKey: name) else { throw missing(name) }
        guard case .string(let text) = value else {
            throw FaultScriptError(message: "\"\(name)\" is \(value.kind), not a text")
        }
        return text
    }

    private mutating func boolean(_ name: String) throws(FaultScriptError) -> Bool? {
        guard let value = members.removeValue(forKey: name) else { return nil }
        guard case .boolean(let boolean) = value else {
            throw FaultScriptError(message: "\"\(name)\" is \(value.kind), not true or false")
        }
        return boolean
    }

    private mutating func whole(_ name: String, _ range: ClosedRange<Int>) throws(FaultScriptError) -> Int? {
        guard let value = members.removeValue(forKey: name) else { return nil }
        guard case .number(let number) = value, let whole = Int(exactly: number), range.contains(whole) else {
            let end = range.upperBound == .max ? " up" : " to \(range.upperBound)"
            throw FaultScriptError(message: "\"\(name)\" wants a whole number from \(range.lowerBound)\(end)")
        }
        return whole
    }

    private mutating func time() throws(FaultScriptError) -> Duration? {
        try whole("milliseconds", 0...86_400_000).map { .milliseconds($0) }
    }

    private mutating func byte(_ name: String) throws(FaultScriptError) -> UInt8 {
        guard let value = members.removeValue(forKey: name) else { throw missing(name) }
        switch value {
        case .number(let number):
            if let byte = UInt8(exactly: number) { return byte }
        case .string(let text):
            let digits = text.dropFirst(2)
            // The standard library takes a sign too.
            if text.hasPrefix("0x"), digits.allSatisfy(\.isHexDigit), let byte = UInt8(digits, radix: 16) {
                return byte
            }
        case .null, .boolean, .array, .object: break
        }
        throw FaultScriptError(message: "\"\(name)\" wants a byte, as \"0x0B\" or 11")
    }
}

extension BlockAck.Command {
    /// Whether the device answers it.
    var isAnswered: Bool {
        switch self {
        case .blockHeader, .data: false
        case .battery, .setTime, .start, .blockEnd, .complete, .abort: true
        }
    }
}
