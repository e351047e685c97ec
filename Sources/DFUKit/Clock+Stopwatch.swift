extension Clock where Duration == Swift.Duration {
    /// Starts to measure: the closure tells how much time has passed since this call.
    func stopwatch() -> @Sendable () -> Duration {
        let start = now
        return { start.duration(to: now) }
    }
}
