internal import DFUProtocol

/// Takes a profile's members apart, and keeps every problem that it meets.
struct DeviceProfileReader {
    let members: [String: JSONValue]
    var problems: [String] = []

    init(members: [String: JSONValue]) {
        self.members = members
    }

    mutating func profile() -> DeviceProfile {
        refuseUnknown(members, in: nil, known: DeviceProfile.members)
        if let schema = members["schema"], schema != .number(1) {
            problems.append("schema: this version reads schema 1 only")
        }
        if let name = members["protocol"], name != .string("block-ack") {
            problems.append("protocol: a profile is for \"block-ack\"; the other protocols need none")
        }
        var profile = DeviceProfile(name: "")
        read("name", required: true) {
            Self.text($0)
        } then: {
            profile.name = $0
        }
        read("service") {
            Self.uuid($0)
        } then: {
            profile.service = $0
        }
        read("command") {
            Self.uuid($0)
        } then: {
            profile.command = $0
        }
        read("reply") {
            Self.uuid($0)
        } then: {
            profile.reply = $0
        }
        read("write") {
            Self.word($0)
        } then: {
            profile.writeKind = $0
        }
        read("hostHeader") {
            Self.byte($0)
        } then: {
            profile.blockAck.hostHeader = $0
        }
        read("deviceHeader") {
            Self.byte($0)
        } then: {
            profile.blockAck.deviceHeader = $0
        }
        read("checksum") {
            Self.word($0)
        } then: {
            profile.blockAck.checksum = $0
        }
        read("byteOrder") {
            Self.word($0)
        } then: {
            profile.blockAck.byteOrder = $0
        }
        read("blockSize") {
            Self.whole($0, 1...65535)
        } then: {
            profile.blockAck.blockSize = $0
        }
        read("packetSize") {
            Self.whole($0, 20...255)
        } then: {
            profile.blockAck.packetSize = $0
        }
        read("gap") {
            Self.gap($0)
        } then: {
            profile.blockAck.gap = $0
        }
        read("tries") {
            Self.whole($0, 1...10)
        } then: {
            profile.blockAck.tries = $0
        }
        read("minimumBattery") {
            Self.whole($0, 0...100)
        } then: {
            profile.minimumBattery = $0
        }
        if members["versionCharacteristic"] == .null {
            profile.versionCharacteristic = nil
        } else {
            read("versionCharacteristic") {
                Self.uuid($0)
            } then: {
                profile.versionCharacteristic = $0
            }
        }
        read("identify") {
            Self.word($0)
        } then: {
            profile.identification = $0
        }
        read("anyVersion") {
            Self.boolean($0)
        } then: {
            profile.blockAck.anyVersion = $0
        }
        read("setTime") {
            Self.boolean($0)
        } then: {
            profile.setsTime = $0
        }
        connection(into: &profile.connection)
        opcodes(into: &profile.blockAck.opcodes)
        limits(into: &profile.blockAck.limits)
        return profile
    }

    private mutating func connection(into connection: inout DeviceProfile.Connection) {
        switch members["connection"] {
        case nil: break
        case .string("automatic"): connection = .automatic
        case .string("system"): connection = .system
        case .object(let object): parameters(object, into: &connection)
        default: problems.append("connection: wants \"automatic\", \"system\" or an object")
        }
    }

    private mutating func parameters(_ object: [String: JSONValue], into connection: inout DeviceProfile.Connection) {
        refuseUnknown(object, in: "connection", known: ["interval", "latency", "supervisionTimeout"])
        let count = problems.count
        var interval = ConnectionParameters.update.interval
        var latency = ConnectionParameters.update.latency
        var timeout = ConnectionParameters.update.supervisionTimeout
        if let value = object["interval"] {
            note(Self.interval(value), at: "connection.interval") { interval = $0 }
        } else {
            problems.append("connection.interval: missing")
        }
        if let value = object["latency"] {
            note(Self.whole(value, ConnectionParameters.latencyLimits), at: "connection.latency") { latency = $0 }
        }
        if let value = object["supervisionTimeout"] {
            note(Self.supervisionTimeout(value), at: "connection.supervisionTimeout") { timeout = $0 }
        }
        guard problems.count == count else { return }
        guard
            let parameters = ConnectionParameters(interval: interval, latency: latency, supervisionTimeout: timeout)
        else {
            problems.append(
                "connection.supervisionTimeout: wants more than 2 × (latency + 1) × the longest interval")
            return
        }
        connection = .parameters(parameters)
    }

    private mutating func opcodes(into opcodes: inout BlockAck.Parameters.Opcodes) {
        guard let object = object("opcodes", known: DeviceProfile.opcodes.map(\.name)) else { return }
        for (name, path) in DeviceProfile.opcodes {
            guard let value = object[name] else { continue }
            note(Self.byte(value), at: "opcodes.\(name)") { opcodes[keyPath: path] = $0 }
        }
    }

    private mutating func limits(into limits: inout BlockAck.Parameters.Limits) {
        guard let object = object("limits", known: DeviceProfile.limits.map(\.name)) else { return }
        for (name, path) in DeviceProfile.limits {
            guard let value = object[name] else { continue }
            note(Self.seconds(value), at: "limits.\(name)") { limits[keyPath: path] = $0 }
        }
    }

    private mutating func object(_ name: String, known: [String]) -> [String: JSONValue]? {
        guard let value = members[name] else { return nil }
        guard case .object(let object) = value else {
            problems.append("\(name): this is \(value.kind), not an object")
            return nil
        }
        refuseUnknown(object, in: name, known: Set(known))
        return object
    }

    private mutating func refuseUnknown(_ object: [String: JSONValue], in parent: String?, known: Set<String>) {
        for name in object.keys.sorted() where !known.contains(name) {
            problems.append("\(parent.map { $0 + "." } ?? "")\(name): no such member")
        }
    }

    private mutating func read<Value>(
        _ name: String, required: Bool = false, _ parse: (JSONValue) -> Reading<Value>, then use: (Value) -> Void
    ) {
        if let value = members[name] {
            note(parse(value), at: name, then: use)
        } else if required {
            problems.append("\(name): missing")
        }
    }

    private mutating func note<Value>(_ reading: Reading<Value>, at name: String, then use: (Value) -> Void) {
        switch reading {
        case .value(let value): use(value)
        case .problem(let problem): problems.append("\(name): \(problem)")
        }
    }

    private enum Reading<Value> {
        case value(Value)
        case problem(String)
    }

    private static func text(_ value: JSONValue) -> Reading<String> {
        guard case .string(let text) = value, !text.isEmpty else { return .problem("wants a text") }
        return .value(text)
    }

    private static func uuid(_ value: JSONValue) -> Reading<BluetoothUUID> {
        guard case .string(let text) = value, let uuid = BluetoothUUID(text) else {
            return .problem("wants a UUID of 4, 8 or 36 characters, as \"fee0\"")
        }
        return .value(uuid)
    }

    private static func boolean(_ value: JSONValue) -> Reading<Bool> {
        guard case .boolean(let boolean) = value else { return .problem("wants true or false") }
        return .value(boolean)
    }

    private static func byte(_ value: JSONValue) -> Reading<UInt8> {
        switch value {
        case .number(let number):
            if let byte = UInt8(exactly: number) { return .value(byte) }
        case .string(let text) where text.hasPrefix("0x") && text.utf8.count == 4:
            let digits = text.dropFirst(2)
            // The standard library takes a sign too.
            if digits.allSatisfy(\.isHexDigit), let byte = UInt8(digits, radix: 16) { return .value(byte) }
        case .null, .boolean, .string, .array, .object: break
        }
        return .problem("wants a byte, as \"0x1B\" or 27")
    }

    private static func whole(_ value: JSONValue, _ range: ClosedRange<Int>) -> Reading<Int> {
        guard case .number(let number) = value, let whole = Int(exactly: number), range.contains(whole) else {
            return .problem("wants a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return .value(whole)
    }

    private static func seconds(_ value: JSONValue) -> Reading<Duration> {
        guard case .number(let number) = value, number > 0, number <= 3600 else {
            return .problem("wants seconds, more than 0 and at most 3600")
        }
        return .value(.milliseconds(Int64((number * 1000).rounded(.up))))
    }

    private static func gap(_ value: JSONValue) -> Reading<BlockAck.Parameters.Gap> {
        switch value {
        case .number(let number) where number >= 0 && number <= 10_000:
            return .value(.fixed(.microseconds(Int64((number * 1000).rounded()))))
        case .string("adaptive"):
            return .value(.adaptive(from: .milliseconds(20)))
        case .null, .boolean, .number, .string, .array, .object:
            return .problem("wants milliseconds from 0 to 10000, or \"adaptive\"")
        }
    }

    /// A number of milliseconds, or the least and the most.
    private static func interval(_ value: JSONValue) -> Reading<ClosedRange<Duration>> {
        let values: [JSONValue] = if case .array(let values) = value { values } else { [value, value] }
        let bounds = values.compactMap { value -> Duration? in
            guard case .number(let number) = value, let microseconds = Int32(exactly: number * 1000) else {
                return nil
            }
            let interval = Duration.microseconds(microseconds)
            return ConnectionParameters.isInterval(interval) ? interval : nil
        }
        guard bounds.count == 2, values.count == 2, bounds[0] <= bounds[1] else {
            return .problem("wants milliseconds from 7.5 to 4000 in steps of 1.25, or a list of the least and the most")
        }
        return .value(bounds[0]...bounds[1])
    }

    private static func supervisionTimeout(_ value: JSONValue) -> Reading<Duration> {
        // 0.29 × 100 is not a whole number in binary.
        if case .number(let number) = value, number >= 0, number <= 32,
            abs(number * 100 - (number * 100).rounded()) < 1e-9
        {
            let timeout = Duration.milliseconds(Int((number * 100).rounded()) * 10)
            if ConnectionParameters.isSupervisionTimeout(timeout) { return .value(timeout) }
        }
        return .problem("wants seconds from 0.1 to 32 in steps of 0.01")
    }

    private static func word<Value: RawRepresentable & CaseIterable>(
        _ value: JSONValue
    ) -> Reading<Value> where Value.RawValue == String {
        if case .string(let text) = value, let word = Value(rawValue: text) { return .value(word) }
        return .problem("wants one of \(Value.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "))")
    }
}
