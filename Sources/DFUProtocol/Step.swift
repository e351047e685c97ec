/// What a procedure wants done next.
public enum Step<Outcome: Sendable>: Sendable {
    /// Write these bytes as one packet; the driver answers with `.written`, `.writeFailed` or `.disconnected`.
    case write([UInt8], to: Endpoint)
    /// Do nothing until an event comes; the driver answers with `.timeout` when the timer runs out.
    case wait(WaitTimer)
    /// The procedure is over. Asking again gives the same answer.
    case finish(Result<Outcome, ProcedureError>)
}

extension Step: Equatable where Outcome: Equatable {}

/// A limit on one wait.
///
/// The timer starts when a driver first meets its `id`, and runs on while the procedure goes on asking for the same
/// `id`: so an event that the procedure drops does not lengthen the wait. A new `id` is a new timer.
public struct WaitTimer: Sendable, Hashable {
    /// Tells this wait from the procedure's earlier ones.
    public var id: Int
    /// How long from the moment the driver first sees the `id`.
    public var duration: Duration

    /// A wait of `duration` under a number that the procedure has not used before.
    public init(id: Int, duration: Duration) {
        self.id = id
        self.duration = duration
    }
}
