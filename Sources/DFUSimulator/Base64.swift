private import FoundationEssentials

/// Bytes that are written to JSON as one text instead of a list of numbers.
@propertyWrapper
public struct Base64: Sendable, Hashable, Codable {
    /// The bytes.
    public var wrappedValue: [UInt8]

    /// These bytes.
    public init(wrappedValue: [UInt8]) {
        self.wrappedValue = wrappedValue
    }

    /// Reads them.
    public init(from decoder: any Decoder) throws {
        wrappedValue = try Array(decoder.singleValueContainer().decode(Data.self))
    }

    /// Writes them.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Data(wrappedValue))
    }
}
