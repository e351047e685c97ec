package import DFUSimulator
private import DFUTransport
private import Glibc
package import Testing

/// The lab's guest: the real BlueZ, and an emulated radio (`Tests/lab`).
package enum Lab {
    /// The socket of the radio; nil outside of the guest.
    package static let radio: String? = getenv("DFU_RADIO").map { String(cString: $0) }

    /// Puts devices on the air, of which BlueZ knows nothing yet, and runs `body` while they are there.
    ///
    /// - Parameters:
    ///   - radio: What a connection carries.
    ///   - observer: Is told each event, with the device as it is after it, and must not block.
    package static func run<Result: Sendable>(
        _ devices: [AdvertisedDevice], radio: RadioModel = .lab,
        observer: EmulatedRadio.Observer? = nil, _ body: (EmulatedRadio) async throws -> Result
    ) async throws -> Result {
        guard let socket = Self.radio else { preconditionFailure("this is not the lab's guest") }
        for device in devices { try await forget(device.device.address) }
        let air = try EmulatedRadio(socket: socket, devices: devices, radio: radio, observer: observer)
        do {
            try await air.start()
            let result = try await body(air)
            await air.close()
            return result
        } catch {
            await air.close()
            throw error
        }
    }

    /// Has BlueZ forget a device, on all its adapters.
    package static func forget(_ address: String) async throws {
        let bus = try await DBusConnection.open()
        let objects = try await bus.call(
            .call("GetManagedObjects", of: "org.freedesktop.DBus.ObjectManager", at: .root, destination: "org.bluez"))
        let known = BlueZObjectTree(managedObjects: objects.body)?.devices() ?? []
        for device in known where device.address == address {
            _ = try await bus.call(
                .call(
                    "RemoveDevice", of: "org.bluez.Adapter1", at: device.adapter, destination: "org.bluez",
                    body: [.objectPath(device.path)]))
        }
        await bus.close()
    }
}

extension RadioModel {
    /// A link as Linux makes it with a device of today.
    package static var lab: RadioModel { RadioModel(dataLength: 251, mtu: 247, packetsPerEvent: 6) }
}

extension Trait where Self == ConditionTrait {
    /// For the lab's guest alone.
    package static var lab: Self { .enabled(if: Lab.radio != nil, "it needs the real BlueZ: make lab-test") }
}
