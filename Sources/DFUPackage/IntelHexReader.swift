/// Reads the records of an Intel HEX file, and sorts their data.
struct IntelHexReader {
    private(set) var startAddress: UInt32?
    private var base = Base.linear(0)
    private var data: [UInt8] = []
    private var pieces: [Piece] = []
    private var line = 0
    private var endLine: Int?

    /// What a record's address is added to.
    private enum Base {
        /// Records before any of type 02 and 04, and behind one of type 04: addresses run on into the next 64 KiB.
        case linear(UInt32)
        /// Behind a record of type 02: addresses stay in the segment's 64 KiB.
        case segment(UInt32)
    }

    /// The data of one record. There may be millions of them.
    private struct Piece {
        var address: UInt32
        var offset: UInt32
        var line: UInt32
        var count: UInt8
    }

    /// Reads the whole file.
    mutating func read(_ file: [UInt8]) throws(PackageError) {
        var position = 0
        while position < file.count {
            let start = position
            while position < file.count, file[position] != UInt8(ascii: "\n"), file[position] != UInt8(ascii: "\r") {
                position += 1
            }
            line += 1
            try readLine(file[start..<position])
            if position + 1 < file.count, file[position] == UInt8(ascii: "\r"), file[position + 1] == UInt8(ascii: "\n")
            {
                position += 1
            }
            position += 1
        }
        guard endLine != nil else {
            if pieces.isEmpty { return }
            throw PackageError(
                .malformed, reason: "truncated",
                message:
                    "the HEX file ends at line \(line) without an end record (:00000001FF): it is cut short; get it again"
            )
        }
    }

    /// The data of all records.
    func image() throws(PackageError) -> SparseImage {
        let sorted = pieces.sorted { ($0.address, $0.line) < ($1.address, $1.line) }
        guard let first = sorted.first else {
            throw PackageError(.missing, reason: "noData", message: "the HEX file holds no data")
        }
        var segments: [SparseImage.Segment] = []
        var segment = SparseImage.Segment(address: first.address, bytes: [])
        for piece in sorted {
            if Int(piece.address) > segment.end {
                segments.append(segment)
                segment = SparseImage.Segment(address: piece.address, bytes: [])
            }
            let bytes = bytes(of: piece)
            let overlap = segment.end - Int(piece.address)
            // No name for these: while one refers to the segment's bytes, appending to them copies all.
            for (index, (old, new)) in zip(segment.bytes.suffix(overlap), bytes).enumerated() where old != new {
                throw conflict(at: piece.address + UInt32(index), old, new, in: piece, among: sorted)
            }
            segment.bytes += bytes.dropFirst(overlap)
        }
        return SparseImage(segments: segments + [segment])
    }

    private func bytes(of piece: Piece) -> ArraySlice<UInt8> {
        data[Int(piece.offset)..<Int(piece.offset) + Int(piece.count)]
    }

    /// The fault of two records that give the byte at `address` differently; the later one has it.
    private func conflict(
        at address: UInt32, _ old: UInt8, _ new: UInt8, in piece: Piece, among sorted: [Piece]
    ) -> PackageError {
        let other = sorted.first { other in
            let index = Int(address) - Int(other.address)
            return 0..<Int(other.count) ~= index && data[Int(other.offset) + index] == old
        }
        let line = other?.line ?? piece.line
        let (earlier, later) = line < piece.line ? ((line, old), (piece.line, new)) : ((piece.line, new), (line, old))
        return PackageError(
            .malformed, reason: "overlap",
            message: """
                line \(later.0) of the HEX file gives the byte at 0x\(address.hexadecimal) as \(later.1.hexadecimal), \
                and line \(earlier.0) gave it as \(earlier.1.hexadecimal): several programs are mixed up in it
                """)
    }

    private mutating func readLine(_ text: ArraySlice<UInt8>) throws(PackageError) {
        guard let first = text.first else { return }
        guard first == UInt8(ascii: ":") else {
            if endLine != nil { return }
            throw fault("noRecord", "begins with \(first.shown), not with a colon: no Intel HEX")
        }
        if let endLine {
            throw fault(
                "dataAfterEnd",
                "is a record behind the end record of line \(endLine): join HEX files with a merge tool, not end to end"
            )
        }
        try readRecord(try record(text.dropFirst()))
    }

    /// The bytes that a line's digits give, their number and checksum proven.
    private func record(_ digits: ArraySlice<UInt8>) throws(PackageError) -> [UInt8] {
        var record: [UInt8] = []
        record.reserveCapacity(digits.count / 2)
        var high: UInt8?
        for digit in digits {
            guard let value = digit.hexadecimalValue else {
                throw fault("noDigit", "has \(digit.shown) where a hexadecimal digit belongs")
            }
            if let upper = high {
                record.append(upper << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        guard high == nil else { throw fault("oddDigits", "has an odd number of digits, \(digits.count)") }
        guard record.count >= 5, record.count == Int(record[0]) + 5 else {
            let wanted = record.first.map { "\(Int($0) + 5)" } ?? "at least 5"
            throw fault(
                "recordLength", "has \(record.count) bytes, and its length wants \(wanted): it is cut short or damaged")
        }
        let sum = record.reduce(0, &+)
        guard sum == 0 else {
            let stated = record[record.count - 1]
            throw fault(
                "recordChecksum",
                "has the checksum \(stated.hexadecimal), and its bytes give \((stated &- sum).hexadecimal): it is damaged"
            )
        }
        return record
    }

    private mutating func readRecord(_ record: [UInt8]) throws(PackageError) {
        let offset = UInt32(record[1]) << 8 | UInt32(record[2])
        let content = record[4..<record.count - 1]
        let value = content.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        switch record[3] {
        case 0x00:
            if !content.isEmpty { try add(content, at: offset) }
        case 0x01:
            try requireLength(0, of: content)
            endLine = line
        case 0x02:
            try requireLength(2, of: content)
            base = .segment(value << 4)
        case 0x03:
            try requireLength(4, of: content)
            startAddress = (value >> 16) << 4 + (value & 0xFFFF)
        case 0x04:
            try requireLength(2, of: content)
            base = .linear(value << 16)
        case 0x05:
            try requireLength(4, of: content)
            startAddress = value
        default:
            throw fault("recordType", "is of type \(record[3].hexadecimal), and there are only 00 to 05")
        }
    }

    private mutating func add(_ content: ArraySlice<UInt8>, at offset: UInt32) throws(PackageError) {
        let address: UInt32
        switch base {
        case .linear(let start):
            address = start + offset
            guard Int(address) + content.count <= 1 << 32 else {
                throw fault("addressWrap", "runs over the end of the address space, from 0x\(address.hexadecimal) on")
            }
        case .segment(let start):
            address = start + offset
            guard Int(offset) + content.count <= 1 << 16 else {
                throw fault(
                    "addressWrap", "runs over the end of its segment of 64 KiB, from 0x\(address.hexadecimal) on")
            }
        }
        pieces.append(
            Piece(address: address, offset: UInt32(data.count), line: UInt32(line), count: UInt8(content.count)))
        data += content
    }

    private func requireLength(_ wanted: Int, of content: ArraySlice<UInt8>) throws(PackageError) {
        guard content.count == wanted else {
            throw fault("recordLength", "holds \(content.count) bytes, and a record of its type \(wanted)")
        }
    }

    private func fault(_ reason: String, _ text: String) -> PackageError {
        PackageError(.malformed, reason: reason, message: "line \(line) of the HEX file \(text)")
    }
}

extension UInt8 {
    fileprivate var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// The character, or its number where it cannot be printed.
    fileprivate var shown: String {
        0x21...0x7E ~= self ? "\"\(Character(Unicode.Scalar(self)))\"" : "the byte \(hexadecimal)"
    }
}
