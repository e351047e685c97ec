import DFUTransport

/// The members of one entry of a script, which are taken out as they are read.
struct FaultMembers {
    private var members: [String: JSONValue]

    /// Reads a whole script: a list of objects, each of which `read` makes a fault of.
    static func entries<Fault>(
        of bytes: [UInt8], _ read: (inout FaultMembers, _ kind: String) throws(FaultScriptError) -> Fault
    ) throws(FaultScriptError) -> [Fault] {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw FaultScriptError(message: error.message)
        }
        guard case .array(let entries) = value else {
            throw FaultScriptError(message: "a fault script is a list, and this is \(value.kind)")
        }
        var faults: [Fault] = []
        for (number, entry) in zip(1..., entries) {
            do {
                faults.append(try fault(of: entry, read))
            } catch {
                throw FaultScriptError(message: "entry \(number): \(error.message)")
            }
        }
        return faults
    }

    private static func fault<Fault>(
        of entry: JSONValue, _ read: (inout FaultMembers, _ kind: String) throws(FaultScriptError) -> Fault
    ) throws(FaultScriptError) -> Fault {
        guard case .object(let members) = entry else {
            throw FaultScriptError(message: "a fault is an object, and this is \(entry.kind)")
        }
        var rest = FaultMembers(members: members)
        let kind = try rest.text("fault")
        let fault = try read(&rest, kind)
        if let name = rest.members.keys.min() {
            throw FaultScriptError(message: "\"\(name)\" is no member of \"\(kind)\"")
        }
        return fault
    }

    /// The kind of fault with this name.
    static func kind<Kind: CaseIterable & RawRepresentable<String>>(
        _ name: String, as type: Kind.Type = Kind.self
    ) throws(FaultScriptError) -> Kind {
        guard let kind = Kind(rawValue: name) else {
            let known = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw FaultScriptError(message: "no fault is called \"\(name)\"; there are \(known)")
        }
        return kind
    }

    /// Whether there is such a member.
    func has(_ name: String) -> Bool { members[name] != nil }

    /// Takes a member that is null; false where it is not.
    mutating func null(_ name: String) -> Bool {
        guard members[name] == .null else { return false }
        members[name] = nil
        return true
    }

    mutating func count() throws(FaultScriptError) -> Int {
        if members["count"] == .string("forever") {
            members["count"] = nil
            return .max
        }
        return try whole("count", 1...(.max)) ?? 1
    }

    func missing(_ name: String) -> FaultScriptError {
        FaultScriptError(message: "\"\(name)\" is missing")
    }

    mutating func text(_ name: String) throws(FaultScriptError) -> String {
        guard let value = members.removeValue(forKey: name) else { throw missing(name) }
        guard case .string(let text) = value else {
            throw FaultScriptError(message: "\"\(name)\" is \(value.kind), not a text")
        }
        return text
    }

    mutating func boolean(_ name: String) throws(FaultScriptError) -> Bool? {
        guard let value = members.removeValue(forKey: name) else { return nil }
        guard case .boolean(let boolean) = value else {
            throw FaultScriptError(message: "\"\(name)\" is \(value.kind), not true or false")
        }
        return boolean
    }

    mutating func whole(_ name: String, _ range: ClosedRange<Int>) throws(FaultScriptError) -> Int? {
        guard let value = members.removeValue(forKey: name) else { return nil }
        guard case .number(let number) = value, let whole = Int(exactly: number), range.contains(whole) else {
            let end = range.upperBound == .max ? " up" : " to \(range.upperBound)"
            throw FaultScriptError(message: "\"\(name)\" wants a whole number from \(range.lowerBound)\(end)")
        }
        return whole
    }

    mutating func time() throws(FaultScriptError) -> Duration? {
        try whole("milliseconds", 0...86_400_000).map { .milliseconds($0) }
    }

    mutating func byte(_ name: String) throws(FaultScriptError) -> UInt8 {
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
