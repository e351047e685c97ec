/// What a terminal shows after all that was written to it, as far as the command uses one.
struct TerminalScreen {
    let columns: Int
    /// What scrolled out at the top.
    private(set) var history: [String] = []
    private(set) var row = 0
    private(set) var column = 0
    private(set) var isCursorVisible = true
    private var cells: [[Character]]

    init(columns: Int, rows: Int) {
        self.columns = columns
        cells = Array(repeating: [], count: rows)
    }

    /// The rows, without the spaces at their ends and without the empty ones at the bottom.
    var rows: [String] {
        let rows = cells.map(Self.text)
        return Array(rows[...(rows.lastIndex { !$0.isEmpty } ?? -1)])
    }

    /// Takes in a text; what is no sequence that the command may use is a fault.
    mutating func write(_ text: String) {
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\r": column = 0
            case "\n": lineFeed()
            case "\u{1B}":
                guard rest.popFirst() == "[", let end = rest.firstIndex(where: { ("@"..."~").contains($0) }) else {
                    preconditionFailure("a sequence that is cut off or unknown")
                }
                obey(rest[end], String(String.UnicodeScalarView(rest[..<end])))
                rest = rest[rest.index(after: end)...]
            default: put(Character(scalar))
            }
        }
    }

    private mutating func put(_ character: Character) {
        if column == columns {
            column = 0
            lineFeed()
        }
        let missing = column - cells[row].count
        if missing > 0 { cells[row] += Array(repeating: " ", count: missing) }
        cells[row].replaceSubrange(column..<min(column + 1, cells[row].count), with: [character])
        column += 1
    }

    private mutating func lineFeed() {
        if row + 1 < cells.count {
            row += 1
        } else {
            history.append(Self.text(cells.removeFirst()))
            cells.append([])
        }
    }

    private mutating func obey(_ command: Unicode.Scalar, _ parameter: String) {
        switch (command, parameter) {
        case ("A", _): row = max(0, row - (Int(parameter) ?? 1))
        case ("K", ""): cells[row].removeSubrange(min(column, cells[row].count)...)
        case ("J", ""):
            cells[row].removeSubrange(min(column, cells[row].count)...)
            for row in cells.indices.dropFirst(row + 1) { cells[row] = [] }
        case ("h", "?25"): isCursorVisible = true
        case ("l", "?25"): isCursorVisible = false
        case ("m", _): break
        default: preconditionFailure("the sequence \(parameter)\(command)")
        }
    }

    private static func text(_ cells: [Character]) -> String {
        let end = cells.lastIndex { $0 != " " } ?? -1
        return String(cells[...end])
    }
}
