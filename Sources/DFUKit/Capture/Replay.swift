/// What came of playing a capture against the procedures.
public struct Replay: Sendable, Hashable {
    /// The first place where a procedure does something else.
    public struct Difference: Sendable, Hashable {
        /// The line of the capture, from 1.
        public var line: Int
        /// What stands there.
        public var captured: String
        /// What the procedure does, in the same form.
        public var procedure: String
    }

    /// Packets that were written as captured.
    public internal(set) var writes = 0
    /// Packets of the device that were played.
    public internal(set) var answers = 0
    /// Connections.
    public internal(set) var links = 0
    /// The first difference; nil where there is none.
    public internal(set) var difference: Difference?
    /// How the update ended, as captured: `ok - updated`. Nil where the capture stops before.
    public internal(set) var result: String?
    /// How it ended, in words, where the capture has them.
    public internal(set) var resultMessage: String?
    /// What the procedure would do next, where the capture stops in it.
    public internal(set) var next: String?
}
