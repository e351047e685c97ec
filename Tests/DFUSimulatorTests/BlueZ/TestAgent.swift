import DFUSimulator
import DFUTransport
import TestSupport

/// A client of a `BlueZBench` that answers the questions of BlueZ (`org.bluez.Agent1`).
struct TestAgent {
    let connection: DBusConnection
    private let calls: AsyncStream<DBusMessage>

    static var path: DBusValue { .objectPath(object) }
    private static let object = DBusObjectPath("/agent") ?? .root

    /// Connects and registers.
    static func register(_ capability: String = "KeyboardDisplay", on bench: BlueZBench) async throws -> TestAgent {
        let agent = try await TestAgent(bench)
        try await agent.register(capability, on: bench)
        return agent
    }

    /// Registers the bench's own client, which answers no question.
    static func registerClient(_ capability: String = "KeyboardDisplay", of bench: BlueZBench) async throws {
        try await bench.call("RegisterAgent", [path, .string(capability)], at: "/org/bluez")
    }

    private init(_ bench: BlueZBench) async throws {
        connection = try await DBusConnection.open(bench.bus.address)
        calls = await connection.calls(of: Self.object)
    }

    private func register(_ capability: String, on bench: BlueZBench) async throws {
        try await bench.call(
            "RegisterAgent", [Self.path, .string(capability)], at: "/org/bluez", by: connection)
    }

    /// The next question, without the device; what comes after it is answered later.
    func question() async -> DBusMessage? {
        for await call in calls { return call }
        return nil
    }

    /// Answers the next question, and gives its text such as `RequestPasskey`.
    @discardableResult
    func answer(with body: [DBusValue] = []) async throws -> String? {
        guard let call = await question() else { return nil }
        try await connection.answer(call, with: body)
        return Self.text(of: call)
    }

    /// Says no to the next question.
    @discardableResult
    func reject() async throws -> String? {
        guard let call = await question() else { return nil }
        try await connection.answer(
            call, with: DBusError(name: "org.bluez.Error.Rejected", message: "Rejected"))
        return Self.text(of: call)
    }

    /// The method and the numbers that were handed over.
    static func text(of call: DBusMessage) -> String {
        let numbers = call.body.compactMap { value in
            switch value {
            case .uint32(let number): "\(number)"
            case .uint16(let number): "\(number)"
            default: nil
            }
        }
        return ([call.member ?? ""] + numbers).joined(separator: " ")
    }
}
