import DFUTransport
import TestSupport
import Testing

/// Gives a suite a bus of its own, as `PrivateBus.current`.
struct PrivateBusTrait: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        let bus = try await PrivateBus.start()
        do {
            try await PrivateBus.$current.withValue(bus, operation: function)
        } catch {
            await bus.stop()
            throw error
        }
        await bus.stop()
    }
}

extension Trait where Self == PrivateBusTrait {
    static var privateBus: Self { PrivateBusTrait() }
}

/// Connects to the suite's bus.
func connectToPrivateBus() async throws -> DBusConnection {
    try await DBusConnection.open(#require(PrivateBus.current).address)
}

/// A peer on the suite's bus that answers the calls of one object.
struct TestPeer {
    let connection: DBusConnection
    let name: String
    let calls: AsyncStream<DBusMessage>

    static let interface = "test.Interface"
    static let path = DFUTransportTests.path("/test")

    init() async throws {
        connection = try await connectToPrivateBus()
        name = await connection.uniqueName
        calls = await connection.calls(of: Self.path)
    }

    /// A call of the object.
    func call(_ member: String, _ body: [DBusValue] = []) -> DBusMessage {
        .call(member, of: Self.interface, at: Self.path, destination: name, body: body)
    }

    /// Answers every call with its own arguments.
    func echo() async throws {
        for await call in calls { try await connection.answer(call, with: call.body) }
    }
}
