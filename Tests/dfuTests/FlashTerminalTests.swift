import Glibc
import TestSupport
import Testing

/// Updates that somebody watches on a terminal.
@Suite(.blocking) struct FlashTerminalTests {
    private let bench: FlashBench

    init() throws {
        bench = try FlashBench(20_480)
    }

    private func terminal(
        _ count: Int, columns: Int = 80, rows: Int = 24, environment: [String] = [], _ options: String...
    ) -> PseudoTerminal {
        var program = bench.program(
            on: (1...count).map { "sim:band/\($0)" }, ["--jobs", "\(count)", "--gap", "0"] + options)
        program.environment += environment
        return PseudoTerminal(program, columns: columns, rows: rows)
    }

    /// Updates two devices that fall silent, and waits for them for an hour: what it draws does not end by itself.
    private func silentProgram() throws -> BuiltProgram {
        let faults = try bench.write(#"[{"fault":"silence","frame":3}]"#, to: "faults.json")
        let profile = try bench.write(#"{"schema":1,"name":"slow","limits":{"abort":3600}}"#, to: "profile.json")
        let devices = ["sim:band/a?faults=\(faults)", "sim:band/b?faults=\(faults)"]
        return bench.program(on: devices, ["--jobs", "2", "--profile", profile])
    }

    @Test("A line for each device while it is under way; at last only results are left", arguments: [1, 3, 30])
    func lines(_ count: Int) {
        let terminal = terminal(count)
        let wasDrawn = terminal.wait(for: " transfer ")
        #expect(wasDrawn)
        #expect(!terminal.screen.isCursorVisible)
        #expect(terminal.end() == 0)
        let screen = terminal.screen
        let results = (1...count).map { "sim:band/\($0): updated: it runs 1.1.0 (before: 1.0.0)" }
        let shown = screen.history + screen.rows
        #expect(shown.prefix(count).sorted() == results.sorted())
        #expect(shown.dropFirst(count) == (count > 1 ? ["\(count) of \(count) devices updated"] : []))
        #expect(screen.isCursorVisible)
        #expect(screen.column == 0)
        #expect(screen.row == screen.rows.count)
    }

    @Test("More lines than rows: those that fit, and how many more")
    func smallTerminal() {
        let terminal = terminal(30, columns: 40, rows: 10)
        let wasCounted = terminal.wait(for: "and 22 more\u{1B}[J\u{1B}[8A\r")
        #expect(wasCounted)
        let rows = terminal.screen.rows
        #expect(rows.count == 9)
        #expect(rows.last == "and 22 more")
        for (row, number) in zip(rows, 1...8) { #expect(row.hasPrefix("sim:band/\(number) ")) }
        #expect(terminal.screen.history == [])
        #expect(terminal.end() == 0)
        let shown = terminal.screen.history + terminal.screen.rows
        #expect(shown.count == 61, "30 results of two rows, and the last line")
        #expect(!shown.contains { $0.contains("%") || $0.contains("more") })
    }

    @Test("Ctrl-Z leaves a clean screen, and the lines come back when the program goes on")
    func stop() throws {
        let terminal = PseudoTerminal(try silentProgram(), columns: 80, rows: 24)
        let wasDrawn = terminal.wait(for: " transfer ")
        #expect(wasDrawn)
        terminal.signal(SIGTSTP)
        let isGivenBack = terminal.wait(for: "\r\u{1B}[J\u{1B}[?25h")
        #expect(isGivenBack)
        #expect(terminal.waitForStop())
        #expect(terminal.screen.rows == [])
        terminal.signal(SIGCONT)
        let isBack = terminal.wait(for: "\u{1B}[?25l")
        #expect(isBack)
        for _ in 1...2 {
            let isLineBack = terminal.wait(for: " transfer ")
            #expect(isLineBack)
        }
        #expect(terminal.screen.rows.count == 2)
        terminal.signal(SIGINT)
        terminal.signal(SIGTERM)
        #expect(terminal.end() == 130)
        #expect(terminal.screen.isCursorVisible)
    }

    @Test("CLI-03 a program that leaves at once takes its lines along, and gives the cursor back")
    func leave() throws {
        let terminal = PseudoTerminal(try silentProgram(), columns: 80, rows: 24)
        let wasDrawn = terminal.wait(for: " transfer ")
        #expect(wasDrawn)
        terminal.signal(SIGINT)
        terminal.signal(SIGTERM)
        #expect(terminal.end() == 130)
        #expect(terminal.screen.history == [])
        #expect(terminal.screen.rows == ["dfu: stopped at once; the device may not have been told"])
        #expect(terminal.screen.isCursorVisible)
    }

    @Test("NO_COLOR is respected", arguments: [("NO_COLOR=", true), ("NO_COLOR=1", false)])
    func color(_ variable: String, _ hasColor: Bool) {
        let terminal = terminal(2, environment: [variable])
        #expect(terminal.end() == 0)
        #expect(terminal.text.contains("\u{1B}[32m") == hasColor)
    }
}
