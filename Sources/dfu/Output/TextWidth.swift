extension Character {
    /// The columns that it takes on a terminal: two for East Asian wide characters and emoji.
    ///
    /// The ranges are those of Unicode's EastAsianWidth.txt, class W and F, without the small gaps between them.
    var columns: Int {
        guard let scalar = unicodeScalars.first else { return 0 }
        if scalar.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}") { return 2 }
        return switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x17000...0x18CFF, 0x1B000...0x1B2FF,
            0x20000...0x3FFFD:
            2
        default: 1
        }
    }
}

extension String {
    /// The columns that it takes on a terminal.
    var columns: Int { reduce(0) { $0 + $1.columns } }

    /// The text with spaces behind it, in at least so many columns.
    func padded(to columns: Int) -> String {
        self + String(repeating: " ", count: max(0, columns - self.columns))
    }

    /// The text in at most `limit` columns: the beginning gives way, because labels and people know a device by the end
    /// of its address.
    func clipped(to limit: Int) -> String {
        guard columns > limit else { return self }
        guard limit > 0 else { return "" }
        var kept: [Character] = []
        var used = 1
        for character in reversed() {
            used += character.columns
            guard used <= limit else { break }
            kept.append(character)
        }
        return "…" + String(kept.reversed())
    }
}
