import Glibc
import TestSupport
import Testing

/// `dfu flash --capture`, and what `dfu replay` makes of it.
@Suite(.blocking) struct FlashCaptureTests {
    private let bench: FlashBench

    init() throws {
        bench = try FlashBench()
    }

    private func replay(_ arguments: String...) -> BuiltProgram.Outcome {
        bench.withoutFolder(BuiltProgram(arguments: ["replay"] + arguments).run())
    }

    private func text(_ name: String) throws -> String { String(decoding: try bench.bytes(name), as: UTF8.self) }

    private func device(_ faults: String = "[]") throws -> String {
        "sim:band?time=virtual&faults=\(try bench.write(faults, to: "faults.json"))"
    }

    // MARK: Capturing

    @Test("An update is written down, and its replay agrees, with and without the package")
    func agrees() throws {
        let capture = bench.path("update.txt")
        #expect(bench.flash(["--capture", capture]) == .updated())
        let agreement = BuiltProgram.Outcome.updated(
            "update.txt: agrees: 384 writes, 6 answers, 2 links, ended as captured: ok - updated (it runs 1.1.0)")
        #expect(replay(capture) == agreement)
        #expect(replay(capture, bench.package) == agreement)
        let lines = try text("update.txt").split(separator: "\n")
        #expect(lines.first == "# capture: 1")
        #expect(lines.last == "# status: 0 ok")
    }

    @Test("Two captures of the same update differ in the time alone")
    func differences() throws {
        let lines = try ["a.txt", "b.txt"].map { name in
            #expect(bench.flash(["--capture", bench.path(name)]) == .updated())
            return try text(name).split(separator: "\n").filter { !$0.hasPrefix("# time: ") }
        }
        #expect(lines[0] == lines[1])
    }

    @Test(
        "A failure is written down with its reason, and how the device is left",
        arguments: [
            (
                #"[{"fault":"status","frame":1,"op":"start","status":5}]"#, "refused versionNotNewer asBefore",
                "76 refused"
            ),
            (#"[{"fault":"drop","frame":200,"count":"forever"}]"#, "silent noAnswer asBefore", "75 link"),
            (
                #"[{"fault":"drop","reply":1,"op":"complete","count":"forever"},{"fault":"oldVersion"}]"#,
                "unverified - unknown", "79 unverified"
            ),
        ])
    func failure(_ faults: String, _ result: String, _ status: String) throws {
        let capture = bench.path("update.txt")
        let outcome = bench.flash(on: [try device(faults)], ["--capture", capture])
        #expect("\(outcome.status) \(status.split(separator: " ")[1])" == status)
        let lines = try text("update.txt").split(separator: "\n")
        #expect(lines.suffix(2).first?.hasPrefix("# result: \(result)   ; ") == true)
        #expect(lines.last == "# status: \(status)")
        #expect(replay(capture).status == 0)
    }

    @Test("What stops the whole command stands in the capture, too")
    func notBegun() throws {
        let outcome = bench.flash(on: ["C0:FF:EE:12:44:50"], ["--capture", bench.path("update.txt")])
        #expect(outcome.status == 69)
        let lines = try text("update.txt").split(separator: "\n")
        #expect(lines.last?.hasPrefix("# status: 69 environment   ; ") == true)
        #expect(!lines.joined().contains("C0:FF"))
        #expect(
            replay(bench.path("update.txt"))
                == .failed(65, "dfu: update.txt: there is no update in it: it names no protocol"))
    }

    @Test("The files of this machine stay out of it")
    func files() throws {
        let device = "sim:band?faults=\(bench.path("none.json"))"
        #expect(bench.flash(on: [device], ["--capture", bench.path("update.txt")]).status == 66)
        #expect(
            try text("update.txt").hasSuffix("# status: 66 input   ; cannot be read: No such file or directory\n"))
    }

    @Test("An earlier capture is overwritten; what is none is left as it is")
    func overwriting() throws {
        let capture = try bench.write("# capture: 1\nold\n", to: "update.txt")
        #expect(bench.flash(["--capture", capture]) == .updated())
        #expect(try !text("update.txt").contains("old"))
        let refused = "it is there already, and is no capture; name another file"
        #expect(
            bench.flash(["--capture", bench.package])
                == .failed(73, "dfu: \(bench.package.split(separator: "/").last ?? ""): \(refused)"))
        #expect(try ProjectFile.bytes(at: bench.package) == bench.image)
    }

    @Test("A file that cannot be made is 73 before anything begins")
    func notWritable() throws {
        let outcome = bench.flash(
            on: ["sim:band?time=virtual&image=\(bench.path("image"))"], ["--capture", bench.path("none/update.txt")])
        #expect(outcome == .failed(73, "dfu: none/update.txt: cannot be written: No such file or directory"))
        #expect(access(bench.path("image"), F_OK) == -1, "not even the device was made")
    }

    @Test("A full disk ends the capture with one warning, and not the update")
    func fullDisk() throws {
        let device = "sim:band?time=virtual&image=\(bench.path("image"))"
        let outcome = bench.flash(on: [device], ["--capture", "/dev/full", "--json"])
        #expect(outcome.status == 0)
        #expect(
            outcome.errors
                == "dfu: sim:band: warning: the capture /dev/full cannot be written: No space left on device; "
                + "all goes on without it\n")
        let warnings = try outcome.events().filter { $0.name == "warning" }
        #expect(warnings.map { $0.text("reason") } == ["captureIncomplete"])
        #expect(try outcome.events().last?.name == "result")
        #expect(try bench.bytes("image") == bench.image)
    }

    @Test("Each of several devices has a file of its own")
    func several() throws {
        let devices = ["sim:band/a?time=virtual", "sim:band/b?time=virtual"]
        #expect(bench.flash(on: devices, ["--capture", bench.path("{}.txt")]).status == 0)
        #expect(try text("sim-band-a.txt").contains("# device: sim:band/a\n"))
        #expect(try text("sim-band-b.txt").contains("# device: sim:band/b\n"))
        #expect(
            bench.flash(on: devices, ["--capture", "one.txt"])
                == .failed(
                    64,
                    "dfu: --capture: 'one.txt' is one file for 2 devices; put {} into it, which stands for the device; "
                        + "see 'dfu flash --help'"))
    }

    @Test("What was written before the program was killed can be replayed")
    func killed() throws {
        let capture = bench.path("update.txt")
        let quiet = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(quiet) }
        let silent = try bench.write(#"[{"fault":"silence","frame":150}]"#, to: "silent.json")
        let child = bench.program(on: ["sim:band?faults=\(silent)"], ["--capture", capture, "--gap", "0"])
            .spawn(output: quiet, errors: quiet)
        // From here on it waits for an answer, for seconds.
        while (try? text("update.txt").contains("; block end 2\n")) != true { usleep(10_000) }
        kill(child, SIGKILL)
        #expect(BuiltProgram.wait(for: child) == 1009)
        let outcome = replay(capture)
        #expect(outcome.status == 0)
        #expect(outcome.output.hasPrefix("update.txt: agrees as far as it goes: "))
        #expect(outcome.output.contains("; the capture stops before the update's end; next would be: >> CMD  22 "))
    }

    // MARK: Replaying

    @Test("The first difference is shown with its line, and is 65")
    func difference() throws {
        #expect(bench.flash(["--capture", bench.path("update.txt")]) == .updated())
        let changed = try text("update.txt").replacing(
            "; battery\n", with: "; battery\n<< DISCONNECT\n", maxReplacements: 1)
        let file = try bench.write(changed, to: "changed.txt")
        let message =
            "line 19: the procedure of dfu 0.1.0 does something else (captured by dfu 0.1.0), after 1 write, 1 answer, 1 link "
            + "that agree"
        #expect(
            replay(file)
                == BuiltProgram.Outcome(
                    output: """
                        changed.txt:19
                          captured   # end: 80 %
                          procedure  # end: failed linkLost

                        """, errors: "dfu: changed.txt: \(message)\n", status: 65))
        let json = replay(file, "--json")
        #expect(json.status == 65)
        #expect(json.errors == "dfu: changed.txt: \(message)\n")
        #expect(
            json.output == """
                {
                  "answers" : 1,
                  "captured" : "# end: 80 %",
                  "complete" : false,
                  "line" : 19,
                  "links" : 1,
                  "message" : "\(message)",
                  "name" : "package",
                  "ok" : false,
                  "procedure" : "# end: failed linkLost",
                  "program" : "dfu 0.1.0",
                  "protocol" : "block-ack",
                  "reason" : "captureDiffers",
                  "schema" : 1,
                  "status" : 65,
                  "writes" : 1
                }

                """)
    }

    @Test("What is no capture, or not the package, is told in one sentence")
    func noCapture() throws {
        let foreign = try bench.write("\u{1B}[2J\n", to: "foreign.txt")
        #expect(
            replay(foreign) == .failed(65, "dfu: foreign.txt: it is no capture: its first line is not '# capture: 1'"))
        let broken = try bench.write("# capture: 1\n\u{1B}[2J\n", to: "broken.txt")
        #expect(
            replay(broken) == .failed(65, "dfu: broken.txt: line 2: it begins with none of '>>', '<<' and '#'"))
        #expect(replay(bench.path("none")) == .failed(66, "dfu: none: cannot be read: No such file or directory"))
        let json = replay(broken, "--json")
        #expect(json.status == 65)
        #expect(json.output.contains(#""reason" : "captureMalformed""#))
        let capture = bench.path("update.txt")
        #expect(bench.flash(["--capture", capture]) == .updated())
        let other = ProjectFile.path("Fixtures/packages/band_v1.1.0_810A8FF9.bin")
        let outcome = replay(capture, other)
        #expect(outcome.status == 65)
        #expect(
            outcome.errors.hasPrefix(
                "dfu: update.txt: band_v1.1.0_810A8FF9.bin is not what was sent: it holds no image of 6000 bytes"))
        #expect(replay(capture, bench.path("none")).status == 66)
    }

    // MARK: What is kept

    @Test(
        "Captures stay as they are, and are replayed as long as the procedure is",
        arguments: [
            ("block-ack_happy.txt", "[]", "ok - updated"),
            (
                "block-ack_repaired.txt",
                #"""
                [{"fault":"drop","frame":100},{"fault":"damage","reply":4},{"fault":"disconnect","frame":330},
                 {"fault":"status","frame":1,"op":"blockEnd","status":11},{"fault":"drop","reply":1,"op":"complete"}]
                """#, "ok - updated"
            ),
            (
                "block-ack_refused.txt", #"[{"fault":"status","frame":1,"op":"complete","status":9}]"#,
                "refused imageRejected asBefore"
            ),
        ])
    func kept(_ name: String, _ faults: String, _ result: String) throws {
        let package = ProjectFile.path("Fixtures/packages/band_v1.1.0_810A8FF9.bin")
        _ = bench.flash(sending: package, on: [try device(faults)], ["--capture", bench.path(name)])
        // What no other run has.
        let lines = try text(name).split(separator: "\n").filter { !$0.hasPrefix("# time: 2") }
            .map { $0.hasPrefix("# program: ") ? "# program: dfu" : $0 }
        Golden.expect(lines.map { $0 + "\n" }.joined(), in: name, of: "transcripts")
        let outcome = replay(ProjectFile.path("Fixtures/transcripts/\(name)"), package)
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("ended as captured: \(result) ("))
    }
}
