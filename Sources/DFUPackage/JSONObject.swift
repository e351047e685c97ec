private import FoundationEssentials

/// An object of a manifest, read with patience: `null` is like a missing member, a number may be written as a string.
struct JSONObject {
    private let members: [String: JSONValue]
    /// Where it stands, for messages: `manifest.application`.
    private let path: String

    /// The object that `text` is.
    ///
    /// Bare hexadecimal numbers, which old generators wrote, are read too. The decoder of JSON5 would read them, but it traps
    /// on what is no JSON5 (Swift 6.3).
    init(parsing text: [UInt8], named name: String) throws(PackageError) {
        // A byte order mark is the work of an editor, and JSONDecoder takes none.
        let text = text.starts(with: [0xEF, 0xBB, 0xBF]) ? text.dropFirst(3) : text[...]
        guard let value = Self.value(of: text) else {
            throw PackageError(
                .malformed, reason: "manifestNotJSON",
                message: "\(name) (\(text.count) bytes) is not valid JSON; make the package again")
        }
        guard case .object(let members) = value else {
            throw PackageError(
                .malformed, reason: "manifestMalformed",
                message: "\(name) holds \(value.kind) and not an object; make the package again")
        }
        self.members = members
        path = ""
    }

    private static func value(of text: ArraySlice<UInt8>) -> JSONValue? {
        let decoder = JSONDecoder()
        return (try? decoder.decode(JSONValue.self, from: Data(text)))
            ?? (try? decoder.decode(JSONValue.self, from: Data(quotingHexadecimal(text))))
    }

    /// The text with each bare hexadecimal number in quotes.
    private static func quotingHexadecimal(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var quoted: [UInt8] = []
        var isString = false
        var rest = text
        while let byte = rest.first {
            let word = isString ? [] : rest.prefix { $0.isDecimalDigit || $0.isLetter }
            let isHexadecimal =
                word.count > 2 && word.starts(with: Array("0x".utf8)) { $0 | 0x20 == $1 | 0x20 }
                && word.dropFirst(2).allSatisfy(\.isHexadecimalDigit)
            if byte == UInt8(ascii: "\"") { isString.toggle() }
            if isHexadecimal { quoted.append(UInt8(ascii: "\"")) }
            let length = isString && byte == UInt8(ascii: "\\") ? 2 : max(word.count, 1)
            quoted += rest.prefix(length)
            if isHexadecimal { quoted.append(UInt8(ascii: "\"")) }
            rest = rest.dropFirst(length)
        }
        return quoted
    }

    private init(_ members: [String: JSONValue], _ path: String) {
        self.members = members
        self.path = path
    }

    /// The keys of the members that are not null.
    var keys: [String] { members.filter { $0.value != .null }.keys.sorted() }

    /// Whether there is such a member, and it is not null.
    func has(_ key: String) -> Bool { members[key] ?? .null != .null }

    func object(_ key: String) throws(PackageError) -> JSONObject? {
        switch members[key] ?? .null {
        case .null: nil
        case .object(let members): JSONObject(members, name(key))
        case let value: throw wrong(key, "an object", value)
        }
    }

    func objects(_ key: String) throws(PackageError) -> [JSONObject]? {
        guard let values = try array(key) else { return nil }
        var objects: [JSONObject] = []
        for (index, value) in values.enumerated() {
            guard case .object(let members) = value else { throw wrong("\(key)[\(index)]", "an object", value) }
            objects.append(JSONObject(members, name("\(key)[\(index)]")))
        }
        return objects
    }

    func string(_ key: String) throws(PackageError) -> String? {
        switch members[key] ?? .null {
        case .null: nil
        case .string(let text): text
        case .number(let number): "\(number)"
        case let value: throw wrong(key, "a string", value)
        }
    }

    func number(_ key: String) throws(PackageError) -> UInt64? {
        try members[key].flatMap { value throws(PackageError) in try number(value, key) }
    }

    func numbers(_ key: String) throws(PackageError) -> [UInt64]? {
        guard let values = try array(key) else { return nil }
        var numbers: [UInt64] = []
        for (index, value) in values.enumerated() {
            if let number = try number(value, "\(key)[\(index)]") { numbers.append(number) }
        }
        return numbers
    }

    func fraction(_ key: String) throws(PackageError) -> Double? {
        switch members[key] ?? .null {
        case .null: return nil
        case .number(let number): return Double(number)
        case .fraction(let number): return number
        case .string(let text):
            guard let number = Double(text) else { throw wrong(key, "a number", .string(text)) }
            return number
        case let value: throw wrong(key, "a number", value)
        }
    }

    func boolean(_ key: String) throws(PackageError) -> Bool? {
        switch members[key] ?? .null {
        case .null: nil
        case .boolean(let value): value
        case let value: throw wrong(key, "true or false", value)
        }
    }

    private func array(_ key: String) throws(PackageError) -> [JSONValue]? {
        switch members[key] ?? .null {
        case .null: nil
        case .array(let values): values
        case let value: throw wrong(key, "an array", value)
        }
    }

    private func number(_ value: JSONValue, _ key: String) throws(PackageError) -> UInt64? {
        switch value {
        case .null: return nil
        case .number(let number): return number
        case .string(let text):
            let isHexadecimal = text.hasPrefix("0x") || text.hasPrefix("0X")
            guard let number = UInt64(isHexadecimal ? text.dropFirst(2) : text[...], radix: isHexadecimal ? 16 : 10)
            else { throw wrong(key, "a whole number", value) }
            return number
        default: throw wrong(key, "a whole number", value)
        }
    }

    private func name(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    private func wrong(_ key: String, _ wanted: String, _ value: JSONValue) -> PackageError {
        PackageError(
            .malformed, reason: "manifestMalformed",
            message: "\(name(key)) in the manifest is \(value.kind) and not \(wanted); make the package again")
    }
}

/// Any JSON value.
private enum JSONValue: Decodable, Hashable {
    case null
    case boolean(Bool)
    case number(UInt64)
    case fraction(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(UInt64.self) {
            self = .number(value)
        } else if let value = try? container.decode(Double.self) {
            self = .fraction(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    /// What it is, for messages.
    var kind: String {
        switch self {
        case .null: "null"
        case .boolean(let value): "\(value)"
        case .number(let value): "\(value)"
        case .fraction(let value): "\(value)"
        case .string(let text): "\"\(text.prefix(60))\""
        case .array: "an array"
        case .object: "an object"
        }
    }
}
