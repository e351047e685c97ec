/// Waits for the device to drop the link, as one that reboots does.
public struct Disconnection: Procedure {
    private var end: Result<Bool, ProcedureError>?
    /// How long it waits at most.
    package let limit: Duration

    /// A wait of at most `limit`.
    public init(limit: Duration) {
        self.limit = limit
    }

    /// The device is looked at.
    public var phase: Phase { .confirm }

    /// Waits; the outcome is whether the link went down within the limit.
    public mutating func next() -> Step<Bool> {
        end.map { .finish($0) } ?? .wait(WaitTimer(id: 0, duration: limit))
    }

    /// A disconnection, a timeout or an abort ends the wait.
    public mutating func receive(_ event: Event) {
        guard end == nil else { return }
        switch event {
        case .disconnected: end = .success(true)
        case .timeout: end = .success(false)
        case .abort: end = .failure(ProcedureError(.aborted, message: "stopped"))
        case .notification: break
        case .written, .writeFailed: preconditionFailure("nothing was written")
        }
    }
}
