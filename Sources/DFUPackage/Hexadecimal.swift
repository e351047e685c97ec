extension FixedWidthInteger where Self: UnsignedInteger {
    /// All its digits, upper-case: two for a byte.
    var hexadecimal: String {
        let digits = String(self, radix: 16, uppercase: true)
        return String(repeating: "0", count: Self.bitWidth / 4 - digits.count) + digits
    }
}
