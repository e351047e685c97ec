import DFUTransport
import Testing

/// Bands that make an update fail, and bands that make it hard.
@Suite(.blocking) struct FlashFaultTests {
    /// A band on which an update fails, and how.
    struct Failing: CustomTestStringConvertible {
        var name: String
        var faults = "[]"
        var device = ""
        var options: [String] = []
        var profile: String?
        var status: Int32
        var reason: String
        var state = "asBefore"
        /// What stands behind `dfu: sim:band: `.
        var line: String

        var testDescription: String { name }
    }

    static let failing: [Failing] = [
        Failing(
            name: "silent from the first command", faults: #"[{"fault":"silence","frame":1,"op":"start"}]"#,
            status: 75, reason: "noAnswer",
            line: "prepare: the device did not answer start within 30.0 seconds in each of 3 sends; "
                + "move closer and try again"),
        Failing(
            name: "silent in the middle", faults: #"[{"fault":"silence","frame":200}]"#, status: 75, reason: "noAnswer",
            line: "transfer: the device did not answer start within 30.0 seconds in each of 3 sends; "
                + "move closer and try again"),
        Failing(
            name: "link lost for ever", faults: #"[{"fault":"disconnect","frame":1,"op":"data","count":"forever"}]"#,
            status: 75, reason: "linkLost",
            line: "transfer: the link was lost 3 times in a row without a new block; "
                + "bring the device closer and run the same command to go on"),
        Failing(
            name: "busy for ever at start",
            faults: #"[{"fault":"status","frame":1,"op":"start","status":"0x0B","count":"forever"}]"#,
            status: 75, reason: "busy",
            line: "prepare: the device stayed busy when told start (busy (status 0B)); try again later"),
        Failing(
            name: "busy for ever at a block's end",
            faults: #"[{"fault":"status","frame":2,"op":"blockEnd","status":"0x0B","count":"forever"}]"#,
            status: 75, reason: "busy",
            line: "transfer: the device stayed busy when told blockEnd (busy (status 0B)); try again later"),
        Failing(
            name: "damaged each time", faults: #"[{"fault":"damage","frame":1,"op":"start","count":"forever"}]"#,
            status: 75, reason: "frameDamaged",
            line: "prepare: start arrived damaged each time (status 03); move closer and try again, "
                + "or check the profile's checksum"),
        Failing(
            name: "the whole command's limit", options: ["--timeout", "1"], status: 75, reason: "timeLimit",
            line: "transfer: the limit of 1.0 seconds for the whole command passed; allow more time, or try again"),
        Failing(
            name: "version not newer", device: "&version=1.1.0", status: 76, reason: "versionNotNewer",
            line: "prepare: the device runs this version or a newer one (status 05); "
                + "--allow-downgrade installs it nevertheless"),
        Failing(
            name: "battery low", device: "&battery=20", status: 76, reason: "batteryLow",
            line: "check: its battery is at 20 %, and an update wants 30 %; charge it, or use --skip-check battery"),
        Failing(
            name: "battery low, says the device", faults: #"[{"fault":"status","frame":1,"op":"start","status":6}]"#,
            status: 76, reason: "batteryLow",
            line: "prepare: the device says that its battery is too low for an update (status 06); "
                + "charge it and try again"),
        Failing(
            name: "battery unknown", faults: #"[{"fault":"battery","tenths":null}]"#, status: 76,
            reason: "batteryUnknown",
            line: "check: it does not tell its battery level; --skip-check battery goes on without it"),
        Failing(
            name: "battery out of range", faults: #"[{"fault":"battery","tenths":11}]"#, status: 76,
            reason: "batteryUnknown",
            line: "check: it does not tell its battery level; --skip-check battery goes on without it"),
        Failing(
            name: "block refused for ever",
            faults: #"[{"fault":"status","frame":2,"op":"blockEnd","status":7,"count":"forever"}]"#, status: 76,
            reason: "blockRejected",
            line: "transfer: block 2 of 3 did not arrive whole in 3 sends: block CRC mismatch (status 07); "
                + "move closer, or use a longer gap"),
        Failing(
            name: "packets cut for ever", faults: #"[{"fault":"truncate","length":18}]"#, status: 76,
            reason: "blockRejected",
            line: "transfer: block 1 of 3 did not arrive whole in 3 sends: packets missing (status 08); "
                + "move closer, or use a longer gap"),
        Failing(
            name: "out of step for ever",
            faults: #"[{"fault":"status","frame":1,"op":"blockEnd","status":2,"count":"forever"}]"#, status: 76,
            reason: "wrongState",
            line: "transfer: the device says that blockEnd does not fit its state (status 02); "
                + "restart the device and try again"),
        Failing(
            name: "image too large", faults: #"[{"fault":"status","frame":1,"op":"start","status":4}]"#, status: 76,
            reason: "imageTooLarge",
            line: "prepare: the image is too large for the device (status 04); use one that is made for this device"),
        Failing(
            name: "command unknown", faults: #"[{"fault":"status","frame":1,"op":"start","status":1}]"#, status: 76,
            reason: "unsupportedCommand",
            line: "prepare: the device does not know the command start (status 01); use a profile made for this device"),
        Failing(
            name: "flash write failed", faults: #"[{"fault":"status","frame":1,"op":"complete","status":10}]"#,
            status: 76, reason: "flashWriteFailed",
            line: "verify: the device could not write its flash (status 0A); restart the device and try again"),
        Failing(
            name: "BLK-12 hundred percent, then refused",
            faults: #"[{"fault":"status","frame":1,"op":"complete","status":9}]"#, status: 76, reason: "imageRejected",
            line: "verify: the image as it arrived does not have the announced CRC-32, and the device has dropped it "
                + "(status 09); run the update again"),
        Failing(
            name: "CLI-07 a status that nobody knows",
            faults: #"[{"fault":"status","frame":1,"op":"start","status":200}]"#, status: 76,
            reason: "unexpectedStatus",
            line: "prepare: the device answered start with a status without a known meaning (status C8); "
                + "restart the device and try again"),
        Failing(
            name: "no band", faults: #"[{"fault":"drop","frame":1,"op":"battery","count":"forever"}]"#, status: 76,
            reason: "notBlockAck",
            line: "check: the device does not answer as a block-ack device; "
                + "name the right device, or a profile made for it"),
        Failing(
            name: "a profile that does not fit the band's packets",
            profile: #"{"schema":1,"name":"large","blockSize":8192,"packetSize":64}"#, status: 78,
            reason: "misconfigured",
            line: "prepare: a block of 8192 bytes takes more than 256 packets of 20 bytes; "
                + "the block size may be at most 4096"),
        Failing(
            name: "CLI-11 the old version runs on", faults: #"[{"fault":"oldVersion"}]"#, options: ["--verify"],
            status: 79, reason: "unverified",
            line: "confirm: the device accepted version 1.1.0, but runs 1.0.0, as before; "
                + "restart it and look at its version, or run the update again"),
        Failing(
            name: "BLK-01 no last answer, and the old version",
            faults: #"[{"fault":"disconnect","reply":1,"op":"complete","count":"forever"},{"fault":"oldVersion"}]"#,
            status: 79, reason: "unverified", state: "unknown",
            line: "confirm: all was sent, but the device never said whether it took it; "
                + "look at the version that it shows; whether it runs the old or the new firmware is not known"),
        Failing(
            name: "no version to look at", options: ["--verify"],
            profile: #"{"schema":1,"name":"mute","versionCharacteristic":null}"#, status: 79, reason: "unverified",
            state: "unknown",
            line: "verify: the device accepted it, but has no version to read: whether it runs was not seen; "
                + "whether it runs the old or the new firmware is not known"),
        Failing(
            name: "a downgrade that devices would keep", options: ["--allow-downgrade"],
            profile: #"{"schema":1,"name":"strict","anyVersion":false}"#, status: 64, reason: "downgradeNotPossible",
            line: "check: the profile strict does not say that its devices take any version, so --allow-downgrade "
                + "would leave one that refuses every later update; leave it out"),
    ]

    @Test("CLI-01, CLI-08 each failure has its status, and one line that explains it", arguments: failing)
    func failure(_ failing: Failing) throws {
        let bench = try FlashBench()
        let device = "sim:band?time=virtual&faults=\(try bench.write(failing.faults, to: "faults.json"))"
        var options = failing.options
        if let profile = failing.profile { options += ["--profile", try bench.write(profile, to: "profile.json")] }

        let plain = bench.flash(on: [device + failing.device], options)
        #expect(plain == .failed(failing.status, "dfu: sim:band: \(failing.line)"))

        let json = bench.flash(on: [device + failing.device], options + ["--json"])
        #expect(json.status == failing.status)
        #expect(json.errors == plain.errors)
        let events = try json.events()
        #expect(events.first?.name == "start")
        #expect(events.fractions.allSatisfy { $0 < 1 } || failing.status == 79)
        #expect(events.results.count == 1)
        let result = try #require(events.last)
        #expect(result["ok"] == .boolean(false))
        #expect(result.number("status") == Double(failing.status))
        #expect(result.text("reason") == failing.reason)
        #expect(result.text("deviceState") == failing.state)
        #expect(result["simulated"] == .boolean(true))
        #expect("dfu: sim:band: \(result.text("phase") ?? ""): \(result.text("message") ?? "")\n" == plain.errors)
    }

    @Test(
        "Faults that can be repaired leave the exact image, and 0",
        arguments: [
            "a lost packet": #"{"fault":"drop","frame":12}"#,
            "a damaged packet": #"{"fault":"damage","frame":12}"#,
            "a doubled packet": #"{"fault":"double","frame":12}"#,
            "two packets in the wrong order": #"{"fault":"swap","frame":12}"#,
            "a late answer": #"{"fault":"delay","reply":1,"op":"blockEnd","milliseconds":8000}"#,
            "a lost answer": #"{"fault":"drop","reply":2,"op":"blockEnd"}"#,
            "every answer twice": #"{"fault":"double","reply":1,"op":"blockEnd","count":"forever"}"#,
            "a lost link": #"{"fault":"disconnect","byte":5000}"#,
            "two lost links": #"{"fault":"disconnect","frame":100},{"fault":"disconnect","frame":300}"#,
            "a reboot": #"{"fault":"reboot","frame":200,"milliseconds":15000}"#,
            "a reboot that forgets the blocks": #"{"fault":"reboot","frame":250,"keepsBlocks":false}"#,
            "two block refusals": #"{"fault":"status","frame":1,"op":"blockEnd","status":7,"count":2}"#,
            "busy for a while": #"{"fault":"status","frame":1,"op":"start","status":"0x0B","count":4}"#,
            "BLK-01 the last answer lost": #"{"fault":"drop","reply":1,"op":"complete"}"#,
            "BLK-01 the link lost instead of the last answer": #"{"fault":"disconnect","reply":1,"op":"complete"}"#,
            "the last command lost": #"{"fault":"drop","frame":1,"op":"complete"}"#,
        ])
    func repaired(_ name: String, _ fault: String) throws {
        let bench = try FlashBench()
        let faults = try bench.write("[\(fault)]", to: "faults.json")
        let device = "sim:band?time=virtual&faults=\(faults)&image=\(bench.path("image"))"
        #expect(bench.flash(on: [device]) == .updated())
        #expect(try bench.bytes("image") == bench.image)
    }

    @Test("CLI-11 without a look at the version, the text says accepted and not running")
    func notVerified() throws {
        let bench = try FlashBench()
        let device = "sim:band?time=virtual&faults=\(try bench.write(#"[{"fault":"oldVersion"}]"#, to: "faults.json"))"
        #expect(
            bench.flash(on: [device], ["--no-verify"])
                == .updated("sim:band: sent and accepted: whether it runs was not looked at"))
        let result = try #require(try bench.flash(on: [device], ["--no-verify", "--json"]).events().last)
        #expect(result["ok"] == .boolean(true))
        #expect(result.text("reason") == "notVerified")
        #expect(result.text("deviceState") == "unknown")
    }

    @Test("CLI-02, CLI-07 a refusal is told with the code in hex, its number for programs, and no word of success")
    func refusal() throws {
        let bench = try FlashBench()
        let faults = try bench.write(#"[{"fault":"status","frame":1,"op":"complete","status":"0xC8"}]"#, to: "f.json")
        let outcome = bench.flash(on: ["sim:band?time=virtual&faults=\(faults)"], progress: "plain", ["--json"])
        #expect(outcome.status == 76)
        #expect(try outcome.events().last?.number("deviceCode") == 200)
        #expect(outcome.errors.contains("a status without a known meaning (status C8)"))
        #expect(!outcome.errors.contains("100 %"))
        #expect(!(outcome.output + outcome.errors).contains("updated"))
    }

    @Test("A downgrade is sent and accepted, and not called running")
    func downgrade() throws {
        let bench = try FlashBench()
        let device = "sim:band?time=virtual&version=2.0.0&image=\(bench.path("image"))"
        #expect(
            bench.flash(on: [device], ["--allow-downgrade"])
                == .updated(
                    "sim:band: sent and accepted: the device was asked to skip its version check, "
                        + "so versions are not compared"))
        #expect(try bench.bytes("image") == bench.image)
    }

    @Test("A waived check is warned of, in JSON too")
    func waived() throws {
        let bench = try FlashBench()
        let outcome = bench.flash(on: ["sim:band?time=virtual&battery=20"], ["--skip-check", "battery", "--json"])
        #expect(outcome.status == 0)
        let warnings = try outcome.events().filter { $0.name == "warning" }
        #expect(warnings.map { $0.text("reason") } == ["checkSkipped", "batteryLow"])
        #expect(
            outcome.errors.split(separator: "\n").prefix(2) == [
                "dfu: sim:band: warning: the check of the battery is waived",
                "dfu: sim:band: warning: its battery is at 20 %, and an update wants 30 %",
            ])
    }
}
