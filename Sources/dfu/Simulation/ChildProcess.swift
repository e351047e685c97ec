private import CLinux
import DFUTransport
private import Dispatch
private import Glibc

/// Another program that this one has started.
final class ChildProcess: Sendable {
    /// Its end of a pipe, by the number that the program has for it.
    struct Stream {
        var number: Int32
        var descriptor: Int32
    }

    /// Nil when it is over.
    private let process: Locked<pid_t?>

    /// Starts a program that is looked for in PATH.
    ///
    /// - Parameters:
    ///   - environment: All that it gets of it.
    ///   - streams: What it has in the place of our own standard streams.
    ///   - isApart: Whether what is typed at the terminal, such as Ctrl-C, does not reach it.
    init(
        _ words: [String], environment: [String: String], streams: [Stream] = [], isApart: Bool = false
    ) throws(Failure) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for stream in streams { posix_spawn_file_actions_adddup2(&actions, stream.descriptor, stream.number) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Our threads block what stops the program, and a closed pipe is no signal for us: neither is for others.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        var flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        if isApart { flags |= POSIX_SPAWN_SETPGROUP }
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var arguments = words.map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { (arguments + variables).forEach { free($0) } }
        var process = pid_t()
        let result = posix_spawnp(&process, words[0], &actions, &attributes, &arguments, &variables)
        guard result == 0 else {
            throw Failure(.input, subject: words[0], "cannot be run: \(String(cString: strerror(result)))")
        }
        self.process = Locked(process)
    }

    /// Sends it a signal, unless it is over.
    func signal(_ number: Int32) {
        process.withLock { process in
            if let process { kill(process, number) }
        }
    }

    /// Waits for its end: its exit status, or 128 and the signal that ended it. To be called once.
    func status() async -> Int32 {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [process] in
                guard let number = process.withLock(\.self) else { preconditionFailure("it has been waited for") }
                // Its number is free for others only when it has been waited for the second time.
                var information = siginfo_t()
                while waitid(P_PID, id_t(number), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
                process.withLock { $0 = nil }
                var status: Int32 = 0
                while waitpid(number, &status, 0) < 0, errno == EINTR {}
                let signal = status & 0x7F
                continuation.resume(returning: signal == 0 ? status >> 8 & 0xFF : 128 + signal)
            }
        }
    }
}
