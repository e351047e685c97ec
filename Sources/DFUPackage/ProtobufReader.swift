/// Reads the fields of one protobuf message, one after the other, and never past its end.
///
/// The wire format is that of proto2: a key (number and wire type) and a value; groups, which no init packet has, are
/// refused.
struct ProtobufReader {
    /// A field, with where it lies in the whole file.
    struct Field {
        var number: UInt64
        var value: Value
        /// Key, length and value.
        var range: Range<Int>
    }

    enum Value {
        case number(UInt64)
        /// A string of bytes or a message inside: where its content lies.
        case bytes(Range<Int>)
        /// A fixed-width value, which no known field has.
        case fixed(Range<Int>)
    }

    /// What is wrong with the bytes, and where.
    struct Fault: Error {
        var text: String
    }

    let bytes: [UInt8]
    private(set) var position: Int
    let end: Int

    init(_ bytes: [UInt8], in range: Range<Int>) {
        precondition(range.upperBound <= bytes.count)
        self.bytes = bytes
        position = range.lowerBound
        end = range.upperBound
    }

    /// The next field, or nil at the message's end.
    mutating func next() throws(Fault) -> Field? {
        guard position < end else { return nil }
        let start = position
        let key = try varint()
        let number = key >> 3
        guard number > 0, number < 1 << 29 else { throw Fault(text: "byte \(start) is no field key") }
        let value: Value
        switch key & 7 {
        case 0: value = .number(try varint())
        case 1: value = .fixed(try take(8, field: number))
        case 2: value = .bytes(try take(try varint(), field: number))
        case 5: value = .fixed(try take(4, field: number))
        default: throw Fault(text: "byte \(start) has the wire type \(key & 7), which init packets do not use")
        }
        return Field(number: number, value: value, range: start..<position)
    }

    /// The next base-128 number.
    mutating func varint() throws(Fault) -> UInt64 {
        let start = position
        var value: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 7) {
            guard position < end else { throw Fault(text: "it is cut short in the number at byte \(start)") }
            let byte = bytes[position]
            position += 1
            guard shift < 63 || byte <= 1 else { break }
            value |= UInt64(byte & 0x7F) << UInt64(shift)
            if byte < 0x80 { return value }
        }
        throw Fault(text: "the number at byte \(start) has more than 64 bits")
    }

    private mutating func take(_ count: UInt64, field: UInt64) throws(Fault) -> Range<Int> {
        guard count <= UInt64(end - position) else {
            throw Fault(text: "field \(field) wants \(count) bytes at byte \(position), \(end - position) are left")
        }
        let start = position
        position += Int(count)
        return start..<position
    }
}
