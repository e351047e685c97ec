import DFUTransport
import Testing

/// Several devices with one command.
@Suite struct FlashSeveralTests {
    private let bench: FlashBench
    private let broken: String

    init() throws {
        bench = try FlashBench()
        broken = "faults=" + (try bench.write(#"[{"fault":"status","frame":1,"op":"start","status":4}]"#, to: "f.json"))
    }

    private func line(_ device: String) -> String {
        "dfu: \(device): prepare: the image is too large for the device (status 04); "
            + "use one that is made for this device\n"
    }

    @Test func allUpdated() throws {
        let devices = [
            "sim:band/a?time=virtual&image=\(bench.path("a"))", "sim:band/b?time=virtual&image=\(bench.path("b"))",
        ]
        #expect(
            bench.flash(on: devices)
                == .updated(
                    "sim:band/a: updated: it runs 1.1.0 (before: 1.0.0)\n"
                        + "sim:band/b: updated: it runs 1.1.0 (before: 1.0.0)"))
        #expect(try bench.bytes("a") == bench.image)
        #expect(try bench.bytes("b") == bench.image)
    }

    @Test func oneFailed() throws {
        let devices = ["sim:band/a?time=virtual&\(broken)", "sim:band/b?time=virtual"]
        #expect(
            bench.flash(on: devices)
                == BuiltProgram.Outcome(
                    output: "sim:band/b: updated: it runs 1.1.0 (before: 1.0.0)\n", errors: line("sim:band/a"),
                    status: 80))
        let results = try bench.flash(on: devices, ["--json"]).events().results
        #expect(results.map { $0.text("device") } == ["sim:band/a", "sim:band/b", nil])
        #expect(results.map { $0.number("status") } == [76, 0, 80])
        let run = try #require(results.last)
        #expect(run["device"] == .null)
        #expect(run["ok"] == .boolean(false))
        #expect(run.text("name") == "partial")
        #expect(run.text("message") == "1 of 2 devices updated")
    }

    @Test func allFailed() throws {
        let devices = ["sim:band/a?time=virtual&\(broken)", "sim:band/b?time=virtual&\(broken)"]
        #expect(
            bench.flash(on: devices)
                == BuiltProgram.Outcome(output: "", errors: line("sim:band/a") + line("sim:band/b"), status: 80))
        let results = try bench.flash(on: devices, ["--json"]).events().results
        #expect(results.map { $0.number("status") } == [76, 76, 80])
    }

    @Test func theSameDeviceTwice() {
        #expect(
            bench.flash(on: ["sim:band/a?time=virtual", "sim:band/a"])
                == .failed(64, "dfu: the device sim:band/a is given twice; see 'dfu flash --help'"))
    }

    @Test("A file at fault stops all before the first, is told once, and each device has its result")
    func fileAtFault() throws {
        let outcome = bench.flash(
            sending: bench.path("nosuch.zip"), on: ["sim:band/a?time=virtual", "sim:band/b?time=virtual"], ["--json"])
        let message = "nosuch.zip cannot be read: No such file or directory"
        #expect(outcome.status == 66)
        #expect(outcome.errors == "dfu: \(message)\n")
        let events = try outcome.events()
        #expect(events.map(\.name) == ["start", "result", "result", "result"])
        #expect(events.results.map { $0.text("device") } == ["sim:band/a", "sim:band/b", nil])
        #expect(events.results.allSatisfy { $0.number("status") == 66 && $0.text("message") == message })
    }
}
