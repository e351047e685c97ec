public import DFUProtocol
public import DFUTransport

/// Whoever looks on while a procedure is driven. What is nil costs nothing.
///
/// All are called from the driving task, one at a time, in the order of what happened, and must not block.
public struct ProcedureObserver: Sendable {
    /// A packet on its way.
    public enum Packet: Sendable, Hashable {
        /// The host hands it to the link.
        case written([UInt8], to: Endpoint)
        /// The device has sent it.
        case received([UInt8], from: Endpoint)
    }

    /// Told the stage and how far it is: once at the start, then whenever either has changed.
    public var progress: (@Sendable (Phase, Progress) -> Void)?
    /// Told each line that the procedure logs. Without it the lines stay in the procedure.
    public var log: (@Sendable (String) -> Void)?
    /// Told each packet.
    public var packet: (@Sendable (Packet) -> Void)?
    /// Told why a write failed, before the procedure is.
    public var writeFailure: (@Sendable (TransportError) -> Void)?

    /// Nobody, or whoever is given.
    public init(
        progress: (@Sendable (Phase, Progress) -> Void)? = nil, log: (@Sendable (String) -> Void)? = nil,
        packet: (@Sendable (Packet) -> Void)? = nil, writeFailure: (@Sendable (TransportError) -> Void)? = nil
    ) {
        self.progress = progress
        self.log = log
        self.packet = packet
        self.writeFailure = writeFailure
    }
}
