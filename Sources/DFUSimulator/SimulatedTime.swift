/// The time that simulated devices and their radio live in.
public enum SimulatedTime: Sendable {
    /// The wall clock's.
    case real
    /// A world of its own.
    case virtual(VirtualTime)

    /// The clock that goes with it.
    public var clock: any Clock<Duration> {
        switch self {
        case .real: ContinuousClock()
        case .virtual(let time): time
        }
    }

    /// Where the tasks of the simulation run; nil for wherever.
    var executor: (any TaskExecutor)? {
        switch self {
        case .real: nil
        case .virtual(let time): time
        }
    }

    /// The time since some moment in the past, always the same one.
    var now: Duration {
        switch self {
        case .real: ContinuousClock().systemEpoch.duration(to: .now)
        case .virtual(let time): time.now.sinceStart
        }
    }

    /// Sleeps until `moment` by the count of `now`.
    func sleep(until moment: Duration) async throws {
        switch self {
        case .real:
            let clock = ContinuousClock()
            try await clock.sleep(until: clock.systemEpoch.advanced(by: moment), tolerance: .zero)
        case .virtual(let time):
            try await time.sleep(until: VirtualTime.Instant(sinceStart: moment))
        }
    }
}
