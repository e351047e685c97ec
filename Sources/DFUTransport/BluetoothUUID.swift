/// The UUID of a service or characteristic.
///
/// Kept as 128 bits; 16- and 32-bit forms stand for `0000xxxx-0000-1000-8000-00805f9b34fb` (Bluetooth Core 5.4,
/// volume 3, part B, 2.5.1).
public struct BluetoothUUID: Sendable, Hashable, CustomStringConvertible {
    /// The upper 64 bits.
    public let high: UInt64
    /// The lower 64 bits.
    public let low: UInt64

    private static let baseLow: UInt64 = 0x8000_0080_5F9B_34FB

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The UUID that a 16- or 32-bit number stands for.
    public init(short: UInt32) {
        self.init(high: UInt64(short) << 32 | 0x1000, low: Self.baseLow)
    }

    /// Reads `fee0`, `0000fee0` or the 36-character form, either case; nil for anything else.
    public init?(_ text: String) {
        let digits = Array(text.utf8)
        switch digits.count {
        case 4, 8:
            guard digits.allSatisfy(Self.isHexDigit), let short = UInt32(text, radix: 16) else { return nil }
            self.init(short: short)
        case 36:
            let dashes = [8, 13, 18, 23]
            guard dashes.allSatisfy({ digits[$0] == UInt8(ascii: "-") }) else { return nil }
            let hex = digits.indices.filter { !dashes.contains($0) }.map { digits[$0] }
            guard hex.allSatisfy(Self.isHexDigit),
                let high = UInt64(String(decoding: hex[..<16], as: UTF8.self), radix: 16),
                let low = UInt64(String(decoding: hex[16...], as: UTF8.self), radix: 16)
            else { return nil }
            self.init(high: high, low: low)
        default:
            return nil
        }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        Character(UnicodeScalar(byte)).isHexDigit
    }

    /// The 36-character form in lower case, as BlueZ writes it.
    public var description: String {
        func hex(_ value: UInt64, _ digits: Int) -> String {
            let text = String(value, radix: 16)
            return String(repeating: "0", count: digits - text.count) + text
        }
        return [
            hex(high >> 32, 8), hex(high >> 16 & 0xFFFF, 4), hex(high & 0xFFFF, 4), hex(low >> 48, 4),
            hex(low & 0xFFFF_FFFF_FFFF, 12),
        ].joined(separator: "-")
    }

    /// As people write it: four or eight digits where it is a short one, in upper case.
    package var short: String {
        let number = UInt32(high >> 32)
        guard self == BluetoothUUID(short: number) else { return description }
        let digits = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: (number > 0xFFFF ? 8 : 4) - min(digits.count, 8)) + digits
    }
}
