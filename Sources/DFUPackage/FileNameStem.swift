/// A file's name without what says its kind, cut into pieces.
struct FileNameStem {
    /// The name in UTF-8. What was taken out is `/`, which no name has.
    private(set) var bytes: [UInt8]
    private let pieces: [Range<Int>]

    /// Some of the name that is a CRC-32.
    struct CRCToken {
        var piece: Range<Int>
        var text: String
        var value: UInt32
    }

    init(_ name: String) {
        var bytes = Array(name.utf8)
        while let shorter = Self.withoutExtension(bytes) ?? Self.withoutCopyNumber(bytes) {
            bytes.removeLast(bytes.count - shorter)
        }
        self.bytes = bytes
        pieces = bytes.indices.split { bytes[$0].isNameSeparator }
            .map { $0.startIndex..<$0.endIndex }
    }

    /// The CRC-32s in the name, by the rule: a marked one counts, an unmarked one where it is the content's; where none is,
    /// the last piece.
    func countingCRCs(content: UInt32) -> [CRCToken] {
        let tokens = pieces.indices.compactMap { token(at: $0) }
        let counting = tokens.filter { $0.isMarked || $0.token.value == content }.map(\.token)
        if counting.contains(where: { $0.value == content }) { return counting }
        guard let last = tokens.last(where: { !isDecimal($0.token.piece) }), !last.isMarked, isLast(last.token.piece)
        else {
            return counting
        }
        return counting + [last.token]
    }

    /// The dates of eight digits; right behind a `+` they are part of the version.
    var dates: [Range<Int>] {
        pieces.filter { piece in
            piece.count == 8 && isDecimal(piece)
                && (piece.lowerBound == 0 || bytes[piece.lowerBound - 1] != UInt8(ascii: "+"))
        }
    }

    /// Takes pieces out, so that no version is read from them or across them.
    mutating func takeOut(_ pieces: [Range<Int>]) {
        for index in pieces.joined() {
            bytes[index] = UInt8(ascii: "/")
        }
    }

    private func token(at index: Int) -> (token: CRCToken, isMarked: Bool)? {
        let piece = pieces[index]
        guard piece.count >= 8 else { return nil }
        let digits = piece.upperBound - 8..<piece.upperBound
        let text = String(decoding: bytes[digits], as: UTF8.self)
        guard bytes[digits].allSatisfy(\.isHexadecimalDigit), let value = UInt32(text, radix: 16) else { return nil }
        let token = CRCToken(piece: piece, text: text, value: value)
        if piece.count > 8 {
            return isMark(piece.lowerBound..<digits.lowerBound) ? (token, true) : nil
        }
        let isBracketed =
            piece.lowerBound > 0 && bytes[piece.lowerBound - 1] == UInt8(ascii: "[")
            && piece.upperBound < bytes.count && bytes[piece.upperBound] == UInt8(ascii: "]")
        return (token, isBracketed || index > 0 && isMark(pieces[index - 1]))
    }

    private func isMark(_ range: Range<Int>) -> Bool {
        ["crc", "crc32", "0x"].contains(String(decoding: bytes[range], as: UTF8.self).lowercased())
    }

    private func isDecimal(_ range: Range<Int>) -> Bool {
        bytes[range].allSatisfy(\.isDecimalDigit)
    }

    /// Whether at most a date of six or eight digits follows.
    private func isLast(_ piece: Range<Int>) -> Bool {
        let following = pieces.reversed().prefix { $0 != piece }
        return following.isEmpty
            || following.count == 1 && following.allSatisfy { ($0.count == 6 || $0.count == 8) && isDecimal($0) }
    }

    private static func withoutExtension(_ bytes: [UInt8]) -> Int? {
        guard bytes.count > 4,
            [".bin", ".hex", ".zip"].contains(String(decoding: bytes.suffix(4), as: UTF8.self).lowercased())
        else { return nil }
        return bytes.count - 4
    }

    /// Browsers put ` (1)` or `(1)` behind the name of a file that was there already.
    private static func withoutCopyNumber(_ bytes: [UInt8]) -> Int? {
        guard bytes.last == UInt8(ascii: ")") else { return nil }
        let digits = bytes.dropLast().reversed().prefix(while: \.isDecimalDigit).count
        var start = bytes.count - 1 - digits
        guard (1...3).contains(digits), start > 1, bytes[start - 1] == UInt8(ascii: "(") else { return nil }
        start -= 1
        return bytes[start - 1] == UInt8(ascii: " ") && start > 1 ? start - 1 : start
    }
}

extension UInt8 {
    var isDecimalDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }

    var isLetter: Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= self | 0x20 }

    var isHexadecimalDigit: Bool { isDecimalDigit || UInt8(ascii: "a")...UInt8(ascii: "f") ~= self | 0x20 }

    /// Where a file's name is cut into pieces.
    var isNameSeparator: Bool { "_-.+ []()/".utf8.contains(self) }
}
