private import Glibc

/// Another program, run as a child, which is fed through `input` and ends when it likes.
public final class Program: Sendable {
    /// What a program left behind.
    public struct Outcome: Sendable, Equatable {
        /// What it wrote to standard output.
        public var output: String
        /// What it wrote to standard error.
        public var errors: String
        /// Its exit status; 128 and the signal when it was killed.
        public var status: Int32

        /// An outcome like this.
        public init(output: String, errors: String, status: Int32) {
            self.output = output
            self.errors = errors
            self.status = status
        }
    }

    /// The program is not there.
    public struct Missing: Error, CustomStringConvertible {
        /// What is not there, and what to do.
        public let description: String
    }

    /// The end of its standard input to write to, and to close.
    public let input: Int32
    private let output: Int32
    private let errors: Int32
    private let process: pid_t

    /// Starts a program that is looked for in PATH.
    public init(_ arguments: [String]) throws {
        var ends: [(ours: Int32, theirs: Int32)] = []
        for _ in 0..<3 {
            var pair: [Int32] = [-1, -1]
            // Not pipes: only here can another child that starts at this moment not inherit the ends.
            let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            precondition(socketpair(AF_UNIX, type, 0, &pair) == 0, "no socket pair")
            ends.append((pair[0], pair[1]))
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, end) in ends.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, end.theirs, Int32(number))
        }
        var process: pid_t = 0
        var pointers = arguments.map { strdup($0) } + [nil]
        defer { pointers.forEach { free($0) } }
        let result = posix_spawnp(&process, arguments[0], &actions, nil, &pointers, environ)
        for end in ends { close(end.theirs) }
        guard result == 0 else {
            for end in ends { close(end.ours) }
            throw Missing(
                description: "\(arguments[0]) does not start: install what the Makefile lists as TEST_PACKAGES")
        }
        (input, output, errors) = (ends[0].ours, ends[1].ours, ends[2].ours)
        self.process = process
    }

    /// Runs a program to its end, with nothing to read.
    public static func run(_ arguments: [String]) async throws -> Outcome {
        let program = try Program(arguments)
        close(program.input)
        return await program.outcome()
    }

    /// The first line of its output.
    public func firstLine() async -> String {
        await ThreadExecutor.shared.run { [output] in
            var line: [UInt8] = []
            var byte: UInt8 = 0
            while read(output, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
            return String(decoding: line, as: UTF8.self)
        }
    }

    /// Waits for its end. To be called once.
    public func outcome() async -> Outcome {
        await ThreadExecutor.shared.run { [output, errors, process] in
            let texts = everything(from: [output, errors])
            var status: Int32 = 0
            waitpid(process, &status, 0)
            let signal = status & 0x7F
            return Outcome(
                output: texts[0], errors: texts[1], status: signal == 0 ? status >> 8 & 0xFF : 128 + signal)
        }
    }
}

/// Reads side by side what each of these descriptors gives, to their ends, and closes them.
private func everything(from descriptors: [Int32]) -> [String] {
    var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    var bytes = descriptors.map { _ in [UInt8]() }
    var buffer = [UInt8](repeating: 0, count: 4096)
    while entries.contains(where: { $0.fd >= 0 }) {
        poll(&entries, nfds_t(entries.count), -1)
        for index in entries.indices where entries[index].revents != 0 {
            let count = read(entries[index].fd, &buffer, buffer.count)
            if count > 0 {
                bytes[index] += buffer[..<count]
            } else {
                close(entries[index].fd)
                entries[index].fd = -1
            }
        }
    }
    return bytes.map { String(decoding: $0, as: UTF8.self) }
}
