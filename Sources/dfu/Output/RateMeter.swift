/// How fast bytes are acknowledged, over the last seconds.
struct RateMeter: Sendable {
    private struct Sample {
        var time: Duration
        var bytes: Int
    }

    /// Long enough that the slow blocks of an unknown device still make a steady number.
    private static let window = Duration.seconds(10)
    private var samples: [Sample] = []

    /// Notes how many bytes are acknowledged at `time`.
    mutating func note(_ bytes: Int, at time: Duration) {
        guard samples.last?.bytes != bytes else { return }
        samples.append(Sample(time: time, bytes: bytes))
        // One sample at or before the window's begin stays, so that the window is always covered.
        while samples.count > 2, samples[1].time <= time - Self.window {
            samples.removeFirst()
        }
    }

    /// Forgets all: after a pause, what was before says nothing.
    mutating func reset() {
        samples = []
    }

    /// Bytes a second at `time`; nil while there is too little to tell.
    ///
    /// Between two samples the number stands still; when the next one is later than any so far, it falls.
    func rate(at time: Duration) -> Double? {
        guard samples.count > 1, let first = samples.first, let last = samples.last else { return nil }
        let longestGap = zip(samples, samples.dropFirst()).map { $1.time - $0.time }.max() ?? .zero
        let elapsed = max(last.time, time - longestGap) - first.time
        guard elapsed > .zero else { return nil }
        return Double(last.bytes - first.bytes) / (elapsed / .seconds(1))
    }
}
