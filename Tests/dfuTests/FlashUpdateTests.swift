import DFUProtocol
import DFUTransport
import FoundationEssentials
import TestSupport
import Testing

@testable import dfu

/// Updates that go well, and how they are told.
@Suite(.blocking) struct FlashUpdateTests {
    @Test("200 KiB arrive byte for byte in virtual time")
    func virtualTime() throws {
        let bench = try FlashBench(200 << 10)
        #expect(bench.flash(on: ["sim:band?time=virtual&image=\(bench.path("image"))"]) == .updated())
        #expect(try bench.bytes("image") == bench.image)
    }

    @Test("CLI-05 in real time the fraction never falls, comes at most ten times a second, and is 1 once, at the end")
    func realTime() throws {
        let bench = try FlashBench(100 << 10)
        let device = "sim:band?mtu=247&dle=on&phy=2M&image=\(bench.path("image"))"
        let outcome = bench.flash(on: [device], ["--gap", "0", "--json"])
        #expect(outcome.status == 0)
        #expect(outcome.errors == "")
        #expect(try bench.bytes("image") == bench.image)

        let progress = try outcome.events().filter { $0.name == "progress" }
        let fractions = progress.compactMap { $0.number("fraction") }
        #expect(fractions.count > 3)
        #expect(zip(fractions, fractions.dropFirst()).allSatisfy { $0 < $1 })
        #expect(fractions.last == 1)
        let times = try progress.map { try Self.seconds(#require($0.text("time"))) }
        #expect(zip(times, times.dropFirst(10)).allSatisfy { $1 - $0 >= 1 || $1 < $0 })
        #expect(progress.allSatisfy { $0.number("total") == 102_400 })
    }

    /// The seconds of a time's day, of `2026-11-30T04:05:46.182Z`.
    private static func seconds(_ time: String) throws -> Double {
        let parts = time.dropFirst(11).dropLast().split(separator: ":").compactMap { Double($0) }
        try #require(parts.count == 3 && time.utf8.count == 24 && time.hasSuffix("Z"))
        return parts[0] * 3600 + parts[1] * 60 + parts[2]
    }

    @Test("JSON has the keys that it promises, start first and one result last")
    func json() throws {
        let bench = try FlashBench()
        let outcome = bench.flash(["--json"])
        #expect(outcome.errors == "")
        let events = try outcome.events()
        for event in events {
            _ = try Self.seconds(try #require(event.text("time")))
            guard event.name != "start" else { continue }
            #expect(event.text("device") == "sim:band")
            #expect(event.text("id") == "sim:band?time=virtual")
            #expect(event.text("address") == "sim:band")
        }
        let start = try #require(events.first)
        #expect(Set(start.members.keys) == ["event", "time", "schema", "version"])
        #expect(start.number("schema") == 1)
        #expect(
            events.compactMap { $0.name == "phase" ? $0.text("phase") : nil } == [
                "connect", "discover", "check", "prepare", "transfer", "verify", "confirm", "reconnect", "confirm",
            ])
        let named: Set = ["event", "time", "device", "id", "address"]
        for event in events where event.name == "phase" {
            #expect(Set(event.members.keys) == named.union(["phase", "part", "parts"]))
        }
        for event in events where event.name == "progress" {
            #expect(
                Set(event.members.keys)
                    == named.union(["bytes", "total", "fraction", "bytesPerSecond", "etaSeconds"]))
        }
        #expect(events.results.count == 1)
        let result = try #require(events.last)
        #expect(
            Set(result.members.keys)
                == named.union([
                    "ok", "status", "name", "reason", "deviceCode", "phase", "deviceState", "message", "protocol",
                    "bytes", "seconds", "attempts", "retries", "firmware", "simulated",
                ]))
        #expect(result["ok"] == .boolean(true))
        #expect(result.number("status") == 0)
        #expect(result.text("name") == "ok")
        #expect(result["reason"] == .null)
        #expect(result.text("deviceState") == "updated")
        #expect(result.text("protocol") == "block-ack")
        #expect(result.number("bytes") == 6000)
        #expect(result.number("attempts") == 2)
        #expect(result.number("retries") == 0)
        #expect(result["simulated"] == .boolean(true))
        #expect(
            result["firmware"]
                == .object([
                    "version": .string("1.1.0"), "versionBefore": .string("1.0.0"),
                    "hash": .string(CRC32.checksum(bench.image).hexadecimal),
                ]))
    }

    @Test("Plain progress is a line at each phase and each tenth")
    func plain() throws {
        let bench = try FlashBench(20 << 10)
        let outcome = bench.flash(progress: "plain")
        #expect(outcome.output == "sim:band: updated: it runs 1.1.0 (before: 1.0.0)\n")
        let tenths = (1...9).map { "\($0 * 10) %, \(Quantities.bytes($0 * 2048, of: 20_480))" }
        let lines =
            ["connect", "discover", "check", "prepare", "transfer"] + tenths
            + ["verify", "100 %, 20.5 kB of 20.5 kB", "confirm", "reconnect", "confirm"]
        #expect(outcome.errors == lines.map { "sim:band: \($0)\n" }.joined())
        #expect(bench.flash(progress: "auto").errors == outcome.errors, "that is what a pipe gets")
        #expect(bench.flash(progress: "auto", ["--json"]).errors == "", "a program reads")
    }

    @Test("A bar is drawn where it is asked for, and gives the cursor back")
    func bar() throws {
        let outcome = try FlashBench().flash(progress: "bar")
        #expect(outcome.errors.hasPrefix("\u{1B}[?25l"))
        #expect(outcome.errors.hasSuffix("\r\u{1B}[J\u{1B}[?25h"))
        #expect(outcome.output == "sim:band: updated: it runs 1.1.0 (before: 1.0.0)\n")
    }

    @Test("-v tells the steps, -vv every packet")
    func verbose() throws {
        let bench = try FlashBench()
        let steps = bench.flash(["-v"]).errors.split(separator: "\n").map(String.init)
        #expect(
            steps == ["sim:band: battery at 80 %", "sim:band: goes on at block 1 of 3 with 16 bytes a packet"])
        let all = bench.flash(["-vv"]).errors.split(separator: "\n").map(String.init)
        #expect(all.filter { !$0.contains("-> command ") && !$0.contains("<- reply ") } == steps)
        #expect(all.first == "sim:band: -> command 1b99014b")
    }

    @Test("--log adds every packet to a file, and shows nothing")
    func log() throws {
        let bench = try FlashBench()
        #expect(bench.flash(["--log", bench.path("log")]) == .updated())
        let lines = String(decoding: try bench.bytes("log"), as: UTF8.self).split(separator: "\n")
        #expect(lines.allSatisfy { $0.dropFirst(23).hasPrefix("Z sim:band: ") })
        let written = lines.filter { $0.contains("-> command ") }
        // Battery, start, 3 headers, 375 packets of 16 bytes, 3 ends, complete.
        #expect(written.count == 384)
        #expect(lines.filter { $0.contains("<- reply ") }.count == 6)
        let data = written.compactMap { line in line.firstRange(of: "command 1ba2").map { line[$0.upperBound...] } }
        // Behind the sequence number, before the checksum.
        #expect(
            data.map { $0.dropFirst(2).dropLast(2) }.joined() == bench.image.map(\.hexadecimal).joined().lowercased())

        #expect(bench.flash(["--log", bench.path("log")]) == .updated())
        let twice = String(decoding: try bench.bytes("log"), as: UTF8.self).split(separator: "\n")
        #expect(twice.count == 2 * lines.count)
    }

    @Test("CLI-12 a device that is back before it is looked for is found")
    func quickReboot() throws {
        let bench = try FlashBench()
        let reboot = #"[{"fault":"reboot","reply":1,"op":"complete","milliseconds":300}]"#
        let faults = try bench.write(reboot, to: "faults.json")
        #expect(bench.flash(on: ["sim:band?time=virtual&faults=\(faults)"]) == .updated())
    }
}
