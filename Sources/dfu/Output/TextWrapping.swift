extension String {
    /// The paragraph broken at spaces into lines of at most `width` columns; the second and later lines begin with
    /// `indent` spaces. A word that is longer than a line stays whole.
    func wrapped(to width: Int, indent: Int = 0) -> String {
        var lines: [String] = []
        let start = prefix { $0 == " " }
        var line = String(start)
        var isFresh = true
        for word in dropFirst(start.count).wordsWithGaps {
            if !isFresh, line.columns + String(word).columns > width {
                lines.append(line)
                line = String(repeating: " ", count: indent) + word.drop { $0 == " " }
            } else {
                line += word
            }
            isFresh = false
        }
        return (lines + [line]).joined(separator: "\n")
    }
}

extension Substring {
    /// The words, each with the spaces before it, so that the gap of a table's row stays as it is.
    fileprivate var wordsWithGaps: [Substring] {
        var words: [Substring] = []
        var rest = self
        while !rest.isEmpty {
            let gap = rest.prefix { $0 == " " }
            let word = rest.dropFirst(gap.count).prefix { $0 != " " }
            words.append(rest[gap.startIndex..<word.endIndex])
            rest = rest[word.endIndex...]
        }
        return words
    }
}
