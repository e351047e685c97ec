import DFUProtocol
import DFUTransport

/// Reads one entry of a fault script.
struct FaultReader {
    private var members: FaultMembers

    static func fault(_ members: inout FaultMembers, _ name: String) throws(FaultScriptError) -> Fault {
        let kind: Kind = try FaultMembers.kind(name)
        var reader = FaultReader(members: members)
        defer { members = reader.members }
        return try reader.fault(kind)
    }

    private enum Kind: String, CaseIterable {
        case drop, damage, double, delay, swap, disconnect, silence, reboot, status, truncate, battery, oldVersion
    }

    private mutating func fault(_ kind: Kind) throws(FaultScriptError) -> Fault {
        switch kind {
        case .drop:
            return .drop(try place())
        case .damage:
            return .damage(try place(), byte: try members.whole("byte", 0...511))
        case .double:
            return .double(try place(), after: try members.time() ?? .zero)
        case .delay:
            let place = try place()
            guard let delay = try members.time() else { throw members.missing("milliseconds") }
            return .delay(place, by: delay)
        case .swap:
            return .swap(try place())
        case .disconnect:
            if let byte = try members.whole("byte", 1...(.max)) { return .disconnectAtByte(byte) }
            if let packets = try members.whole("packetsPerEvent", 1...10_000) { return .disconnectOverPackets(packets) }
            return .disconnect(try place(), after: try members.time() ?? .zero)
        case .silence:
            return .silence(try place(), lasting: try members.time())
        case .reboot:
            return .reboot(
                try place(), keepsBlocks: try members.boolean("keepsBlocks"), offAir: try members.time() ?? .seconds(2))
        case .status:
            let place = try place()
            guard place.side == .frame, let command = place.command, command.isAnswered else {
                throw FaultScriptError(message: "a status wants \"frame\" and an \"op\" that is answered")
            }
            return .status(place, BlockAck.Status(rawValue: try members.byte("status")))
        case .truncate:
            guard let length = try members.whole("length", 0...511) else { throw members.missing("length") }
            return .truncate(length: length)
        case .battery:
            if members.null("tenths") { return .battery(tenths: nil) }
            return .battery(tenths: try members.byte("tenths"))
        case .oldVersion:
            return .oldVersion
        }
    }

    private mutating func place() throws(FaultScriptError) -> FaultPlace {
        let frame = try members.whole("frame", 1...(.max))
        let reply = try members.whole("reply", 1...(.max))
        let side: FaultPlace.Side
        let number: Int
        switch (frame, reply) {
        case (let frame?, nil): (side, number) = (.frame, frame)
        case (nil, let reply?): (side, number) = (.reply, reply)
        case (nil, nil), (_?, _?): throw FaultScriptError(message: "it wants one of \"frame\" and \"reply\"")
        }
        var command: BlockAck.Command?
        if members.has("op") {
            let name = try members.text("op")
            command = BlockAck.Command(rawValue: name)
            guard let command, side == .frame || command.isAnswered else {
                let fitting = BlockAck.Command.allCases.filter { side == .frame || $0.isAnswered }
                throw FaultScriptError(
                    message: "\"op\" is \"\(name)\"; it can be \(fitting.map(\.rawValue).joined(separator: ", "))")
            }
        }
        return FaultPlace(side, number, of: command, count: try members.count())
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
