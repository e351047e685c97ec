private import CLinux
import DFUTransport
private import Glibc

/// The signals that stop the command, and the thread that waits for them and for the end of the work.
///
/// That thread is the program's first: what is blocked there before another one starts is blocked in all, and no handler
/// ever runs. (An asynchronous `main` would not do: libdispatch parks the first thread with all signals open.)
final class SignalWatch: Sendable {
    /// How long the work may take to end after the first signal.
    private static let patience: Int32 = 4000

    private static let watched = [SIGHUP, SIGINT, SIGTERM, SIGTSTP]

    private let signals: Int32
    private let endings: (read: Int32, write: Int32)
    private let status = Locked<ExitStatus>(.internal)
    private let received = Locked<ExitStatus?>(nil)

    /// Blocks the signals, for the calling thread and all that it starts.
    ///
    /// A signal that whoever started the program had switched off (`nohup`, a shell's `&`) stays switched off.
    init() {
        // A closed pipe is an error of the write, and no reason to drop a device in the middle of an update.
        signal(SIGPIPE, SIG_IGN)
        var set = sigset_t()
        sigemptyset(&set)
        for number in Self.watched where !Self.isIgnored(number) {
            sigaddset(&set, number)
        }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        signals = signalfd(-1, &set, Int32(SFD_CLOEXEC))
        var pipes: [Int32] = [-1, -1]
        precondition(signals >= 0 && pipe(&pipes) == 0, "no file descriptors for the signals")
        endings = (pipes[0], pipes[1])
    }

    /// The status that the first signal asks for; nil while there was none.
    var interruption: ExitStatus? { received.withLock(\.self) }

    /// Tells that the work has ended.
    func end(_ status: ExitStatus) {
        self.status.withLock { $0 = status }
        close(endings.write)
    }

    /// Waits for the end of the work, or for signals; only for the thread that made the watch.
    ///
    /// - Parameter cancel: Asks the work to end; called at the first signal. The second ends the program at once.
    func wait(console: Console, cancel: () -> Void) -> ExitStatus {
        while true {
            var waiting = [
                pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
                pollfd(fd: endings.read, events: Int16(POLLIN), revents: 0),
            ]
            let count = poll(&waiting, 2, interruption == nil ? -1 : Self.patience)
            if count < 0, errno == EINTR { continue }
            if waiting[1].revents != 0 { return status.withLock(\.self) }
            if count == 0, let interruption {
                leave(
                    interruption, console,
                    "stopped, but the work did not end within 4 s; the device may not have been told")
            }
            guard let number = readSignal() else { continue }
            if number == SIGTSTP {
                stop(console)
            } else if let interruption {
                leave(interruption, console, "stopped at once; the device may not have been told")
            } else {
                received.withLock { $0 = ExitStatus(rawValue: 128 + number) }
                cancel()
                console.drawAnew()
            }
        }
    }

    /// Ends the program without waiting for anything.
    private func leave(_ status: ExitStatus, _ console: Console, _ message: String) -> Never {
        console.restoreTerminal()
        let line = Array((Failure(status, message).line + "\n").utf8)
        _ = write(STDERR_FILENO, line, line.count)
        _exit(status.rawValue)
    }

    /// Stops the program as Ctrl-Z wants, and goes on when it is continued.
    private func stop(_ console: Console) {
        console.restoreTerminal()
        kill(getpid(), SIGSTOP)
        console.resumeTerminal()
    }

    private func readSignal() -> Int32? {
        var information = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        guard read(signals, &information, size) == size else { return nil }
        return Int32(information.ssi_signo)
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        sigaction(number, nil, &action)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
