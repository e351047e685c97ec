/// One conversation with a device, as a value: no I/O, no clock, no waiting.
///
/// A driver repeats: ask `next()`, do what it says, tell `receive(_:)` what happened. `next()` is idempotent: without an
/// event between two calls, both give the same answer. After `.finish` every event is ignored.
///
/// A peer's mistake ends in `.finish(.failure)` or is dropped and logged; a driver's mistake (for instance `.written`
/// when no write was asked for) is a trap.
public protocol Procedure: Sendable {
    /// What a good end hands over.
    associatedtype Outcome: Sendable

    /// What to do now.
    mutating func next() -> Step<Outcome>

    /// Takes note of what happened.
    mutating func receive(_ event: Event)

    /// The stage that the procedure is in.
    var phase: Phase { get }

    /// How far the transfer is, by what the device has acknowledged.
    var progress: Progress { get }

    /// Takes the lines that were logged since the last call, oldest first.
    mutating func takeLog() -> [String]
}

extension Procedure {
    /// No bytes to count: a procedure that transfers nothing.
    public var progress: Progress { Progress(bytes: 0, total: 0) }

    /// Nothing was logged.
    public mutating func takeLog() -> [String] { [] }
}

/// How much of a transfer the device has acknowledged.
public struct Progress: Sendable, Hashable {
    /// Acknowledged bytes; never more than `total`, and never less than in an earlier reading of the same procedure.
    public var bytes: Int
    /// Bytes to send in all; 0 where nothing is transferred.
    public var total: Int

    /// A reading.
    public init(bytes: Int, total: Int) {
        self.bytes = bytes
        self.total = total
    }
}
