package import DFUTransport

/// A simulated device: what it says of itself while it waits for a host, how it behaves towards one, and what BlueZ knows
/// of it from earlier.
package struct AdvertisedDevice: Sendable {
    /// The device, as it is at the beginning.
    package var device: any SimulatedDevice

    // MARK: What is heard of it

    /// The name that it advertises; nil: none.
    package var name: String?
    /// The services that it advertises.
    package var services: [BluetoothUUID]
    /// How strongly it is heard, in dBm.
    package var rssi: Int16 = -60
    /// The kind of its address: `public` or `random`.
    package var addressType = "random"
    /// The first report that brings the name, from 1; those before are without.
    package var firstNamedReport = 1
    /// Whether it is heard at all: not when it is switched off or far away.
    package var isInRange = true

    // MARK: What BlueZ knows from earlier

    /// Whether it has an object from the beginning, heard or not.
    package var isKnown = false
    /// The name that BlueZ goes on showing instead of the advertised one, which is then in AdvertisingData alone.
    package var keptName: String?
    /// Whether another program has connected to it, through the first adapter that is on; it does not advertise then.
    package var isConnected = false
    /// Whether all adapters are paired with it.
    package var isPaired = false
    /// Whether it has lost the keys of that.
    package var hasLostKeys = false

    // MARK: How it behaves

    /// What a connection to it can carry; nil: what the settings say.
    package var radio: RadioModel?
    /// Whether a connection has the interval that the host asks for, not the radio's. The modelled radio has no host that asks.
    package var takesHostsInterval = false
    /// How it is paired; nil: it cannot be, and needs not.
    package var pairing: DevicePairing?
    /// Whether a host that hears it can connect.
    package var isConnectable = true
    /// What becomes of the discovery of its services.
    package var discovery = ServiceDiscovery.succeeds(after: .zero)
    /// How long after the services are resolved they are on the bus.
    package var objectsDelay = Duration.zero

    /// What becomes of the discovery of a device's services.
    package enum ServiceDiscovery: Sendable, Hashable {
        /// They are resolved, so much later than the radio needs for it.
        case succeeds(after: Duration)
        /// Nothing more is heard of it.
        case hangs
        /// The link is lost so many times before it succeeds.
        case losesLink(times: Int)
    }

    /// A device that advertises these services, or its first one.
    package init(_ device: any SimulatedDevice, name: String? = nil, services: [BluetoothUUID]? = nil) {
        self.device = device
        self.name = name
        self.services = services ?? device.services.prefix(1).map(\.uuid)
    }
}
