/// The type of a value on a bus.
package indirect enum DBusType: Sendable, Hashable {
    case byte
    case boolean
    case int16
    case uint16
    case int32
    case uint32
    case int64
    case uint64
    case double
    case string
    case objectPath
    case signature
    case fileDescriptor
    case array(of: DBusType)
    case structure([DBusType])
    case dictionary(key: DBusType, value: DBusType)
    case variant

    /// The type as the D-Bus specification writes it ("Type System").
    package var code: String {
        switch self {
        case .byte: "y"
        case .boolean: "b"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .fileDescriptor: "h"
        case .array(let element): "a" + element.code
        case .structure(let members): "(" + members.map(\.code).joined() + ")"
        case .dictionary(let key, let value): "a{" + key.code + value.code + "}"
        case .variant: "v"
        }
    }

    /// Reads one type off the front of what is known to be a valid signature.
    init(readingFrom code: inout Substring) {
        switch code.popFirst() {
        case "y": self = .byte
        case "b": self = .boolean
        case "n": self = .int16
        case "q": self = .uint16
        case "i": self = .int32
        case "u": self = .uint32
        case "x": self = .int64
        case "t": self = .uint64
        case "d": self = .double
        case "s": self = .string
        case "o": self = .objectPath
        case "g": self = .signature
        case "h": self = .fileDescriptor
        case "v": self = .variant
        case "a" where code.first == "{":
            code.removeFirst()
            self = .dictionary(key: DBusType(readingFrom: &code), value: DBusType(readingFrom: &code))
            code.removeFirst()
        case "a": self = .array(of: DBusType(readingFrom: &code))
        case "(":
            var members: [DBusType] = []
            while code.first != ")" { members.append(DBusType(readingFrom: &code)) }
            code.removeFirst()
            self = .structure(members)
        case let other: preconditionFailure("no D-Bus type starts with \(other.map(String.init) ?? "nothing")")
        }
    }
}
