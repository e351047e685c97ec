import Glibc

/// The built program while it runs: its stderr is read line by line, its stdout kept in a file.
final class RunningProgram {
    private let output = TemporaryFile()
    private let errors = Pipe()
    private let child: pid_t
    private var unread: [UInt8] = []
    private var lines: [String] = []

    init(_ program: BuiltProgram) {
        child = program.spawn(output: output.descriptor, errors: errors.write)
        close(errors.write)
    }

    /// Reads stderr up to a line with this end; false where stderr ends before.
    func waitForLine(endingWith text: String) -> Bool {
        while let line = nextLine() {
            if line.hasSuffix(text) { return true }
        }
        return false
    }

    /// Reads stderr up to the last of these lines, in whatever order they come; false where stderr ends before.
    func waitForLines(_ texts: Set<String>) -> Bool {
        var missing = texts
        while !missing.isEmpty {
            guard let line = nextLine() else { return false }
            missing.remove(line)
        }
        return true
    }

    /// The lines of stdout until now.
    var printed: [String] { output.lines() }

    /// Sends it a signal.
    func signal(_ number: Int32) {
        kill(child, number)
    }

    /// Waits for its end; what it said on stderr is all of it, with the lines that were read before.
    func outcome() -> BuiltProgram.Outcome {
        while nextLine() != nil {}
        close(errors.read)
        let status = BuiltProgram.wait(for: child)
        return BuiltProgram.Outcome(
            output: output.lines().map { $0 + "\n" }.joined(), errors: lines.map { $0 + "\n" }.joined(), status: status)
    }

    private func nextLine() -> String? {
        var buffer = [UInt8](repeating: 0, count: 1 << 12)
        while true {
            if let end = unread.firstIndex(of: 0x0A) {
                lines.append(String(decoding: unread[..<end], as: UTF8.self))
                unread.removeSubrange(...end)
                return lines.last
            }
            let count = read(errors.read, &buffer, buffer.count)
            guard count > 0 || errno == EINTR else { return nil }
            if count == 0 { return nil }
            unread += buffer.prefix(max(0, count))
        }
    }
}
