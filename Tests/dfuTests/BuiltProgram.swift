import CLinux
import Glibc

/// The `dfu` that was built beside the tests, run as a child process.
struct BuiltProgram {
    /// How a run ended.
    struct Outcome: Equatable {
        var output: String
        var errors: String
        /// The exit status, or 1000 more than the signal's number where one ended it.
        var status: Int32
    }

    /// Where it is: the tests' own program lies in the same folder.
    static let path: String = {
        guard let resolved = realpath("/proc/self/exe", nil) else {
            preconditionFailure("/proc/self/exe cannot be read")
        }
        defer { free(resolved) }
        let own = String(cString: resolved)
        return own.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/dfu"
    }()

    /// A folder of nothing for `HOME`, and a bus of nobody, so that neither a file nor an adapter of whoever runs the tests
    /// has a say. (The thread sanitizer would
    /// wait for a second at each program's end; and a program may end while a simulated band is still at work, which the
    /// leak sanitizer takes for a loss.)
    static let environment = [
        "HOME=/nonexistent", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent/bus", "PATH=/usr/bin:/bin",
        "LC_ALL=C.UTF-8", "TSAN_OPTIONS=atexit_sleep_ms=0",
        "ASAN_OPTIONS=detect_leaks=0",
    ]

    var arguments: [String]
    var environment = Self.environment
    var executable = Self.path
    /// Where it runs; nil for where the tests run.
    var folder: String?

    /// Runs it to its end, with nothing on stdin.
    func run() -> Outcome {
        let output = Pipe()
        let errors = Pipe()
        let child = spawn(output: output.write, errors: errors.write)
        close(output.write)
        close(errors.write)
        // What is written to stderr fits its pipe while stdout is read.
        let outputText = output.readAll()
        let errorText = errors.readAll()
        return Outcome(output: outputText, errors: errorText, status: Self.wait(for: child))
    }

    /// Starts it with these files as stdout and stderr, and this one as stdin; nil: nothing.
    func spawn(output: Int32, errors: Int32, input: Int32? = nil) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        var child = pid_t()
        let line = (folder.map { ["/usr/bin/env", "--chdir=\($0)"] } ?? []) + [executable] + arguments
        var words: [UnsafeMutablePointer<CChar>?] = line.map { strdup($0) } + [nil]
        var settings: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
        defer { (words + settings).forEach { free($0) } }
        let result = posix_spawn(&child, line[0], &actions, nil, &words, &settings)
        precondition(result == 0, "\(executable) cannot be run: \(String(cString: strerror(result)))")
        return child
    }

    /// Waits for its end.
    static func wait(for child: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : 1000 + signal
    }
}

/// A pipe, closed in children.
struct Pipe {
    let read: Int32
    let write: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        // At once: a child that starts at this moment must not keep an end open.
        precondition(pipe2(&ends, O_CLOEXEC) == 0, "no pipe")
        (read, write) = (ends[0], ends[1])
    }

    /// All that comes until the other end is closed; closes this one.
    func readAll() -> String {
        defer { close(read) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(read, &buffer, buffer.count)
            if count > 0 {
                bytes += buffer.prefix(count)
            } else if count == 0 || errno != EINTR {
                return String(decoding: bytes, as: UTF8.self)
            }
        }
    }
}

/// A file without a name, which is gone when it is closed.
final class TemporaryFile {
    private let file: UnsafeMutablePointer<FILE>
    let descriptor: Int32

    init() {
        guard let file = tmpfile() else { preconditionFailure("no temporary file") }
        self.file = file
        descriptor = fileno(file)
    }

    deinit {
        fclose(file)
    }

    /// All that was written; what is written meanwhile is not disturbed.
    func lines() -> [String] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = pread(descriptor, &buffer, buffer.count, bytes.count), count > 0 {
            bytes += buffer.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
