import Glibc
import TestSupport
import Testing

/// The other files that an update reads and writes.
@Suite(.blocking) struct FlashInputTests {
    private let bench: FlashBench

    init() throws {
        bench = try FlashBench()
    }

    @Test("A wrong profile is 78, with all that is wrong in it")
    func wrongProfile() throws {
        let profile = try bench.write(#"{"schema":2,"x":1,"tries":99}"#, to: "profile.json")
        #expect(
            bench.flash(["--profile", profile])
                == .failed(
                    78,
                    "dfu: profile.json: x: no such member; schema: this version reads schema 1 only; name: missing; "
                        + "tries: wants a whole number from 1 to 10"))
    }

    @Test(
        "A file that is not there is 66",
        arguments: [["--profile", "DIR/none"], ["--device", "sim:band/b?faults=DIR/none"]])
    func missing(_ options: [String]) {
        let options = options.map { $0.replacing("DIR", with: bench.folder.path) }
        #expect(bench.flash(options) == .failed(66, "dfu: none: cannot be read: No such file or directory"))
    }

    @Test(
        "A file that is none of its kind is 78",
        arguments: [
            ("faults", "{}", "a fault script is a list, and this is an object"),
            ("faults", #"[{"fault":"drop"}]"#, #"entry 1: it wants one of "frame" and "reply""#),
            ("state", "{}", "this is not what a simulated band keeps; remove it, or name another"),
            ("state", "\u{0}", "this is not what a simulated band keeps; remove it, or name another"),
        ])
    func garbage(_ option: String, _ text: String, _ message: String) throws {
        let file = try bench.write(text, to: "file.json")
        #expect(
            bench.flash(on: ["sim:band?time=virtual&\(option)=\(file)"]) == .failed(78, "dfu: file.json: \(message)"))
        #expect(try bench.bytes("file.json") == Array(text.utf8), "it is left as it is")
    }

    @Test("No JSON is said in one sentence, once", arguments: ["--profile", "faults"])
    func noJSON(_ option: String) throws {
        let file = try bench.write("{", to: "file.json")
        let outcome =
            option == "faults"
            ? bench.flash(on: ["sim:band?time=virtual&faults=\(file)"]) : bench.flash([option, file])
        #expect(outcome == .failed(78, "dfu: file.json: it is not valid JSON"))
    }

    @Test(
        "A file that cannot be written is 73 before anything begins",
        arguments: [
            (
                "sim:band?time=virtual&state=DIR/none/band.json",
                "none/band.json: the band's state cannot be written there"
            ),
            ("sim:band?time=virtual&image=DIR/none/image", "none/image: the band's image cannot be written there"),
        ])
    func unwritable(_ device: String, _ line: String) throws {
        let device = device.replacing("DIR", with: bench.folder.path)
        #expect(bench.flash(on: [device], progress: "plain") == .failed(73, "dfu: \(line)"))
        let json = bench.flash(on: [device], ["--json"])
        #expect(try json.events().map(\.name) == ["start", "result"])
        #expect(try json.events().last?.text("message")?.replacing(bench.folder.path + "/", with: "") == line)
    }

    @Test func unwritableLog() {
        #expect(
            bench.flash(["--log", bench.path("none/log")])
                == .failed(73, "dfu: none/log: cannot be written: No such file or directory"))
    }

    @Test("A log on a full disk is 73 at the end, and the device is updated")
    func fullLog() {
        #expect(
            bench.flash(["--log", "/dev/full"])
                == BuiltProgram.Outcome(
                    output: "sim:band: updated: it runs 1.1.0 (before: 1.0.0)\n",
                    errors: "dfu: the log: cannot be written: No space left on device\n", status: 73))
    }

    /// Root could put a file in the place of a device node such as /dev/null.
    @Test("What stands at the image's place is written to, and not replaced")
    func imageThroughLink() throws {
        let target = try bench.write("", to: "target")
        #expect(symlink(target, bench.path("link")) == 0)
        #expect(bench.flash(on: ["sim:band?time=virtual&image=\(bench.path("link"))"]) == .updated())
        var status = stat()
        #expect(lstat(bench.path("link"), &status) == 0)
        #expect(status.st_mode & S_IFMT == S_IFLNK)
        #expect(try bench.bytes("target") == bench.image)
    }

    @Test(
        "A band that was left before its reboot has rebooted when the next command finds it",
        arguments: ["real", "virtual"])
    func leftBeforeTheReboot(_ time: String) throws {
        let device = ["sim:band?time=\(time)&state=\(bench.path("band.json"))&image=\(bench.path("image"))"]
        #expect(bench.flash(on: device, ["--no-verify", "--gap", "0"]).status == 0)
        #expect(try bench.bytes("image") == bench.image)
        #expect(
            bench.flash(on: device)
                == .failed(
                    76,
                    "dfu: sim:band: prepare: the device runs this version or a newer one (status 05); "
                        + "--allow-downgrade installs it nevertheless"))
    }
}
