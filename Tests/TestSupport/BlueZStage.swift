package import DFUSimulator
package import DFUTransport

/// A bus of a test's own with a simulated BlueZ on it, for a `BlueZTransport`.
package struct BlueZStage: Sendable {
    /// The bus.
    package let bus: PrivateBus
    /// What is on it.
    package let blueZ: SimulatedBlueZ
    /// The connection by which it is, for what a test has BlueZ say besides.
    package let connection: DBusConnection

    /// Runs `body` while the bus is there.
    ///
    /// - Parameter observer: Is told each event, with the device as it is after it, and must not block.
    package static func run<Result: Sendable>(
        adapters: [SimulatedAdapter] = [SimulatedAdapter()], devices: [AdvertisedDevice],
        settings: BlueZSettings = .quick,
        observer: (@Sendable (SimulatedEvent, any SimulatedDevice) -> Void)? = nil,
        _ body: (BlueZStage) async throws -> Result
    ) async throws -> Result {
        let bus = try await PrivateBus.start()
        do {
            let connection = try await DBusConnection.open(bus.address)
            let blueZ = SimulatedBlueZ(
                on: connection, adapters: adapters, devices: devices, settings: settings, observer: observer)
            try await blueZ.start()
            let result = try await body(BlueZStage(bus: bus, blueZ: blueZ, connection: connection))
            // As long as it is held, it has its name.
            withExtendedLifetime(blueZ) {}
            await bus.stop()
            return result
        } catch {
            await bus.stop()
            throw error
        }
    }

    /// Opens a transport over this BlueZ.
    package func transport(
        _ adjust: (inout BlueZTransport.Options) -> Void = { _ in }
    ) async throws(TransportError) -> BlueZTransport {
        var options = BlueZTransport.Options()
        options.busAddress = bus.address
        // What this machine's own adapters are kept off by is of no concern.
        options.switches = "/nonexistent"
        adjust(&options)
        return try await BlueZTransport(options)
    }

    /// Another program on the bus, which calls a method of BlueZ's.
    package func call(
        _ member: String, _ body: [DBusValue] = [], of interface: String, at path: String, by program: DBusConnection
    ) async throws(DBusError) {
        guard let path = DBusObjectPath(path) else { preconditionFailure("\(path) is no path") }
        _ = try await program.call(
            .call(member, of: interface, at: path, destination: SimulatedBlueZ.name, body: body))
    }

    /// Runs `body`, and gives the calls of BlueZ's methods that were made meanwhile, in their order.
    package func noteCalls<Result: Sendable>(
        _ body: () async throws -> Result
    ) async throws -> (result: Result, calls: [DBusMessage]) {
        let spy = try await DBusConnection.open(bus.address)
        let heard = await spy.calls(of: .root, withAllBelow: true)
        _ = try await spy.call(
            .call(
                "AddMatch", of: DBusConnection.busName, at: DBusConnection.busPath,
                destination: DBusConnection.busName,
                body: [.string("type='method_call',destination='\(SimulatedBlueZ.name)',eavesdrop='true'")]))
        let result = try await body()
        // What the bus has passed on before, the spy has heard with the answer to this; unless the bus is gone.
        _ = try? await spy.call(
            .call(
                "GetId", of: DBusConnection.busName, at: DBusConnection.busPath, destination: DBusConnection.busName))
        await spy.close()
        var calls: [DBusMessage] = []
        for await call in heard { calls.append(call) }
        return (result, calls)
    }
}

extension BlueZSettings {
    /// A BlueZ, and a radio, that do not keep a test waiting.
    package static var quick: BlueZSettings {
        var settings = BlueZSettings()
        settings.radio = settings.radio.quick
        settings.disconnectDelay = .zero
        settings.pairingTimeout = .milliseconds(50)
        return settings
    }
}

extension RadioModel {
    /// This radio with as much going on as a machine can follow.
    package var quick: RadioModel {
        var radio = self
        radio.interval = .microseconds(200)
        radio.phy = .le2M
        radio.advertisingInterval = .milliseconds(5)
        radio.supervisionTimeout = .milliseconds(50)
        return radio
    }
}
