/// What is to go wrong with a device that is updated over Secure DFU, as a file says it: a JSON list of objects, each one
/// fault.
///
/// ```json
/// [
///   { "fault": "drop", "packet": 40, "count": 2 },
///   { "fault": "answer", "request": 1, "op": "execute", "result": "0x0B", "extended": "0x05" },
///   { "fault": "disconnect", "answer": 3, "op": "execute" },
///   { "fault": "powerCycle", "byte": 20000 }
/// ]
/// ```
/// Where a fault befalls something, one of these says what: `packet` (of objects, without response), `request`, `answer`
/// (also receipts), each a number from 1 over all links, or `byte`, the number of a byte in packets. `op` (`create`,
/// `setReceipts`, `checksum`, `execute`, `select`, `abort`, `receipt`, `enter`, `setName`) counts requests and answers of
/// that kind alone; `count` is how many in a row, or `"forever"` (1 if not said).
///
/// | fault | further members | what happens |
/// | --- | --- | --- |
/// | `drop` | | it is lost; a request is taken all the same |
/// | `delay` | `milliseconds` | an answer comes so much later |
/// | `double` | `milliseconds` (0) | an answer is sent, and so much later once more |
/// | `answer` | `result` and perhaps `extended`, as `"0x0B"` or 11; or `bytes`, as `"60 04 01"` | a request is answered so, and not carried out |
/// | `error` | `code` | a request is carried out, and answered with an error of the attribute protocol alone |
/// | `disconnect` | `milliseconds` (0) | it does not arrive, and so much later the link is lost |
/// | `silence` | `milliseconds` (for ever) | from it on nothing arrives on either side |
/// | `powerCycle` | `milliseconds` (500) | it does not arrive: the power is gone so long |
/// | `zeroChecksum` | | every checksum is that of nothing |
/// | `noReceipts` | | receipts are never sent |
/// | `slowErase` | `milliseconds`, `objects` (1) | so long after each creation of one of the first objects of data its packets are lost |
/// | `oldAdvertisement` | `milliseconds` | so long it is also heard at the address that it had before |
public struct SecureFaultScript: Sendable, Hashable {
    /// The faults, in the order of the file.
    public var faults: [SecureFault]

    /// These faults, or none.
    public init(_ faults: [SecureFault] = []) {
        self.faults = faults
    }

    /// Reads a script.
    public init(json bytes: [UInt8]) throws(FaultScriptError) {
        faults = try FaultMembers.entries(of: bytes, SecureFaultReader.fault)
    }
}

/// Reads one entry of a fault script.
struct SecureFaultReader {
    private var members: FaultMembers

    static func fault(_ members: inout FaultMembers, _ name: String) throws(FaultScriptError) -> SecureFault {
        let kind: Kind = try FaultMembers.kind(name)
        var reader = SecureFaultReader(members: members)
        defer { members = reader.members }
        return try reader.fault(kind)
    }

    private enum Kind: String, CaseIterable {
        case drop, delay, double, answer, error, disconnect, silence, powerCycle, zeroChecksum, noReceipts, slowErase
        case oldAdvertisement
    }

    private mutating func fault(_ kind: Kind) throws(FaultScriptError) -> SecureFault {
        switch kind {
        case .drop: return .drop(try place(.packet, .request, .answer))
        case .delay: return .delay(try place(.answer), by: try time())
        case .double: return .double(try place(.answer), after: try members.time() ?? .zero)
        case .answer: return .answer(try place(.request), try answer())
        case .error: return .error(try place(.request), code: try members.byte("code"))
        case .disconnect:
            return .disconnect(
                try place(.packet, .request, .answer, .byte), after: try members.time() ?? .zero)
        case .silence: return .silence(try place(.packet, .request, .byte), lasting: try members.time())
        case .powerCycle:
            return .powerCycle(
                try place(.packet, .request, .answer, .byte), offAir: try members.time() ?? .milliseconds(500))
        case .zeroChecksum: return .zeroChecksum
        case .noReceipts: return .noReceipts
        case .slowErase: return .slowErase(try time(), objects: try members.whole("objects", 1...(.max)) ?? 1)
        case .oldAdvertisement: return .oldAdvertisement(try time())
        }
    }

    private mutating func time() throws(FaultScriptError) -> Duration {
        guard let time = try members.time() else { throw members.missing("milliseconds") }
        return time
    }

    private mutating func answer() throws(FaultScriptError) -> SecureFault.Answer {
        guard members.has("bytes") else {
            let result = try members.byte("result")
            return .result(result, extended: members.has("extended") ? try members.byte("extended") : nil)
        }
        let text = try members.text("bytes")
        let bytes = text.split(separator: " ").map { $0.utf8.count == 2 ? UInt8($0, radix: 16) : nil }
        guard bytes.count <= 20, !bytes.contains(nil) else {
            throw FaultScriptError(message: "\"bytes\" wants up to 20 bytes of two digits, as \"60 04 01\"")
        }
        return .bytes(bytes.compactMap(\.self))
    }

    private mutating func place(
        _ sides: SecureFaultPlace.Side...
    ) throws(FaultScriptError) -> SecureFaultPlace {
        let named = sides.filter { members.has($0.rawValue) }
        guard named.count == 1, let number = try members.whole(named[0].rawValue, 1...(.max)) else {
            let names = sides.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            throw FaultScriptError(message: sides.count == 1 ? "it wants \(names)" : "it wants one of \(names)")
        }
        var operation: SecureFaultPlace.Operation?
        if members.has("op") {
            let name = try members.text("op")
            let fitting = SecureFaultPlace.Operation.allCases.filter { $0 != .receipt || named[0] == .answer }
            operation = fitting.first { $0.rawValue == name }
            guard operation != nil, named[0] == .request || named[0] == .answer else {
                throw FaultScriptError(
                    message: "\"op\" is \"\(name)\"; with \"request\" or \"answer\" it can be "
                        + fitting.map(\.rawValue).joined(separator: ", "))
            }
        }
        return SecureFaultPlace(named[0], number, of: operation, count: try members.count())
    }
}
