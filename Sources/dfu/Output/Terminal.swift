private import CLinux
private import Glibc

/// What the place where stderr goes can show.
struct Terminal: Sendable {
    /// Whether a line can be redrawn in place.
    var isRedrawable: Bool
    var hasColor: Bool
    /// Whether stdout goes to a terminal too.
    var isSharedWithOutput: Bool

    /// Judges stderr by what it is and by `TERM` and `NO_COLOR` (no-color.org).
    init(environment: [String: String]) {
        let isTerminal = isatty(STDERR_FILENO) == 1
        let isDumb = ["dumb", ""].contains(environment["TERM"] ?? "")
        isRedrawable = isTerminal && !isDumb
        isSharedWithOutput = isatty(STDOUT_FILENO) == 1
        hasColor = isRedrawable && (environment["NO_COLOR"] ?? "").isEmpty
    }

    /// The columns that help may take: those of the terminal on stdout, within what is good to read.
    static var helpWidth: Int { min(max(size(of: STDOUT_FILENO).columns, 20), 100) }

    /// Whether stdout goes to a terminal.
    static var isOutputTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// The columns and rows of the terminal on stdout now; 80 and 24 where it does not say.
    static var outputSize: (columns: Int, rows: Int) { size(of: STDOUT_FILENO) }

    /// The columns and rows of a file now; 80 and 24 where it is no terminal, or does not say.
    static func size(of file: Int32) -> (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(file, UInt(TIOCGWINSZ), &size) == 0 else { return (80, 24) }
        return (size.ws_col > 0 ? Int(size.ws_col) : 80, size.ws_row > 0 ? Int(size.ws_row) : 24)
    }
}
