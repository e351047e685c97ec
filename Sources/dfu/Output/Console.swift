import DFUTransport
private import Dispatch
import FoundationEssentials
private import Glibc

/// The command's stdout and stderr, and the progress line at the bottom of a terminal.
///
/// Lines are written on a queue of their own, in the order in which they came, so that a reader that is slow, stopped
/// or gone never holds up an update.
final class Console: Sendable {
    /// Draws the progress line for so many columns.
    typealias StatusLine = @Sendable (_ width: Int) -> String

    /// Confined to `queue`.
    private final class State: @unchecked Sendable {
        /// What could not be written though somebody wanted it.
        var failure: Failure?
        var logFile: Int32?
        var isOutputClosed = false
        var statusLine: StatusLine?
        /// What stands at the bottom of the terminal.
        var drawn: String?
        var ticker: (any DispatchSourceTimer)?
    }

    private let output: Int32
    private let errors: Int32
    private let queue = DispatchQueue(label: "console")
    private let state = State()
    private let hasLog = Locked(false)
    /// Whether the cursor is hidden; read by the signal thread too.
    private let hidesCursor = Locked(false)

    /// A console over two open files.
    init(output: Int32 = 1, errors: Int32 = 2) {
        self.output = output
        self.errors = errors
    }

    /// A result: one line on stdout.
    func result(_ line: String) {
        queue.async { [self] in
            clearStatusLine()
            guard !state.isOutputClosed else { return }
            if let error = writeAll(line + "\n", to: output) {
                state.isOutputClosed = true
                // Whoever closed the pipe has read enough.
                if error != EPIPE { state.failure = Failure(.output, subject: "stdout", unwritable(error)) }
            }
            drawStatusLine()
        }
    }

    /// Everything else: one line on stderr.
    func report(_ line: String) {
        queue.async { [self] in
            clearStatusLine()
            _ = writeAll(line + "\n", to: errors)
            drawStatusLine()
        }
    }

    /// A line of the log: to the log's file where there is one, and on stderr where it is to be seen.
    func log(_ line: String, isShown: Bool) {
        let time = Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        queue.async { [self] in
            guard let file = state.logFile, let error = writeAll("\(time) \(line)\n", to: file) else { return }
            state.failure = Failure(.output, subject: "the log", unwritable(error))
            close(file)
            state.logFile = nil
        }
        if isShown { report(line) }
    }

    /// Whether there is a file for the log.
    var hasLogFile: Bool { hasLog.withLock(\.self) }

    /// Opens the file that gets the log, behind what it holds already.
    func openLog(_ path: String) throws(Failure) {
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw Failure(.output, subject: path, unwritable(errno)) }
        hasLog.withLock { $0 = true }
        queue.async { [self] in state.logFile = file }
    }

    private func unwritable(_ error: Int32) -> String {
        "cannot be written: \(String(cString: strerror(error)))"
    }

    /// Shows a progress line from now on, drawn again ten times a second; nil takes it away.
    func show(_ line: StatusLine?) {
        queue.async { [self] in
            if line == nil {
                clearStatusLine()
                showCursor()
                state.ticker?.cancel()
                state.ticker = nil
            }
            state.statusLine = line
            guard line != nil, state.ticker == nil else { return }
            hideCursor()
            let ticker = DispatchSource.makeTimerSource(queue: queue)
            ticker.schedule(deadline: .now() + .milliseconds(100), repeating: .milliseconds(100))
            ticker.setEventHandler { [self] in drawStatusLine() }
            ticker.activate()
            state.ticker = ticker
            drawStatusLine()
        }
    }

    /// Waits until all is written.
    ///
    /// - Returns: What was wrong with stdout or the log, where somebody still wanted it.
    func flush() async -> Failure? {
        await withCheckedContinuation { continuation in
            queue.async { [self] in continuation.resume(returning: state.failure) }
        }
    }

    /// Gives the terminal back as it was, at once and from any thread: for a program that stops or leaves.
    func restoreTerminal() {
        showCursor(endingLine: true)
    }

    /// Takes the terminal again after the program was stopped.
    func resumeTerminal() {
        queue.async { [self] in
            if state.statusLine != nil { hideCursor() }
        }
    }

    // MARK: On the queue

    private func clearStatusLine() {
        guard state.drawn != nil else { return }
        _ = writeAll("\r\u{1B}[K", to: errors)
        state.drawn = nil
    }

    private func drawStatusLine() {
        guard let line = state.statusLine?(Terminal.columns(of: errors)), line != state.drawn else { return }
        _ = writeAll("\r\(line)\u{1B}[K", to: errors)
        state.drawn = line
    }

    private func hideCursor() {
        hidesCursor.withLock { isHidden in
            if !isHidden { _ = writeAll("\u{1B}[?25l", to: errors) }
            isHidden = true
        }
    }

    private func showCursor(endingLine: Bool = false) {
        hidesCursor.withLock { isHidden in
            if isHidden { _ = writeAll((endingLine ? "\n" : "") + "\u{1B}[?25h", to: errors) }
            isHidden = false
        }
    }

    /// Writes all of it; the error's number where that cannot be done.
    private func writeAll(_ text: String, to file: Int32) -> Int32? {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            if count >= 0 {
                bytes = bytes.dropFirst(count)
            } else if errno == EAGAIN {
                var waiting = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
                poll(&waiting, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }
}
