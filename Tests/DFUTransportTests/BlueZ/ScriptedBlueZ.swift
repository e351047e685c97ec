import DFUTransport
import TestSupport
import Testing

/// An `org.bluez` on the test's bus that shows objects and tells of changes.
struct ScriptedBlueZ {
    let connection: DBusConnection
    let calls: AsyncStream<DBusMessage>

    static let adapter = "/org/bluez/hci0"
    static let band = "/org/bluez/hci0/dev_C0_11_22_33_44_50"
    static var objects: [String: BlueZSample.Interfaces] {
        [adapter: BlueZSample.adapter(), band: BlueZSample.device("C0:11:22:33:44:50", of: adapter, name: "Band")]
    }

    init() async throws {
        connection = try await connectToPrivateBus()
        calls = await connection.calls(of: .root, withAllBelow: true)
        try #require(try await connection.requestName("org.bluez"))
    }

    /// Tells what has changed of an object.
    func tell(_ path: String, _ interface: String, _ changes: [String: DBusValue]) async throws {
        try await connection.send(BlueZSample.changed(path, interface, changes))
    }

    /// Answers the next call, which is to be this one.
    func answer(_ member: String, _ body: [DBusValue]) async throws {
        try await connection.answer(try await call(member), with: body)
    }

    /// The next call, which is to be this one.
    func call(_ member: String) async throws -> DBusMessage {
        var calls = calls.makeAsyncIterator()
        let call = try #require(await calls.next())
        #expect(call.member == member)
        return call
    }

    /// Answers the next call with an error.
    func refuse(_ error: DBusError) async throws {
        var calls = calls.makeAsyncIterator()
        try await connection.answer(try #require(await calls.next()), with: error)
    }

    /// A daemon that has seen the sample's objects.
    func open() async throws -> BlueZDaemon {
        async let daemon = BlueZDaemon.open(try #require(PrivateBus.current).address)
        try await answer("GetManagedObjects", BlueZSample.managed(Self.objects))
        return try await daemon
    }
}

/// A bus for each test: there is one `org.bluez` on a bus.
extension PrivateBusTrait: TestTrait {}
