package import DFUTransport

/// A simulated device, and what it says of itself while it waits for a host.
package struct AdvertisedDevice: Sendable {
    /// The device, as it is at the beginning.
    package var device: any SimulatedDevice
    /// The name that it advertises; nil: none.
    package var name: String?
    /// The services that it advertises.
    package var services: [BluetoothUUID]
    /// How strongly it is heard, in dBm.
    package var rssi: Int16 = -60
    /// The kind of its address: `public` or `random`.
    package var addressType = "random"

    /// A device that advertises these services, or its first one.
    package init(_ device: any SimulatedDevice, name: String? = nil, services: [BluetoothUUID]? = nil) {
        self.device = device
        self.name = name
        self.services = services ?? device.services.prefix(1).map(\.uuid)
    }
}
