import DFUKit
import DFUProtocol
import DFUTransport
import FoundationEssentials
import Testing

@testable import dfu

@Suite struct DeviceReporterTests {
    private let device = JSONLine.Device(device: "sim:band", id: "sim:band?battery=50", address: nil)

    /// What a reporter writes on stdout and stderr while `body` tells it things; the closure gets its clock too.
    private func lines(
        _ style: DeviceReporter.Style, _ body: (DeviceReporter, Locked<Duration>) -> Void
    ) async -> (output: [String], errors: [String]) {
        let output = TemporaryFile()
        let errors = TemporaryFile()
        let console = Console(output: output.descriptor, errors: errors.descriptor)
        let clock = Locked(Duration.zero)
        body(DeviceReporter(device: device, console: console, style: style) { clock.withLock(\.self) }, clock)
        #expect(await console.flush() == nil)
        return (output.lines(), errors.lines())
    }

    /// An update of 10 000 bytes in 1 000 steps.
    private func transfer(_ reporter: DeviceReporter, step: Duration, _ clock: Locked<Duration>) {
        reporter.progress(UpdateProgress(phase: .connect))
        for bytes in stride(from: 0, through: 9990, by: 10) {
            reporter.progress(UpdateProgress(phase: .transfer, bytes: bytes, total: 10_000))
            clock.withLock { $0 += step }
        }
        reporter.progress(UpdateProgress(phase: .verify, bytes: 9990, total: 10_000))
        reporter.progress(UpdateProgress(phase: .verify, bytes: 10_000, total: 10_000))
    }

    private struct Event: Decodable {
        var event: String
        var device: String?
        var id: String?
        var phase: String?
        var fraction: Double?
    }

    @Test("CLI-05 at most ten progress events a second, rising, and 1 once", arguments: [1, 7, 100, 3000])
    func json(_ stepMilliseconds: Int) async throws {
        let step = Duration.milliseconds(stepMilliseconds)
        let (output, errors) = await lines(DeviceReporter.Style(json: true, progress: .none)) {
            transfer($0, step: step, $1)
        }
        #expect(errors.isEmpty)
        let events = try output.map { try JSONDecoder().decode(Event.self, from: Data($0.utf8)) }
        #expect(events.allSatisfy { $0.device == "sim:band" && $0.id == "sim:band?battery=50" })
        #expect(events.compactMap { $0.event == "phase" ? $0.phase : nil } == ["connect", "transfer", "verify"])
        let fractions = events.filter { $0.event == "progress" }.compactMap(\.fraction)
        #expect(zip(fractions, fractions.dropFirst()).allSatisfy { $0 < $1 })
        #expect(fractions.filter { $0 == 1 }.count == 1)
        let seconds = (step * 1000) / .seconds(1)
        #expect(Double(fractions.count) <= seconds * 10 + 2)
        #expect(fractions.count >= min(999, Int(seconds * 5)))
    }

    @Test func plainLinesAreOneAPhaseAndOneATenth() async {
        let (output, errors) = await lines(DeviceReporter.Style(progress: .plain)) {
            transfer($0, step: .milliseconds(1), $1)
        }
        #expect(output.isEmpty)
        #expect(
            errors == [
                "sim:band: connect", "sim:band: transfer", "sim:band: 10 %, 1.0 kB of 10.0 kB",
                "sim:band: 20 %, 2.0 kB of 10.0 kB", "sim:band: 30 %, 3.0 kB of 10.0 kB",
                "sim:band: 40 %, 4.0 kB of 10.0 kB", "sim:band: 50 %, 5.0 kB of 10.0 kB",
                "sim:band: 60 %, 6.0 kB of 10.0 kB", "sim:band: 70 %, 7.0 kB of 10.0 kB",
                "sim:band: 80 %, 8.0 kB of 10.0 kB", "sim:band: 90 %, 9.0 kB of 10.0 kB", "sim:band: verify",
                "sim:band: 100 %, 10.0 kB of 10.0 kB",
            ])
    }

    @Test func aBarIsDrawnOverItselfAndTakenAway() async {
        let (output, errors) = await lines(DeviceReporter.Style(progress: .bar)) { reporter, _ in
            reporter.progress(UpdateProgress(phase: .transfer, bytes: 5, total: 10))
            reporter.warning(reason: "batteryLow", "its battery is low")
            reporter.end(JSONLine.Result(status: .ok, message: "done"))
        }
        #expect(output == ["sim:band: done"])
        let text = errors.joined(separator: "\n")
        #expect(text.hasPrefix("\u{1B}[?25l"))
        #expect(text.contains("\r\u{1B}[Jdfu: sim:band: warning: its battery is low\n"))
        #expect(text.hasSuffix("\r\u{1B}[J\u{1B}[?25h"))
    }

    @Test("BAT-08 a failure names the device and the phase, and prints no result")
    func failure() async {
        let (output, errors) = await lines(DeviceReporter.Style(progress: .none)) { reporter, _ in
            var result = JSONLine.Result(status: .refused, message: "its battery is low; charge it")
            result.phase = .check
            reporter.end(result)
        }
        #expect(output.isEmpty)
        #expect(errors == ["dfu: sim:band: check: its battery is low; charge it"])
    }

    @Test(arguments: 0...2)
    func logsAreShownByVerbosity(_ verbosity: Int) async {
        let (_, errors) = await lines(DeviceReporter.Style(progress: .none, verbosity: verbosity)) { reporter, _ in
            reporter.log("battery at 80 %")
            reporter.packet(.written([0x1B, 0x99, 0x01, 0x4B], to: .command))
        }
        let lines = ["sim:band: battery at 80 %", "sim:band: -> command 1b99014b"]
        #expect(errors == Array(lines.prefix(verbosity)))
    }
}
