import DFUSimulator
import DFUTransport

/// A device to be updated: what it is called, and how it is reached.
protocol TargetDevice: Sendable {
    /// What it is called in JSON and in messages for the whole run.
    var device: String { get }
    /// Its address, as the transport writes it.
    var address: String { get }
    /// How it is reached; several devices may share one.
    var transport: any Transport { get }
    /// The world that it lives in; nil where its time is the wall clock's.
    var world: VirtualTime? { get }

    /// Puts down what is kept of the device; the update is over, however it ended.
    func finish() throws(Failure)
}

extension TargetDevice {
    /// The clock of its time.
    var clock: any Clock<Duration> {
        if let world { world } else { ContinuousClock() }
    }

    /// Runs `body` in the device's time.
    func run<Success: Sendable, Trouble: Error>(
        _ body: @Sendable @concurrent () async throws(Trouble) -> Success
    ) async throws(Trouble) -> Success {
        guard let world else { return try await body() }
        return try await world.run(body)
    }
}
