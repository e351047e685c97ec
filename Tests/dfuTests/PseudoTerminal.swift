import CLinux
import Glibc

/// A program on a terminal without a window.
final class PseudoTerminal {
    // ioctl_tty(2): TIOCSPTLCK and TIOCGPTPEER, which glibc's own functions do not open with O_CLOEXEC.
    private static let setLock: UInt = 0x4004_5431
    private static let getPeer: UInt = 0x5441

    private let columns: Int
    private let rows: Int
    private let master: Int32
    private let child: pid_t
    private var bytes: [UInt8] = []

    /// Runs `program` with the terminal as stdin, stdout and stderr.
    init(_ program: BuiltProgram, columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var isLocked: Int32 = 0
        precondition(ioctl(master, Self.setLock, &isLocked) == 0, "no pseudoterminal")
        let end = ioctl(master, Self.getPeer, O_RDWR | O_NOCTTY | O_CLOEXEC)
        var size = winsize()
        size.ws_col = UInt16(columns)
        size.ws_row = UInt16(rows)
        precondition(ioctl(end, UInt(TIOCSWINSZ), &size) == 0, "the pseudoterminal cannot be opened")
        var program = program
        program.environment.append("TERM=xterm")
        child = program.spawn(output: end, errors: end, input: end)
        close(end)
    }

    deinit {
        close(master)
    }

    /// All that the program wrote.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// What the terminal shows now.
    var screen: TerminalScreen {
        var screen = TerminalScreen(columns: columns, rows: rows)
        screen.write(text)
        return screen
    }

    /// Types a line.
    func type(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        precondition(write(master, bytes, bytes.count) == bytes.count, "the pseudoterminal takes nothing")
    }

    /// Sends the program a signal.
    func signal(_ number: Int32) {
        kill(child, number)
    }

    /// Reads up to a place that ends in this text; false where the program ends before.
    func wait(for text: String) -> Bool {
        let pattern = Array(text.utf8)
        while let byte = nextByte() {
            bytes.append(byte)
            if bytes.suffix(pattern.count) == pattern[...] { return true }
        }
        return false
    }

    /// Waits until a signal has stopped the program.
    func waitForStop() -> Bool {
        var status: Int32 = 0
        while waitpid(child, &status, WUNTRACED) < 0, errno == EINTR {}
        return status & 0xFF == 0x7F
    }

    /// Reads to the program's end, and gives its status.
    func end() -> Int32 {
        while let byte = nextByte() { bytes.append(byte) }
        return BuiltProgram.wait(for: child)
    }

    private func nextByte() -> UInt8? {
        var byte: UInt8 = 0
        while true {
            let count = read(master, &byte, 1)
            if count == 1 { return byte }
            // Once the program has closed the terminal, reading fails.
            guard count < 0, errno == EINTR else { return nil }
        }
    }
}
