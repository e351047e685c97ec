/// Text in sections, of labels with their values beside them, and of tables.
struct LabelledText {
    /// Columns that a line may have.
    let width: Int
    private(set) var lines: [String] = []

    private let margin = 2
    /// Where values begin: a SHA-256 then ends one column before the eightieth.
    private let valueColumn = 15

    init(width: Int) {
        self.width = width
    }

    /// The text, without a line break at its end.
    var text: String { lines.joined(separator: "\n") }

    /// A line at the left edge, apart from what is above it.
    mutating func heading(_ text: String) {
        if !lines.isEmpty { lines.append("") }
        append(text, indent: 0)
    }

    /// A label and its value.
    mutating func row(_ label: String, _ value: String) {
        row(label, [value])
    }

    /// A label and the lines of its value; nothing where there are none.
    mutating func row(_ label: String, _ values: [String]) {
        for (index, value) in values.enumerated() {
            let label = String(repeating: " ", count: margin) + (index == 0 ? label : "")
            append(label.padded(to: valueColumn) + value, indent: valueColumn)
        }
    }

    /// An item of a list.
    mutating func item(_ text: String) {
        append("  - " + text, indent: 4)
    }

    /// Rows whose cells stand under each other, numbers to the right. The last cell of a row may be long; where the
    /// others leave it no room, it stands under them.
    ///
    /// - Parameter limit: How many rows are shown; of more, a line says how many there are.
    mutating func table(_ rows: [[Cell]], limit: Int) {
        guard let first = rows.first else { return }
        let shown = rows.prefix(limit)
        let widths = first.indices.dropLast().map { column in
            shown.reduce(0) { max($0, $1[column].text.printable.columns) }
        }
        for row in shown {
            var line = "    "
            for (cell, width) in zip(row, widths) {
                line += cell.text.printable.padded(to: width, onTheLeft: cell.isNumber) + "  "
            }
            let last = row.last?.text ?? ""
            let room = width - line.columns
            if last.columns <= room || room >= 34 {
                append(line + last, indent: line.columns)
            } else {
                append(line, indent: 0)
                append(String(repeating: " ", count: 8) + last, indent: 8)
            }
        }
        if rows.count > limit {
            lines.append("    … and \(rows.count - limit) more, which -v shows")
        }
    }

    /// What stands in a table.
    struct Cell: ExpressibleByStringInterpolation {
        var text: String
        var isNumber = false

        init(stringLiteral text: String) {
            self.text = text
        }

        init(_ text: String) {
            self.text = text
        }

        /// A number, which stands at the right of its column.
        static func number(_ number: some BinaryInteger, _ unit: String = "") -> Cell {
            var cell = Cell("\(number)" + unit)
            cell.isNumber = true
            return cell
        }
    }

    /// What comes from the file is never more than text, and hexadecimal digits are broken where a line ends.
    private mutating func append(_ text: String, indent: Int) {
        let room = max(width - indent, 16)
        let words = text.printable.split(separator: " ", omittingEmptySubsequences: false).map { word in
            word.count > room && word.utf8.allSatisfy(\.isHexadecimalDigit)
                ? word.chunks(of: room / 16 * 16).joined(separator: " ") : String(word)
        }
        let lines = words.joined(separator: " ").wrapped(to: width, indent: indent)
        self.lines.append(lines.trimmingEnd)
    }
}

extension String {
    fileprivate var trimmingEnd: String {
        String(prefix(count - reversed().prefix { $0 == " " }.count))
    }

    /// With spaces behind it, or before it, up to this many columns.
    fileprivate func padded(to width: Int, onTheLeft: Bool = false) -> String {
        let space = String(repeating: " ", count: max(0, width - columns))
        return onTheLeft ? space + self : self + space
    }
}

extension Substring {
    fileprivate func chunks(of length: Int) -> [Substring] {
        var chunks: [Substring] = []
        var rest = self
        while !rest.isEmpty {
            chunks.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return chunks
    }
}

extension UInt8 {
    fileprivate var isHexadecimalDigit: Bool {
        isDecimalDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20)
    }
}
