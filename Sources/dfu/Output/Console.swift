import DFUTransport
private import Dispatch
import FoundationEssentials
private import Glibc

/// The command's stdout and stderr, and the progress lines at the bottom of a terminal.
///
/// Lines are written on a queue of their own, in the order in which they came, so that a reader that is slow, stopped
/// or gone never holds up an update.
///
/// While there are progress lines, the cursor waits, hidden, where the first of them begins. From there they are erased
/// whole, also when the terminal has become narrower meanwhile and has wrapped them.
final class Console: Sendable {
    /// What a progress line tells now.
    typealias ProgressLine = @Sendable () -> ProgressBar.State

    /// Confined to `queue`.
    private final class State: @unchecked Sendable {
        /// What could not be written though somebody wanted it.
        var failure: Failure?
        var logFile: Int32?
        var isOutputClosed = false
        var lines: [Int: ProgressLine] = [:]
        /// What stands at the bottom of the terminal.
        var drawn: [String] = []
        var ticker: (any DispatchSourceTimer)?
    }

    /// The bottom of the terminal; the signal thread takes it away, too.
    private struct Screen: Sendable {
        /// Whether the cursor is hidden, and waits at the first progress line.
        var isTaken = false
        /// Whether the program is about to stop, and draws nothing any more.
        var isGivenBack = false
    }

    private let output: Int32
    private let errors: Int32
    private let queue = DispatchQueue(label: "console")
    private let state = State()
    private let hasColor: Bool
    private let outputEnd = AsyncStream.makeStream(of: Never.self)
    private let hasLog = Locked(false)
    private let screen = Locked(Screen())

    /// A console over two open files.
    init(output: Int32 = 1, errors: Int32 = 2, hasColor: Bool = false) {
        self.output = output
        self.errors = errors
        self.hasColor = hasColor
    }

    /// A result: one line on stdout.
    func result(_ line: String) {
        output(line + "\n")
    }

    /// Waits until nobody reads stdout any more, or the task is cancelled. To be called once.
    func waitForOutputEnd() async {
        for await _ in outputEnd.stream {}
    }

    /// Text on stdout as it is.
    func output(_ text: String) {
        queue.async { [self] in
            guard !state.isOutputClosed else { return }
            eraseLines()
            if let error = writeAll(text, to: output) {
                state.isOutputClosed = true
                outputEnd.continuation.finish()
                // Whoever closed the pipe has read enough.
                if error != EPIPE { state.failure = Failure(.output, subject: "stdout", unwritable(error)) }
            }
            redraw()
        }
    }

    /// Everything else: one line on stderr.
    func report(_ line: String) {
        queue.async { [self] in
            eraseLines()
            _ = writeAll(line + "\n", to: errors)
            redraw()
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

    /// Shows a progress line from now on, in the order of the places, drawn again ten times a second.
    func show(_ line: @escaping ProgressLine, at place: Int) {
        queue.async { [self] in
            let isKnown = state.lines.updateValue(line, forKey: place) != nil
            if state.ticker == nil { startTicker() }
            if !isKnown { drawLines() }
        }
    }

    /// Takes a progress line away; the cursor comes back with the last of them.
    func hideLine(at place: Int) {
        queue.async { [self] in
            guard state.lines.removeValue(forKey: place) != nil else { return }
            guard state.lines.isEmpty else { return redraw() }
            state.ticker?.cancel()
            state.ticker = nil
            drawLines()
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
        screen.withLock { screen in
            screen.isGivenBack = true
            if screen.isTaken { _ = writeAll(Self.erase + Self.showCursor, to: errors) }
            screen.isTaken = false
        }
    }

    /// Takes the terminal again after the program was stopped.
    func resumeTerminal() {
        screen.withLock { $0.isGivenBack = false }
        drawAnew()
    }

    /// Draws the lines over what the terminal has put there meanwhile: `^C`, or the words of a shell.
    func drawAnew() {
        queue.async { [self] in
            state.drawn = []
            redraw()
        }
    }

    // MARK: On the queue

    private static let erase = "\r\u{1B}[J"
    private static let hideCursor = "\u{1B}[?25l"
    private static let showCursor = "\u{1B}[?25h"

    private func startTicker() {
        let ticker = DispatchSource.makeTimerSource(queue: queue)
        ticker.schedule(deadline: .now() + .milliseconds(100), repeating: .milliseconds(100))
        ticker.setEventHandler { [self] in drawLines() }
        ticker.activate()
        state.ticker = ticker
    }

    private func eraseLines() {
        state.drawn = []
        screen.withLock { screen in
            if screen.isTaken { _ = writeAll(Self.erase, to: errors) }
        }
    }

    /// Draws when all is done that waits for its turn now: once, however many lines have been written.
    private func redraw() {
        guard !state.lines.isEmpty else { return }
        queue.async { [self] in drawLines() }
    }

    /// Draws the lines over those that stand there, or gives the place back where there are none.
    private func drawLines() {
        let size = Terminal.size(of: errors)
        // The row above stays, for the last of the lines that were written.
        let lines = ProgressBar.draw(
            state.lines.sorted { $0.key < $1.key }.map { $0.value() }, width: size.columns,
            height: max(1, size.rows - 1), color: hasColor)
        screen.withLock { screen in
            guard !screen.isGivenBack else { return }
            if lines.isEmpty {
                if screen.isTaken { _ = writeAll(Self.erase + Self.showCursor, to: errors) }
            } else if lines != state.drawn {
                let up = lines.count > 1 ? "\u{1B}[\(lines.count - 1)A" : ""
                let text = lines.joined(separator: "\u{1B}[K\r\n")
                _ = writeAll((screen.isTaken ? "" : Self.hideCursor) + "\r\(text)\u{1B}[J\(up)\r", to: errors)
            }
            screen.isTaken = !lines.isEmpty
        }
        state.drawn = lines
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
