import DFUTransport
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import dfu

/// Updates that a signal ends, in real time.
@Suite(.blocking) struct FlashSignalTests {
    /// 20 blocks, so that at 30 % more than a second of work is left.
    private static let size = 40_960

    private struct Stopped {
        var bench: FlashBench
        var outcome: BuiltProgram.Outcome
        /// From the signal to the end.
        var seconds: Double
    }

    /// Starts an update of a band that keeps its state, and sends the signals when it is so far.
    private static func stop(at percent: Int, by signals: Int32...) throws -> Stopped {
        let bench = try FlashBench(size)
        // Long packets, seldom: few are queued before the goodbye.
        let device =
            "sim:band?mtu=247&interval=50&state=\(bench.path("band.json"))&image=\(bench.path("image"))"
        let running = RunningProgram(
            bench.program(on: [device], ["--gap", "0", "--progress", "plain", "-vv"]))
        let tenth = "\(percent) %, \(Quantities.bytes(size * percent / 100 / 2048 * 2048, of: size))"
        let isThere = running.waitForLine(endingWith: tenth)
        #expect(isThere)
        let start = ContinuousClock.now
        signals.forEach { running.signal($0) }
        let outcome = running.outcome()
        return Stopped(bench: bench, outcome: outcome, seconds: start.duration(to: .now) / .seconds(1))
    }

    /// The number of blocks that the band's state holds; nil where no image is being received.
    private static func blocks(in bench: FlashBench) throws -> Int? {
        guard case .object(let state) = try JSONValue(parsing: bench.bytes("band.json")),
            case .object(let reception)? = state["reception"], case .string(let bytes)? = reception["bytes"]
        else { return nil }
        return (Data(base64Encoded: bytes)?.count ?? 0) / 2048
    }

    @Test(
        "CLI-03, CLI-04 a signal at 30 % tells the device, and the same command then ends well",
        arguments: [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129)] as [(Int32, Int32)])
    func oneSignal(_ signal: Int32, _ status: Int32) throws {
        let stopped = try Self.stop(at: 30, by: signal)
        #expect(stopped.outcome.status == status)
        #expect(stopped.outcome.output == "")
        #expect(stopped.seconds < 3)
        let lines = stopped.outcome.errors.split(separator: "\n").map(String.init)
        #expect(
            lines.last
                == "dfu: sim:band: transfer: stopped: the device has dropped the update, and goes on with the firmware "
                + "that it runs")
        #expect(lines.filter { $0.hasPrefix("dfu: ") }.count == 1)
        #expect(lines.filter { $0 == "sim:band: -> command 1ba540" }.count == 1, "one abort")
        #expect(try Self.blocks(in: stopped.bench) == nil)

        let device =
            "sim:band?time=virtual&state=\(stopped.bench.path("band.json"))&image=\(stopped.bench.path("image"))"
        #expect(stopped.bench.flash(on: [device]) == .updated())
        #expect(try stopped.bench.bytes("image") == stopped.bench.image)
    }

    @Test("CLI-03 a second signal leaves at once")
    func twoSignals() throws {
        let bench = try FlashBench()
        // A band that is silent from its first block on: the abort waits for an answer.
        let faults = try bench.write(#"[{"fault":"silence","frame":3}]"#, to: "faults.json")
        let profile = try bench.write(#"{"schema":1,"name":"slow","limits":{"abort":3600}}"#, to: "profile.json")
        let running = RunningProgram(
            bench.program(
                on: ["sim:band?faults=\(faults)"], ["--progress", "none", "-vv", "--profile", profile]))
        #expect(running.waitForLine(endingWith: "goes on at block 1 of 3 with 16 bytes a packet"))
        running.signal(SIGINT)
        #expect(running.waitForLine(endingWith: "-> command 1ba540"))
        running.signal(SIGTERM)
        let outcome = running.outcome()
        #expect(outcome.status == 130)
        #expect(outcome.errors.hasSuffix("\ndfu: stopped at once; the device may not have been told\n"))
    }

    @Test("CLI-04 after a kill at 50 % the same command goes on where the device says")
    func kill() throws {
        let stopped = try Self.stop(at: 50, by: SIGKILL)
        #expect(stopped.outcome.status == 1000 + SIGKILL)
        let blocks = try #require(try Self.blocks(in: stopped.bench))
        #expect((10...19).contains(blocks))

        let device =
            "sim:band?time=virtual&state=\(stopped.bench.path("band.json"))&image=\(stopped.bench.path("image"))"
        let again = stopped.bench.flash(on: [device], ["-v"])
        #expect(again.status == 0)
        #expect(again.errors.contains("sim:band: goes on at block \(blocks + 1) of 20 with 16 bytes a packet\n"))
        #expect(try stopped.bench.bytes("image") == stopped.bench.image)
    }

    @Test("A signal during the first of several devices: the second is not begun, and both have a result")
    func severalDevices() throws {
        let bench = try FlashBench(Self.size)
        let running = RunningProgram(
            bench.program(
                on: ["sim:band/a", "sim:band/b"], ["--gap", "0", "--progress", "plain", "--json"]))
        #expect(running.waitForLine(endingWith: "sim:band/a: 10 %, 4.1 kB of 41.0 kB"))
        running.signal(SIGINT)
        let outcome = running.outcome()
        #expect(outcome.status == 130)
        let errors = outcome.errors.split(separator: "\n")
        #expect(!errors.contains("sim:band/b: connect"))
        #expect(errors.last == "dfu: sim:band/b: stopped before this device's turn")
        let events = try outcome.events()
        #expect(!events.contains { $0.name == "phase" && $0.text("device") == "sim:band/b" })
        #expect(events.results.map { $0.text("device") } == ["sim:band/a", "sim:band/b", nil])
        #expect(events.results.map { $0.number("status") } == [130, 130, 130])
        #expect(events.results.map { $0.text("name") } == ["interrupted", "interrupted", "interrupted"])
        #expect(events.results.dropLast().allSatisfy { $0.text("deviceState") == "asBefore" })
    }

    @Test("CLI-03 a signal stops all that are under way, and tells each device; the rest is not begun")
    func severalAtOnce() throws {
        let bench = try FlashBench(Self.size)
        let running = RunningProgram(
            bench.program(
                on: ["sim:band/a", "sim:band/b", "sim:band/c"],
                ["--jobs", "2", "--gap", "0", "--progress", "plain", "--json", "-vv"]))
        let isThere = running.waitForLines(["sim:band/a: transfer", "sim:band/b: transfer"])
        #expect(isThere)
        let start = ContinuousClock.now
        running.signal(SIGINT)
        let outcome = running.outcome()
        #expect(start.duration(to: .now) < .seconds(3))
        #expect(outcome.status == 130)
        let errors = outcome.errors.split(separator: "\n").map(String.init)
        for device in ["sim:band/a", "sim:band/b"] {
            #expect(errors.filter { $0 == "\(device): -> command 1ba540" }.count == 1, "one abort")
        }
        #expect(!errors.contains { $0.hasPrefix("sim:band/c") })
        let results = try outcome.events().results
        #expect(results.count == 4)
        #expect(results.allSatisfy { $0.number("status") == 130 })
        for (device, reason) in ["sim:band/a": "aborted", "sim:band/b": "aborted", "sim:band/c": "notBegun"] {
            let result = try #require(results.first { $0.text("device") == device })
            #expect(result.text("reason") == reason)
            #expect(result.text("deviceState") == "asBefore")
        }
        #expect(results.last?["device"] == .null)
        #expect(results.last?.text("message") == "0 of 3 devices updated")
    }
}
