/// The time of a run, from its beginning to the limit that the user set.
struct RunTime: Sendable {
    private let start = ContinuousClock.now
    /// The limit of the whole; nil where there is none.
    let limit: Duration?

    /// A run that begins now.
    init(limit: Duration?) {
        self.limit = limit
    }

    /// How long it has been under way.
    var elapsed: Duration { start.duration(to: .now) }

    /// What is left of the limit, never negative; nil where there is none.
    var left: Duration? { limit.map { max($0 - elapsed, .zero) } }
}
