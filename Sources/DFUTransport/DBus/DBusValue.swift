/// A value on a bus.
package enum DBusValue: Sendable, Hashable {
    case byte(UInt8)
    case boolean(Bool)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case string(String)
    case objectPath(DBusObjectPath)
    case signature(DBusSignature)
    case fileDescriptor(FileDescriptor)
    /// An array of bytes; those that come from a bus always have this form.
    case bytes([UInt8])
    case array([DBusValue], of: DBusType)
    case structure([DBusValue])
    /// Where a peer sends a key twice, the last one counts.
    case dictionary([DBusValue: DBusValue], key: DBusType, value: DBusType)
    indirect case variant(DBusValue)

    /// The value's type.
    package var type: DBusType {
        switch self {
        case .byte: .byte
        case .boolean: .boolean
        case .int16: .int16
        case .uint16: .uint16
        case .int32: .int32
        case .uint32: .uint32
        case .int64: .int64
        case .uint64: .uint64
        case .double: .double
        case .string: .string
        case .objectPath: .objectPath
        case .signature: .signature
        case .fileDescriptor: .fileDescriptor
        case .bytes: .array(of: .byte)
        case .array(_, let element): .array(of: element)
        case .structure(let members): .structure(members.map(\.type))
        case .dictionary(_, let key, let value): .dictionary(key: key, value: value)
        case .variant: .variant
        }
    }

    /// Named values of any type, `a{sv}`: the form of properties and options.
    package static func properties(_ properties: [String: DBusValue]) -> DBusValue {
        let entries = properties.map { (DBusValue.string($0), DBusValue.variant($1)) }
        return .dictionary(Dictionary(uniqueKeysWithValues: entries), key: .string, value: .variant)
    }

    /// What `properties(_:)` was made from; nil when it is something else.
    package var properties: [String: DBusValue]? {
        guard case .dictionary(let entries, key: .string, value: .variant) = self else { return nil }
        var properties: [String: DBusValue] = [:]
        for case (.string(let name), .variant(let value)) in entries { properties[name] = value }
        return properties
    }
}
