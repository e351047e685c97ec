public import DFUProtocol

/// Where an update stands.
public struct UpdateProgress: Sendable, Hashable {
    /// The stage.
    public var phase: Phase
    /// Bytes that the device has acknowledged, of all parts. It never falls, counts the last byte of a part when the
    /// device has accepted that part, and so reaches `total` only when it has accepted all.
    public var bytes: Int
    /// Bytes of all parts; 0 until they are known.
    public var total: Int
    /// Which part is under way, from 1.
    public var part: Int
    /// How many parts there are.
    public var parts: Int

    /// A snapshot.
    public init(phase: Phase, bytes: Int = 0, total: Int = 0, part: Int = 1, parts: Int = 1) {
        self.phase = phase
        self.bytes = bytes
        self.total = total
        self.part = part
        self.parts = parts
    }

    /// Acknowledged bytes over all bytes: 0 … 1.
    public var fraction: Double { total > 0 ? Double(bytes) / Double(total) : 0 }
}

/// A remark that does not end the update.
public struct UpdateWarning: Sendable, Hashable {
    /// A stable word for machines.
    public var reason: String
    /// One sentence for people.
    public var message: String

    /// A remark.
    public init(reason: String, message: String) {
        self.reason = reason
        self.message = message
    }
}

/// What an update tells while it runs. Calls come one at a time, from any thread, and must not block for long.
public struct UpdateObserver: Sendable {
    /// A new snapshot: at each change of phase, part or acknowledged bytes.
    public var progress: (@Sendable (UpdateProgress) -> Void)?
    /// The device is spoken to at this address from now on: its bootloader's, or its application's again.
    public var address: (@Sendable (String) -> Void)?
    /// A remark that a person should see.
    public var warning: (@Sendable (UpdateWarning) -> Void)?
    /// A line for whoever looks for the cause of trouble.
    public var log: (@Sendable (String) -> Void)?
    /// Every packet.
    public var packet: (@Sendable (ProcedureObserver.Packet) -> Void)?
    /// Who writes the update down.
    public var capture: CaptureRecorder?

    /// An observer of what is not nil.
    public init(
        progress: (@Sendable (UpdateProgress) -> Void)? = nil, warning: (@Sendable (UpdateWarning) -> Void)? = nil,
        log: (@Sendable (String) -> Void)? = nil, packet: (@Sendable (ProcedureObserver.Packet) -> Void)? = nil,
        capture: CaptureRecorder? = nil
    ) {
        self.progress = progress
        self.warning = warning
        self.log = log
        self.packet = packet
        self.capture = capture
    }

    /// An observer whose snapshots come as a stream that keeps the newest only, so that a slow reader is never behind.
    ///
    /// The stream does not end by itself: stop reading when the update has returned.
    public static func stream() -> (observer: UpdateObserver, progress: AsyncStream<UpdateProgress>) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: UpdateProgress.self, bufferingPolicy: .bufferingNewest(1))
        return (UpdateObserver(progress: { continuation.yield($0) }), stream)
    }
}
