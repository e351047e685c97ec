/// What can be said of an update before it is begun.
public struct UpdateForecast: Sendable, Hashable {
    /// What a point is about.
    public enum Subject: String, Sendable, Hashable, CaseIterable {
        /// Whether the package goes by what the device speaks.
        case `protocol`
        /// Whether it is in its application or in its bootloader.
        case mode
        /// What runs now.
        case version
        case battery
        /// Whether the package is sound.
        case package
        /// A part that would be sent.
        case part
        case signature
        case hardware, softdevice, firmwareVersion
        /// How much the device takes at once.
        case objectSize
        /// What the device has of an update that did not end.
        case interrupted
    }

    /// How a point stands.
    public enum Verdict: String, Sendable, Hashable {
        /// It does not stand in the way.
        case fits
        /// The update would fail by it.
        case fails
        /// It cannot be known before the update.
        case unknown
    }

    /// One thing that decides on an update.
    public struct Point: Sendable, Hashable {
        /// What it is about.
        public var subject: Subject
        /// How it stands.
        public var verdict: Verdict
        /// What is known, for people.
        public var message: String
        /// As what the update would end; nil where it does not fail by this.
        public var code: UpdateError.Code?
        /// The stable word for why, where it fails.
        public var reason: String?
    }

    /// The protocol that an update would go by; nil where there is none.
    public var protocolName: String?
    /// The version that the device says it runs, where it was read.
    public var version: String?
    /// The battery's percent, where the device told it.
    public var battery: Int?
    /// All that is known or cannot be, in the order in which an update would meet it.
    public var points: [Point] = []

    /// What an update would fail by first.
    public var obstacle: Point? { points.first { $0.verdict == .fails } }

    mutating func note(_ subject: Subject, _ message: String) {
        points.append(Point(subject: subject, verdict: .fits, message: message))
    }

    mutating func noteUnknown(_ subject: Subject, _ message: String) {
        points.append(Point(subject: subject, verdict: .unknown, message: message))
    }

    mutating func noteFailure(_ subject: Subject, _ error: UpdateError) {
        points.append(
            Point(
                subject: subject, verdict: .fails, message: error.message, code: error.code,
                reason: error.reason ?? error.code.rawValue))
    }
}
