import DFUTransport

/// Devices as lines for people: a table where there is room for it, else two lines or more for each.
struct ScanTable {
    private static let gap = "  "
    /// Services have at least this much room, or stand on lines of their own.
    private static let leastRoom = 9
    private static let titles = ["ADDRESS", "RSSI", "NAME", "HINT", "STATE"]

    /// The lines of these devices, none of which is wider than `width`, except where that is less than an address and its
    /// strength take. Nil: as wide as they are.
    static func lines(_ devices: [ScannedDevice], width: Int? = nil) -> [String] {
        guard !devices.isEmpty else { return [] }
        let width = width ?? .max
        let rows = devices.map(cells)
        // A column of nothing has no title either.
        let columns = titles.indices.filter { column in column < 3 || rows.contains { !$0[column].isEmpty } }
        func widths(nameLimit: Int) -> [Int] {
            columns.map { column in
                let cells = rows.map { $0[column].columns }
                let widest = max(cells.max() ?? 0, titles[column].columns)
                return column == 2 ? min(widest, nameLimit) : widest
            }
        }
        for limit in [.max, 30, 20, 14] {
            let widths = widths(nameLimit: limit)
            let used = widths.reduce(0, +) + widths.count * gap.count
            guard width - used >= leastRoom else { continue }
            return table(devices, rows, columns, widths, width: width)
        }
        return devices.flatMap { narrow($0, width: width) }
    }

    /// One device on one line, for a list that grows.
    static func line(_ device: ScannedDevice) -> String {
        (cells(device) + [services(device)]).filter { !$0.isEmpty }.joined(separator: gap)
    }

    private static func table(
        _ devices: [ScannedDevice], _ rows: [[String]], _ columns: [Int], _ widths: [Int], width: Int
    ) -> [String] {
        func line(_ cells: [String], _ last: String) -> [String] {
            let fixed = zip(columns, widths).map { column, width in
                let cell = column == 2 ? cells[column].shortened(to: width) : cells[column]
                return pad(cell, to: width, onTheLeft: column == 1) + gap
            }.joined()
            let text = (fixed + last).wrapped(to: width, indent: fixed.columns)
            return text.split(separator: "\n").map { String($0).trimmed }
        }
        let room = width - widths.reduce(0) { $0 + $1 + gap.columns }
        return line(titles, "SERVICES") + zip(devices, rows).flatMap { line($1, services($0, room: room)) }
    }

    private static func narrow(_ device: ScannedDevice, width: Int) -> [String] {
        let cells = cells(device)
        let start = cells[0] + gap + pad(cells[1], to: 4, onTheLeft: true) + gap
        let name = cells[2].shortened(to: max(width - start.columns, 1))
        let details = [cells[3], cells[4], services(device, room: width - 2)].filter { !$0.isEmpty }.joined(
            separator: "; ")
        guard !details.isEmpty else { return [start + name] }
        return [start + name] + ("  " + details).wrapped(to: width, indent: 2).split(separator: "\n").map(String.init)
    }

    private static func cells(_ device: ScannedDevice) -> [String] {
        [
            device.address, device.rssi.map { "\($0)" } ?? "-", device.name?.printable ?? "(no name)",
            device.protocols.map(\.rawValue).joined(separator: " "), device.state,
        ]
    }

    /// The services' names, or where there is no room for them on one line, their UUIDs.
    private static func services(_ device: ScannedDevice, room: Int = .max) -> String {
        let names = device.services.map { $0.name ?? $0.short }.joined(separator: ", ")
        guard names.columns > room else { return names }
        return device.services.map(\.short).map { $0.count > 8 ? $0.prefix(8) + "…" : $0 }.joined(separator: ", ")
    }

    private static func pad(_ text: String, to width: Int, onTheLeft: Bool) -> String {
        let space = String(repeating: " ", count: max(0, width - text.columns))
        return onTheLeft ? space + text : text + space
    }
}

extension String {
    fileprivate var trimmed: String { String(prefix(count - reversed().prefix { $0 == " " }.count)) }

    /// The text in at most `limit` columns; the end gives way.
    fileprivate func shortened(to limit: Int) -> String {
        guard columns > limit else { return self }
        var kept = ""
        var used = 1
        for character in self {
            used += character.columns
            guard used <= limit else { break }
            kept.append(character)
        }
        return kept.trimmed + "…"
    }
}
