import DFUTransport

/// Tells what a scan hears while it goes on.
///
/// Its methods may be called from any thread, one at a time.
final class ScanTeller: Sendable {
    /// How it is told.
    enum Style: Sendable {
        /// The list is redrawn in place, on the terminal that stdout is.
        case redrawn
        /// A line for each change.
        case lines
        /// The same for programs.
        case json
        /// Nothing is told before the end.
        case atEnd
    }

    private struct State {
        /// The lines that stand on the terminal.
        var drawn: [String] = []
        /// What each device was told as, by its address.
        var told: [String: ScannedDevice] = [:]
    }

    private let style: Style
    private let console: Console
    private let state = Locked(State())

    init(_ style: Style, _ console: Console) {
        self.style = style
        self.console = console
    }

    /// Tells what is heard now; `title` stands above a list that is redrawn.
    func tell(_ devices: [ScannedDevice], title: String) {
        switch style {
        case .redrawn:
            let size = Terminal.outputSize
            var lines = [title.clipped(to: size.columns)] + ScanTable.lines(devices, width: size.columns)
            if lines.count > size.rows - 1 {
                lines = lines.prefix(max(size.rows - 2, 1)) + ["…"]
            }
            draw(lines, width: size.columns)
        case .lines, .json: tellChanges(devices)
        case .atEnd: break
        }
    }

    /// Tells what was heard in the end.
    func end(_ devices: [ScannedDevice]) {
        switch style {
        case .redrawn:
            draw(ScanTable.lines(devices, width: Terminal.outputSize.columns), width: Terminal.outputSize.columns)
        case .lines, .json: tellChanges(devices)
        case .atEnd:
            let width = Terminal.isOutputTerminal ? Terminal.outputSize.columns : nil
            let lines = ScanTable.lines(devices, width: width)
            if !lines.isEmpty { console.result(lines.joined(separator: "\n")) }
        }
    }

    /// Puts these lines where the last ones stand, which the terminal may have broken anew since.
    private func draw(_ lines: [String], width: Int) {
        let before = state.withLock { state in
            defer { state.drawn = lines }
            return state.drawn
        }
        guard lines != before else { return }
        let rows = before.reduce(0) { $0 + max(1, ($1.columns + width - 1) / width) }
        let up = rows > 0 ? "\u{1B}[\(rows)A\r\u{1B}[J" : ""
        guard !lines.isEmpty || rows > 0 else { return }
        console.output(up + lines.map { $0 + "\n" }.joined())
    }

    private func tellChanges(_ devices: [ScannedDevice]) {
        let before = state.withLock(\.told)
        var now: [String: ScannedDevice] = [:]
        for device in devices {
            now[device.address] = before[device.address] ?? device
            if let earlier = before[device.address] {
                guard device.differsNotably(from: earlier) else { continue }
                now[device.address] = device
                tell("changed", device)
            } else {
                tell("appeared", device)
            }
        }
        for (address, device) in before.sorted(by: { $0.key < $1.key }) where now[address] == nil {
            tell("gone", device)
        }
        state.withLock { $0.told = now }
    }

    private func tell(_ change: String, _ device: ScannedDevice) {
        let isGone = change == "gone"
        if style == .json {
            let line = JSONLine(
                isGone ? .gone : .scanned(device),
                device: .init(device: device.address, id: device.address, address: device.address))
            console.result(line.text)
        } else {
            let name = [device.address, device.name?.printable].compactMap(\.self).joined(separator: "  ")
            console.result("\(JSONLine.now) \(change)  \(isGone ? name : ScanTable.line(device))")
        }
    }
}
