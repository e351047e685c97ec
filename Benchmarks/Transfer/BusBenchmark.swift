import DFUTransport
private import Glibc
import TestSupport

/// What asking the bus itself costs, one question after the other.
struct BusBenchmark {
    let wall: Duration
    /// The time of this process's processors.
    let processor: Duration

    init(of count: Int) async throws {
        let bus = try await PrivateBus.start()
        let connection = try await DBusConnection.open(bus.address)
        let call = DBusMessage.call(
            "GetId", of: DBusConnection.busName, at: DBusConnection.busPath, destination: DBusConnection.busName)
        for _ in 0..<100 { _ = try await connection.call(call) }
        let (begin, spent) = (ContinuousClock.now, Self.processorTime)
        for _ in 0..<count { _ = try await connection.call(call) }
        wall = begin.duration(to: .now)
        processor = Self.processorTime - spent
        await connection.close()
        await bus.stop()
    }

    private static var processorTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
