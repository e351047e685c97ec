/// Lines of a terminal that show how far updates are.
enum ProgressBar {
    /// What one line tells.
    struct State: Sendable, Equatable {
        var name: String
        var phase: String
        var bytes = 0
        /// 0 while it is not known.
        var total = 0
        var bytesPerSecond: Double?
        var secondsLeft: Double?
    }

    /// The parts that give way, in this order, when a line is too long.
    private enum Detail: CaseIterable {
        case bytes, rate, bar, timeLeft, phase
    }

    /// How the lines of one drawing are divided, so that what is of one kind stands in one column.
    private struct Layout {
        var name: Int
        var phase: Int
        var bar: Int
        var details = Set(Detail.allCases)

        init(_ states: [State]) {
            name = states.map(\.name.printable.columns).max() ?? 0
            phase = states.map(\.phase.columns).max() ?? 0
            bar = shortestBar
        }
    }

    private static let shortestBar = 10
    private static let longestBar = 30

    /// A line for each, in less than `width` columns so that no terminal wraps it, and no more lines than `height`.
    static func draw(_ states: [State], width: Int, height: Int = .max, color: Bool) -> [String] {
        guard states.count <= height else {
            let rest = "and \(states.count - height + 1) more"
            return draw(Array(states.prefix(height - 1)), width: width, color: color)
                + [String(rest.prefix(max(0, width - 1)))]
        }
        var layout = Layout(states)
        func longest() -> Int { states.map { line($0, layout).columns }.max() ?? 0 }
        for detail in Detail.allCases {
            if longest() < width { break }
            layout.details.remove(detail)
        }
        layout.bar = 0
        let room = width - 1 - longest()
        guard room >= 0 else {
            layout.name = max(0, layout.name + room)
            return states.map { String(line($0, layout).prefix(max(0, width - 1))) }
        }
        layout.bar = min(room, longestBar)
        return states.map { line($0, layout, color: color) }
    }

    private static func line(_ state: State, _ layout: Layout, color: Bool = false) -> String {
        let details = layout.details
        let isTransferring = state.total > 0
        var parts = [state.name.printable.clipped(to: layout.name).padded(to: layout.name)]
        if details.contains(.phase) {
            parts.append(state.phase.padded(to: layout.phase))
        }
        if isTransferring, details.contains(.bar) {
            parts.append(bar(state, layout.bar, color: color))
        }
        if isTransferring {
            parts.append(aligned("\(percent(state)) %", 5))
        }
        if isTransferring, details.contains(.bytes) {
            parts.append(aligned(Quantities.bytes(Double(state.bytes)), 9))
        }
        if details.contains(.rate), let rate = state.bytesPerSecond {
            parts.append(aligned("\(Quantities.bytes(rate))/s", 10))
        }
        if details.contains(.timeLeft), let left = state.secondsLeft {
            parts.append(aligned("\(Quantities.clock(left)) left", 9))
        }
        let line = parts.filter { !$0.isEmpty }.joined(separator: " ")
        return String(line.prefix(upTo: line.lastIndex { $0 != " " }.map(line.index(after:)) ?? line.startIndex))
    }

    /// Whole percents, rounded down: 100 means all.
    static func percent(_ state: State) -> Int {
        state.total > 0 ? state.bytes * 100 / state.total : 0
    }

    private static func bar(_ state: State, _ length: Int, color: Bool) -> String {
        let filled = state.bytes * length / state.total
        let done = String(repeating: "#", count: filled)
        let rest = String(repeating: "-", count: length - filled)
        return color ? "[\u{1B}[32m\(done)\u{1B}[0m\(rest)]" : "[\(done)\(rest)]"
    }

    private static func aligned(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
