/// Why a device did not do what was asked of one of its attributes (Bluetooth Core 5.4, volume 3, part F, 3.4.1.1, and its
/// Supplement 11, part B).
package struct AttributeErrorCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The number that the device gave.
    package var rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Read Not Permitted.
    package static let readNotPermitted = AttributeErrorCode(rawValue: 0x02)

    /// The specification's name; nil where it has none.
    package var name: String? {
        switch rawValue {
        case 0x80...0x9F: "application error"
        default: Self.names[rawValue]
        }
    }

    /// The number and its name: `0x0E (unlikely error)`.
    package var description: String {
        let digits = String(rawValue, radix: 16, uppercase: true)
        return (rawValue < 0x10 ? "0x0" : "0x") + digits + " (\(name ?? "no error that the specification knows"))"
    }

    private static let names: [UInt8: String] = [
        0x01: "invalid handle", 0x02: "read not permitted", 0x03: "write not permitted", 0x04: "invalid PDU",
        0x05: "insufficient authentication", 0x06: "request not supported", 0x07: "invalid offset",
        0x08: "insufficient authorization", 0x09: "prepare queue full", 0x0A: "attribute not found",
        0x0B: "attribute not long", 0x0C: "encryption key too short", 0x0D: "invalid attribute value length",
        0x0E: "unlikely error", 0x0F: "insufficient encryption", 0x10: "unsupported group type",
        0x11: "insufficient resources", 0x12: "database out of sync", 0x13: "value not allowed",
        0xFC: "write request rejected", 0xFD: "client characteristic configuration improperly set",
        0xFE: "procedure already in progress", 0xFF: "out of range",
    ]
}
