/// Finds versions in a text.
struct VersionScanner {
    private let bytes: [UInt8]

    /// What stands before a number where a version can begin.
    private enum Mark {
        case v, nothing
    }

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The version that a file's name states: of those with two to four numbers the last one marked with `v`, else the
    /// first; where there are none, the last single number marked with `v`.
    func version() -> FirmwareVersion? {
        var first: FirmwareVersion?
        var marked: FirmwareVersion?
        var single: FirmwareVersion?
        var position = 0
        while position < bytes.count {
            guard let number = number(at: position) else {
                position += 1
                continue
            }
            switch mark(before: position) {
            case .v:
                if let (version, end) = dotted(at: position) ?? underscored(at: position) {
                    marked = version
                    position = end
                    continue
                }
                single = singleNumber(from: position, to: number.end) ?? single
            case .nothing:
                if let (version, end) = dotted(at: position) {
                    first = first ?? version
                    position = end
                    continue
                }
            case nil: break
            }
            position = number.end
        }
        return marked ?? first ?? single
    }

    /// Two to four numbers with dots, and the pre-release and build parts behind them; and where that ends.
    func dotted(at start: Int) -> (version: FirmwareVersion, end: Int)? {
        guard let (number, numberEnd) = number(at: start), isEndOfPiece(numberEnd) else { return nil }
        var numbers = [number]
        var end = numberEnd
        var preRelease: String?
        while preRelease == nil, byte(end) == UInt8(ascii: "."), let next = self.number(at: end + 1) {
            if !isEndOfPiece(next.end) {
                // `3rc1` is a number and a pre-release part; `4bd2e9a` is something else, as the hash of a commit.
                guard let word = preReleaseWord(at: next.end), isEndOfPiece(word) else { break }
                preRelease = string(next.end..<word)
                end = word
            } else {
                end = next.end
            }
            numbers.append(next.value)
        }
        guard (2...4).contains(numbers.count) else { return nil }
        return finish(numbers, string(start..<end), preRelease, at: end)
    }

    /// Three numbers with `_`, which are read as dots.
    private func underscored(at start: Int) -> (version: FirmwareVersion, end: Int)? {
        var numbers: [Int] = []
        var end = start - 1
        while numbers.count < 3 {
            guard numbers.isEmpty || byte(end) == UInt8(ascii: "_"), let next = number(at: end + 1),
                isEndOfPiece(next.end)
            else { return nil }
            numbers.append(next.value)
            end = next.end
        }
        let text = string(start..<end).split(separator: "_").joined(separator: ".")
        return finish(numbers, text, nil, at: end)
    }

    private func singleNumber(from start: Int, to end: Int) -> FirmwareVersion? {
        let goesOn = byte(end) == UInt8(ascii: ".") && number(at: end + 1) != nil
        guard isEndOfPiece(end), !goesOn, bytes[start - 1].isV else { return nil }
        return FirmwareVersion(text: string(start - 1..<end), numbers: [])
    }

    /// The version of these numbers, with what stands at `position`: `-rc.1`, `+45`.
    private func finish(
        _ numbers: [Int], _ text: String, _ attached: String?, at position: Int
    ) -> (version: FirmwareVersion, end: Int) {
        var preRelease = attached
        var end = position
        if preRelease == nil, byte(end) == UInt8(ascii: "-"), var wordEnd = preReleaseWord(at: end + 1) {
            while byte(wordEnd) == UInt8(ascii: "."), let number = number(at: wordEnd + 1), isEndOfPiece(number.end) {
                wordEnd = number.end
            }
            if isEndOfPiece(wordEnd) {
                preRelease = string(end + 1..<wordEnd)
                end = wordEnd
            }
        }
        var build: String?
        if byte(end) == UInt8(ascii: "+"), !isEndOfPiece(end + 1) {
            let start = end + 1
            repeat { end = endOfPiece(end + 1) } while byte(end) == UInt8(ascii: ".") && !isEndOfPiece(end + 1)
            build = string(start..<end)
        }
        let version = FirmwareVersion(
            text: text + string(position..<end), numbers: numbers, preRelease: preRelease, build: build)
        return (version, end)
    }

    /// Where the word of a pre-release part ends, with the number at it: `rc1`.
    private func preReleaseWord(at start: Int) -> Int? {
        let letters = bytes.dropFirst(start).prefix(9).prefix(while: \.isLetter)
        let words = ["alpha", "beta", "rc", "pre", "preview", "dev", "snapshot", "a", "b"]
        guard words.contains(String(decoding: letters, as: UTF8.self).lowercased()) else { return nil }
        return letters.endIndex + bytes[letters.endIndex...].prefix(3).prefix(while: \.isDecimalDigit).count
    }

    /// The decimal number at `start`; one that does not fit is the greatest that does.
    private func number(at start: Int) -> (value: Int, end: Int)? {
        let digits = bytes.dropFirst(start).prefix(while: \.isDecimalDigit)
        guard !digits.isEmpty else { return nil }
        return (Int(String(decoding: digits, as: UTF8.self)) ?? Int.max, digits.endIndex)
    }

    private func mark(before position: Int) -> Mark? {
        guard position > 0 else { return .nothing }
        let previous = bytes[position - 1]
        if previous.isV {
            guard position > 1, bytes[position - 2].isLetter else { return .v }
            // `BandV1.2`, but not `dev1.2` or `REV1.2`.
            return previous == UInt8(ascii: "V") && bytes[position - 2] & 0x20 != 0 ? .v : nil
        }
        if previous.isLetter { return nil }
        guard position > 1 else { return .nothing }
        // The middle of `hw2.1.3`.
        if previous == UInt8(ascii: "."), bytes[position - 2].isDecimalDigit { return nil }
        let isAfterV = bytes[position - 2].isV && (position == 2 || isEndOfPiece(position - 3))
        return isAfterV ? .v : .nothing
    }

    private func byte(_ position: Int) -> UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    private func isEndOfPiece(_ position: Int) -> Bool {
        position >= bytes.count || !bytes[position].isDecimalDigit && !bytes[position].isLetter
    }

    private func endOfPiece(_ start: Int) -> Int {
        bytes.dropFirst(start).firstIndex { !$0.isDecimalDigit && !$0.isLetter } ?? bytes.count
    }

    private func string(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var isV: Bool { self | 0x20 == UInt8(ascii: "v") }
}
