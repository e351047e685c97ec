/// A file of command lines, each with what it prints and ends with.
///
/// ```
/// # Whoever reads this file should know.
/// $ dfu --version
/// 1> dfu 0.1.0
/// [0]
/// ```
struct Transcript {
    /// One command line.
    struct Entry: Equatable, CustomStringConvertible {
        /// The lines above it that say something of it.
        var comment: [String]
        var line: String
        var outcome: [String]

        var description: String { (comment + ["$ " + line] + outcome).joined(separator: "\n") }
    }

    var entries: [Entry] = []

    init(_ text: String) {
        var comment: [String] = []
        for line in text.split(separator: "\n").map(String.init) {
            if line.hasPrefix("$ ") {
                entries.append(Entry(comment: comment, line: String(line.dropFirst(2)), outcome: []))
                comment = []
            } else if line.hasPrefix("#") {
                comment.append(line)
            } else if !entries.isEmpty {
                entries[entries.count - 1].outcome.append(line)
            }
        }
    }

    var text: String { entries.map { $0.description + "\n" }.joined(separator: "\n") }
}

extension Transcript.Entry {
    /// The words behind `dfu`, with single quotes as a shell has them.
    var arguments: [String] {
        var words: [String] = []
        var word: String?
        var isQuoted = false
        for character in line {
            switch character {
            case "'":
                isQuoted.toggle()
                word = word ?? ""
            case " " where !isQuoted:
                if let word { words.append(word) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        if let word { words.append(word) }
        precondition(words.first == "dfu" && !isQuoted, "not a line of dfu: \(line)")
        return Array(words.dropFirst())
    }

    /// The same entry with what the built program does with it now, in `folder`.
    func played(in folder: String? = nil) -> Self {
        let outcome = BuiltProgram(arguments: arguments, folder: folder).run()
        var entry = self
        entry.outcome = lines(outcome.output, "1>") + lines(outcome.errors, "2>") + ["[\(outcome.status)]"]
        return entry
    }

    private func lines(_ text: String, _ mark: String) -> [String] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.last == "" { lines.removeLast() }
        return lines.map { $0.isEmpty ? mark : "\(mark) \($0)" }
    }
}
