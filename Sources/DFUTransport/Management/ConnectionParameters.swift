/// How often two connected devices meet, and how long their link may be silent until it counts as lost.
///
/// The limits are those of Bluetooth Core 5.4, volume 4, part E, 7.8.12.
public struct ConnectionParameters: Sendable, Hashable {
    /// The time between two meetings: the controller chooses one from the least to the most, in steps of 1.25 ms.
    public let interval: ClosedRange<Duration>
    /// How many meetings in a row the device may leave out.
    public let latency: Int
    /// The silence after which the link counts as lost, in steps of 10 ms.
    public let supervisionTimeout: Duration

    /// What an interval may be.
    public static let intervalLimits = Duration.microseconds(7500)...Duration.seconds(4)
    /// What a latency may be.
    public static let latencyLimits = 0...499
    /// What a supervision timeout may be.
    public static let supervisionTimeoutLimits = Duration.milliseconds(100)...Duration.seconds(32)

    /// These parameters; nil where one is beyond its limits or between two steps, or where the link would count as lost
    /// before the device has missed two of the meetings that it has to keep.
    public init?(interval: ClosedRange<Duration>, latency: Int = 0, supervisionTimeout: Duration = .seconds(2)) {
        guard Self.isInterval(interval.lowerBound), Self.isInterval(interval.upperBound),
            Self.latencyLimits.contains(latency), Self.isSupervisionTimeout(supervisionTimeout),
            supervisionTimeout > interval.upperBound * (latency + 1) * 2
        else { return nil }
        self.interval = interval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
    }

    /// What an update by a protocol without a wish of its own goes best with: 11.25 to 15 ms, and 2 s.
    ///
    /// It is the interval that Android gives a link of high priority: what devices are tried with, long enough for a
    /// controller to serve several at once, and not under what older Nordic bootloaders bear (release notes of the nRF5
    /// SDK 6 to 11).
    public static var update: ConnectionParameters {
        guard let parameters = ConnectionParameters(interval: .microseconds(11_250)...(.milliseconds(15))) else {
            preconditionFailure("these are within the limits")
        }
        return parameters
    }

    /// Whether this is a whole number of steps within the limits.
    static func isInterval(_ interval: Duration) -> Bool {
        intervalLimits.contains(interval) && interval == intervalStep * steps(interval, intervalStep)
    }

    /// Whether this is a whole number of steps within the limits.
    static func isSupervisionTimeout(_ timeout: Duration) -> Bool {
        supervisionTimeoutLimits.contains(timeout) && timeout == timeoutStep * steps(timeout, timeoutStep)
    }

    private static let intervalStep = Duration.microseconds(1250)
    private static let timeoutStep = Duration.milliseconds(10)

    private static func steps(_ duration: Duration, _ step: Duration) -> Int { Int((duration / step).rounded()) }
}

extension ConnectionParameters {
    /// The four numbers in the controller's units: least and most interval in 1.25 ms, latency, timeout in 10 ms.
    package var units: [UInt16] {
        [
            Self.steps(interval.lowerBound, Self.intervalStep), Self.steps(interval.upperBound, Self.intervalStep),
            latency, Self.steps(supervisionTimeout, Self.timeoutStep),
        ].map(UInt16.init)
    }

    /// Reads the four numbers in the controller's units; nil where they are no parameters.
    package init?(units: [UInt16]) {
        guard units.count == 4, units[0] <= units[1] else { return nil }
        self.init(
            interval: Self.intervalStep * Int(units[0])...Self.intervalStep * Int(units[1]), latency: Int(units[2]),
            supervisionTimeout: Self.timeoutStep * Int(units[3]))
    }
}

extension ConnectionParameters: CustomStringConvertible {
    /// For people.
    public var description: String {
        func milliseconds(_ duration: Duration) -> String { (duration / .milliseconds(1)).shortest }
        let bounds = [interval.lowerBound, interval.upperBound].map(milliseconds)
        let range = bounds[0] == bounds[1] ? bounds[0] : bounds.joined(separator: " to ")
        return "an interval of \(range) ms, latency \(latency), supervision timeout "
            + "\((supervisionTimeout / .seconds(1)).shortest) s"
    }
}

extension Double {
    /// Without a fraction where it has none.
    fileprivate var shortest: String { Int(exactly: self).map(String.init) ?? String(self) }
}
