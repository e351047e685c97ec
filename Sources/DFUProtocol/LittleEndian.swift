/// The bytes of a number, the lowest first.
func littleEndian(_ number: some FixedWidthInteger & UnsignedInteger) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian, Array.init)
}

/// The number in these bytes, the lowest first; there are as many as it has.
func littleEndian<Number: FixedWidthInteger & UnsignedInteger>(_: Number.Type, _ bytes: ArraySlice<UInt8>) -> Number {
    precondition(bytes.count == Number.bitWidth / 8, "a number has as many bytes as its type")
    return bytes.reversed().reduce(0) { $0 << 8 | Number($1) }
}
