package import DFUSimulator
package import DFUTransport

/// A bus of a test's own with a simulated BlueZ on it, for a `BlueZTransport`.
package struct BlueZStage: Sendable {
    /// The bus.
    package let bus: PrivateBus
    /// What is on it.
    package let blueZ: SimulatedBlueZ

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
            let blueZ = SimulatedBlueZ(
                on: try await DBusConnection.open(bus.address), adapters: adapters, devices: devices,
                settings: settings, observer: observer)
            try await blueZ.start()
            let result = try await body(BlueZStage(bus: bus, blueZ: blueZ))
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
        adjust(&options)
        return try await BlueZTransport(options)
    }
}

extension BlueZSettings {
    /// A BlueZ, and a radio, that do not keep a test waiting.
    package static var quick: BlueZSettings {
        var settings = BlueZSettings()
        settings.radio = settings.radio.quick
        settings.disconnectDelay = .zero
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
