import DFUTransport
import Testing

/// Several devices with one command.
@Suite(.blocking) struct FlashSeveralTests {
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
                        + "sim:band/b: updated: it runs 1.1.0 (before: 1.0.0)\n2 of 2 devices updated"))
        #expect(try bench.bytes("a") == bench.image)
        #expect(try bench.bytes("b") == bench.image)
    }

    @Test func oneFailed() throws {
        let devices = ["sim:band/a?time=virtual&\(broken)", "sim:band/b?time=virtual"]
        #expect(
            bench.flash(on: devices)
                == BuiltProgram.Outcome(
                    output: """
                        sim:band/b: updated: it runs 1.1.0 (before: 1.0.0)
                        for the failed ones alone: --device 'sim:band/a?time=virtual&faults=f.json'
                        not updated:
                          sim:band/a  refused: imageTooLarge
                        1 of 2 devices updated

                        """, errors: line("sim:band/a"), status: 80))
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
                == BuiltProgram.Outcome(
                    output: """
                        not updated:
                          sim:band/a  refused: imageTooLarge
                          sim:band/b  refused: imageTooLarge
                        0 of 2 devices updated

                        """, errors: line("sim:band/a") + line("sim:band/b"), status: 80))
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

    @Test("BAT-08, BAT-09 what two of eight bands suffer, four at once, touches no other")
    func twoOfEightFailed() throws {
        let silent = "faults=" + (try bench.write(#"[{"fault":"silence","frame":9}]"#, to: "silent.json"))
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"]
        let faults = ["b": "&\(broken)", "g": "&\(silent)"]
        let devices = names.map { "sim:band/\($0)?time=virtual&image=\(bench.path($0))\(faults[$0] ?? "")" }
        let outcome = bench.flash(on: devices, ["--jobs", "4", "--json"])
        #expect(outcome.status == 80)
        for name in names {
            #expect(try bench.bytes(name) == (faults[name] == nil ? bench.image : []), "\(name)")
        }
        let events = try outcome.events()
        #expect(events.first?.name == "start")
        let results = events.results
        #expect(results.count == 9)
        for name in names {
            let own = results.filter { $0.text("device") == "sim:band/\(name)" }
            let status: Double = ["b": 76, "g": 75][name] ?? 0
            #expect(own.map { $0.number("status") } == [status], "\(name)")
            let fractions = events.filter { $0.text("device") == "sim:band/\(name)" }.fractions
            #expect(zip(fractions, fractions.dropFirst()).allSatisfy { $0 < $1 }, "\(name)")
            #expect(fractions.filter { $0 == 1 }.count == (faults[name] == nil ? 1 : 0), "\(name)")
        }
        #expect(results.last?["device"] == .null)
        #expect(results.last?.text("message") == "6 of 8 devices updated")
        let errors = outcome.errors.split(separator: "\n").map { $0.split(separator: ":")[2] }
        #expect(Set(errors) == ["band/b", "band/g"])
    }

    @Test("As many as --jobs says are under way at once, the first of the command line first")
    func sevenInTurns() throws {
        let devices = (1...7).map { "sim:band/\($0)" }
        let events = try bench.flash(on: devices, ["--jobs", "3", "--gap", "0", "--json"]).events()
        var underWay: Set<String> = []
        var begun: [String] = []
        var most = 0
        for event in events {
            guard let device = event.text("device") else { continue }
            if event.name == "result" {
                underWay.remove(device)
            } else if underWay.insert(device).inserted {
                begun.append(device)
            }
            most = max(most, underWay.count)
        }
        #expect(most == 3)
        #expect(underWay.isEmpty)
        #expect(Set(begun.prefix(3)) == Set(devices.prefix(3)))
        #expect(begun.count == 7)
    }

    @Test("The limit of the whole bounds those under way and those that wait for their turn")
    func limit() throws {
        let silent = "faults=" + (try bench.write(#"[{"fault":"silence","frame":3}]"#, to: "silent.json"))
        let outcome = bench.flash(
            on: ["sim:band/a?\(silent)", "sim:band/b?\(silent)", "sim:band/c"],
            ["--jobs", "2", "--timeout", "1", "--json"])
        #expect(outcome.status == 80)
        let results = try outcome.events().results
        #expect(results.map { $0.number("status") } == [75, 75, 75, 80])
        #expect(results.dropLast().allSatisfy { $0.text("reason") == "timeLimit" })
        let waiting = try #require(results.first { $0.text("device") == "sim:band/c" })
        #expect(waiting.text("deviceState") == "asBefore")
        #expect(
            waiting.text("message")
                == "the limit of 1.0 seconds for the whole command passed before this device's turn; allow more time, or "
                + "try again")
        #expect(outcome.errors.contains("dfu: sim:band/c: the limit of 1.0 seconds for the whole command passed"))
    }
}
