import Glibc
import Testing

@testable import dfu

/// What becomes of lines that cannot be written.
@Suite(.blocking) struct StreamTests {
    @Test func aClosedPipeIsNoFailure() {
        let closed = Pipe()
        close(closed.read)
        let errors = Pipe()
        let child = BuiltProgram(arguments: ["--help"]).spawn(output: closed.write, errors: errors.write)
        close(closed.write)
        close(errors.write)
        #expect(errors.readAll() == "")
        #expect(BuiltProgram.wait(for: child) == 0)
    }

    @Test func aFullDiskIs73() {
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { close(full) }
        let errors = Pipe()
        let child = BuiltProgram(arguments: ["--help"]).spawn(output: full, errors: errors.write)
        close(errors.write)
        #expect(errors.readAll() == "dfu: stdout: cannot be written: No space left on device\n")
        #expect(BuiltProgram.wait(for: child) == 73)
    }

    @Test func aFailureKeepsItsStatusWhenItCannotBeTold() {
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { close(full) }
        let child = BuiltProgram(arguments: ["flahs"]).spawn(output: full, errors: full)
        #expect(BuiltProgram.wait(for: child) == 64)
    }
}
