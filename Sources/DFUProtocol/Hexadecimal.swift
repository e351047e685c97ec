extension FixedWidthInteger where Self: UnsignedInteger {
    /// All digits in upper case, leading zeros included: `0A`, `CBF43926`.
    package var hexadecimal: String {
        let digits = String(self, radix: 16, uppercase: true)
        return String(repeating: "0", count: Self.bitWidth / 4 - digits.count) + digits
    }
}

extension Sequence<UInt8> {
    /// Two upper-case digits a byte, parted by spaces: `1B 99 01 4B`.
    package var hexadecimal: String {
        map(\.hexadecimal).joined(separator: " ")
    }
}
