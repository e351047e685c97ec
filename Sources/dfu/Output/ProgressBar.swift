/// One line of a terminal that shows how far an update is.
enum ProgressBar {
    /// What the line tells.
    struct State: Sendable, Equatable {
        var name: String
        var phase: String
        var bytes = 0
        /// 0 while it is not known.
        var total = 0
        var bytesPerSecond: Double?
        var secondsLeft: Double?
    }

    /// The parts that give way, in this order, when the line is too long.
    private enum Detail: CaseIterable {
        case bytes, rate, bar, timeLeft, phase
    }

    private static let shortestBar = 10
    private static let longestBar = 30

    /// The line, in less than `width` columns so that no terminal wraps it.
    static func draw(_ state: State, width: Int, color: Bool) -> String {
        var details = Set(Detail.allCases)
        for detail in Detail.allCases {
            if line(state, details, bar: shortestBar).columns < width { break }
            details.remove(detail)
        }
        let room = width - 1 - line(state, details, bar: 0).columns
        guard room >= 0 else {
            let name = state.name.printable.columns + room
            var state = state
            state.name = state.name.printable.clipped(to: max(0, name))
            return String(line(state, details, bar: 0).prefix(max(0, width - 1)))
        }
        return line(state, details, bar: min(room, longestBar), color: color)
    }

    private static func line(_ state: State, _ details: Set<Detail>, bar length: Int, color: Bool = false) -> String {
        let isTransferring = state.total > 0
        var parts = [state.name.printable]
        if details.contains(.phase) {
            parts.append(state.phase)
        }
        if isTransferring, details.contains(.bar) {
            parts.append(bar(state, length, color: color))
        }
        if isTransferring {
            parts.append(padded("\(percent(state)) %", 5))
        }
        if isTransferring, details.contains(.bytes) {
            parts.append(padded(Quantities.bytes(Double(state.bytes)), 9))
        }
        if details.contains(.rate), let rate = state.bytesPerSecond {
            parts.append(padded("\(Quantities.bytes(rate))/s", 10))
        }
        if details.contains(.timeLeft), let left = state.secondsLeft {
            parts.append(padded("\(Quantities.clock(left)) left", 9))
        }
        return parts.filter { !$0.isEmpty }.joined(separator: " ")
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

    private static func padded(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
