/// What happened to a procedure.
public enum Event: Sendable, Equatable {
    /// The device sent these bytes.
    case notification([UInt8], from: Endpoint)
    /// The write that `next()` asked for last is done: queued in order (without response) or answered (with response).
    case written
    /// The device or the host's stack refused the write that `next()` asked for last.
    case writeFailed(WriteFailure)
    /// The timer that `next()` asked for last ran out.
    case timeout
    /// The link is gone. No write will be possible again in this procedure.
    case disconnected
    /// The user wants to stop: say goodbye to the device and finish within the protocol's own limits.
    case abort
}

/// Why a write was not accepted.
public struct WriteFailure: Error, Sendable, Equatable {
    /// The ATT error code (Bluetooth Core 5.4, volume 3, part F, 3.4.1.1), where the device named one.
    public var attCode: UInt8?
    /// One sentence for people.
    public var message: String

    /// A failure with the device's ATT error code, or none where the host's own stack refused.
    public init(attCode: UInt8? = nil, message: String) {
        self.attCode = attCode
        self.message = message
    }
}
