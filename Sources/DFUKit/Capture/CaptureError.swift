/// Why a capture cannot be replayed.
public struct CaptureError: Error, Sendable, Hashable {
    /// A stable word for machines.
    public var reason: String
    /// The line that is at fault, from 1; nil where it is none alone.
    public var line: Int?
    /// One sentence for people, without the name of the file.
    public var message: String

    init(reason: String, line: Int? = nil, message: String) {
        self.reason = reason
        self.line = line
        self.message = message.onOneLine
    }

    /// A line that does not fit the form.
    static func malformed(_ line: Int, _ message: String) -> CaptureError {
        CaptureError(reason: "captureMalformed", line: line, message: message)
    }
}
