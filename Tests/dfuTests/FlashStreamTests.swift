import Glibc
import TestSupport
import Testing

/// Updates whose output nobody reads.
@Suite(.blocking) struct FlashStreamTests {
    private let bench: FlashBench

    init() throws {
        bench = try FlashBench()
    }

    private func program(_ options: String...) -> BuiltProgram {
        bench.program(on: ["sim:band?time=virtual&image=\(bench.path("image"))"], options)
    }

    @Test("A closed pipe on stdout and stderr ends no update")
    func closedPipes() throws {
        let closed = Pipe()
        close(closed.read)
        let child = program("--json", "--progress", "plain", "-vv").spawn(output: closed.write, errors: closed.write)
        close(closed.write)
        #expect(BuiltProgram.wait(for: child) == 0)
        #expect(try bench.bytes("image") == bench.image)
    }

    @Test("A full disk under stdout is 73, and the device is updated all the same", arguments: ["--json", "--no-crc"])
    func fullDisk(_ option: String) throws {
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { close(full) }
        let errors = Pipe()
        let child = program("--progress", "none", option).spawn(output: full, errors: errors.write)
        close(errors.write)
        #expect(errors.readAll().hasSuffix("dfu: stdout: cannot be written: No space left on device\n"))
        #expect(BuiltProgram.wait(for: child) == 73)
        #expect(try bench.bytes("image") == bench.image)
    }

    @Test("A full disk under stderr is nobody's failure")
    func fullDiskUnderErrors() throws {
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { close(full) }
        let output = Pipe()
        let child = program("--progress", "plain").spawn(output: output.write, errors: full)
        close(output.write)
        #expect(output.readAll() == "sim:band: updated: it runs 1.1.0 (before: 1.0.0)\n")
        #expect(BuiltProgram.wait(for: child) == 0)
    }

    /// With a stream closed, the next file opened takes its number: no line may land in it.
    @Test(
        "Streams that come closed end no update",
        arguments: [
            ("<&-", 0, "sim:band: updated: it runs 1.1.0 (before: 1.0.0)\n", ""),
            ("2>&-", 0, "sim:band: updated: it runs 1.1.0 (before: 1.0.0)\n", ""),
            (">&-", 73, "", "dfu: stdout: cannot be written: Bad file descriptor\n"),
            ("<&- >&- 2>&-", 73, "", ""),
        ] as [(String, Int32, String, String)])
    func closedStreams(_ closing: String, _ status: Int32, _ output: String, _ errors: String) throws {
        var program = program("--progress", "none", "--log", bench.path("log"))
        program.arguments = ["-c", "exec \"$0\" \"$@\" \(closing)", program.executable] + program.arguments
        program.executable = "/bin/sh"
        #expect(program.run() == BuiltProgram.Outcome(output: output, errors: errors, status: status))
        #expect(try bench.bytes("image") == bench.image)
    }

    @Test("No place for a checkpoint: the update goes well")
    func checkpoints() throws {
        var program = program("--progress", "none", "-v")
        program.environment = BuiltProgram.environment + ["XDG_STATE_HOME=\(try bench.write("", to: "file"))"]
        let outcome = program.run()
        #expect(outcome.status == 0)
        #expect(
            outcome.errors.contains("sim:band: the checkpoint cannot be written; the device will say where to go on\n"))
        #expect(try bench.bytes("image") == bench.image)
    }

    @Test("A finished update leaves no checkpoint; one that failed leaves it for the next")
    func checkpointsComeAndGo() throws {
        let faults = try bench.write(#"[{"fault":"silence","frame":200}]"#, to: "faults.json")
        #expect(bench.flash(on: ["sim:band?time=virtual&faults=\(faults)"]).status == 75)
        #expect(access(bench.path("state/dfu/sim:band.json"), F_OK) == 0)
        #expect(bench.flash().status == 0)
        #expect(access(bench.path("state/dfu/sim:band.json"), F_OK) == -1)
    }
}
