import Testing

@testable import dfu

@Suite struct ProgressBarTests {
    private let state = ProgressBar.State(
        name: "C0:11:22:33:44:50", phase: "transfer", bytes: 524_288, total: 1_048_576, bytesPerSecond: 12_345,
        secondsLeft: 42.4)

    private func draw(
        width: Int = 80, color: Bool = false, _ change: (inout ProgressBar.State) -> Void = { _ in }
    ) -> String {
        var state = state
        change(&state)
        return ProgressBar.draw([state], width: width, color: color)[0]
    }

    @Test func detailGivesWayInAFixedOrder() {
        let lines = [
            120: "C0:11:22:33:44:50 transfer [###############---------------]  50 %  524.3 kB  12.3 kB/s 0:43 left",
            80: "C0:11:22:33:44:50 transfer [######-------]  50 %  524.3 kB  12.3 kB/s 0:43 left",
            76: "C0:11:22:33:44:50 transfer [#########----------]  50 %  12.3 kB/s 0:43 left",
            60: "C0:11:22:33:44:50 transfer [#######-------]  50 % 0:43 left",
            50: "C0:11:22:33:44:50 transfer  50 % 0:43 left",
            40: "C0:11:22:33:44:50 transfer  50 %",
            30: "C0:11:22:33:44:50  50 %",
            20: "…:22:33:44:50  50 %",
            10: "…50  50 %",
        ]
        for (width, line) in lines {
            #expect(draw(width: width) == line, "\(width)")
        }
    }

    /// A line as wide as the terminal would make some of them wrap.
    @Test func isNarrowerThanAnyTerminal() {
        let names = ["sim:band", "C0:11:22:33:44:50", "手环手环手环手环手环手环手环", "⌚️⌚️⌚️⌚️⌚️⌚️⌚️⌚️⌚️⌚️⌚️", "é\u{301}"]
        let phases = ["transfer", "enter-bootloader 2/3"]
        for width in [1, 2, 3, 5, 8, 10, 15, 20, 21, 30, 39, 40, 41, 50, 59, 60, 61, 70, 79, 80, 81, 100, 132, 200] {
            for name in names {
                for phase in phases {
                    for (bytes, total) in [(0, 0), (999_999_999, 1_000_000_000)] {
                        for rate in [nil, 99_999_999.0] {
                            let state = ProgressBar.State(
                                name: name, phase: phase, bytes: bytes, total: total, bytesPerSecond: rate,
                                secondsLeft: rate.map { _ in 359_999 })
                            for line in ProgressBar.draw([state, self.state], width: width, color: false)
                            where line.columns >= width {
                                Issue.record("\(width): \(line)")
                            }
                        }
                    }
                }
            }
        }
    }

    @Test func whatIsNotKnownIsNotShown() {
        let line = draw {
            $0.total = 0
            $0.bytesPerSecond = nil
            $0.secondsLeft = nil
        }
        #expect(line == "C0:11:22:33:44:50 transfer")
    }

    @Test(arguments: [(0, 0), (1, 0), (9_999, 0), (10_000, 1), (999_999, 99), (1_000_000, 100)])
    func percentsAreRoundedDown(_ bytes: Int, _ percent: Int) {
        let state = ProgressBar.State(name: "", phase: "", bytes: bytes, total: 1_000_000)
        #expect(ProgressBar.percent(state) == percent)
    }

    @Test("CLI-05 the bar is full only when all is acknowledged")
    func fullBar() {
        let almost = draw { $0.bytes = $0.total - 1 }
        #expect(almost == "C0:11:22:33:44:50 transfer [############-]  99 %   1.05 MB  12.3 kB/s 0:43 left")
        let all = draw { $0.bytes = $0.total }
        #expect(all == "C0:11:22:33:44:50 transfer [#############] 100 %   1.05 MB  12.3 kB/s 0:43 left")
    }

    @Test func colorTakesNoColumns() {
        let plain = draw(width: 80)
        let colored = draw(width: 80, color: true)
        #expect(colored.contains("[\u{1B}[32m######\u{1B}[0m-------]"))
        #expect(colored.replacing("\u{1B}[32m", with: "").replacing("\u{1B}[0m", with: "") == plain)
    }

    @Test func namesCannotDoAnythingToTheTerminal() {
        let line = draw(width: 120) { $0.name = "a\u{1B}[2Jb\nc\r\u{202E}d" }
        #expect(line.hasPrefix("a\\u{1b}[2Jb\\u{a}c\\u{d}\\u{202e}d transfer"))
    }

    // MARK: Several lines

    private let several = [
        ProgressBar.State(
            name: "sim:band/a", phase: "transfer", bytes: 600, total: 1000, bytesPerSecond: 100, secondsLeft: 4),
        ProgressBar.State(name: "sim:band/long", phase: "reconnect", bytes: 1000, total: 1000),
        ProgressBar.State(name: "手环", phase: "connect"),
    ]

    @Test func whatIsOfOneKindStandsInOneColumn() {
        #expect(
            ProgressBar.draw(several, width: 80, color: false) == [
                "sim:band/a    transfer  [#########-------]  60 %     600 B    100 B/s 0:04 left",
                "sim:band/long reconnect [################] 100 %    1.0 kB",
                "手环          connect",
            ])
        #expect(
            ProgressBar.draw(several, width: 40, color: false) == [
                "sim:band/a    transfer   60 % 0:04 left",
                "sim:band/long reconnect 100 %",
                "手环          connect",
            ])
        #expect(
            ProgressBar.draw(several, width: 16, color: false) == [
                "…m:band/a  60 %", "…and/long 100 %", "手环",
            ])
    }

    @Test func linesThatDoNotFitAreCounted() {
        let states = (1...30).map { ProgressBar.State(name: "sim:band/\($0)", phase: "connect") }
        #expect(
            ProgressBar.draw(states, width: 40, height: 4, color: false) == [
                "sim:band/1 connect", "sim:band/2 connect", "sim:band/3 connect", "and 27 more",
            ])
        #expect(ProgressBar.draw(states, width: 40, height: 30, color: false).last == "sim:band/30 connect")
        #expect(ProgressBar.draw(states, width: 40, height: 1, color: false) == ["and 30 more"])
        #expect(ProgressBar.draw([], width: 40, height: 1, color: false) == [])
    }
}
