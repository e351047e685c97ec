public import DFUTransport

/// What a simulated device says of itself while it waits for a host.
public struct DeviceAdvertisement: Sendable, Hashable {
    /// The address that it is heard at.
    public var address: String
    /// The name; nil: none, or what whoever puts the device on the air says.
    public var name: String?
    /// The services; nil: what whoever puts the device on the air says.
    public var services: [BluetoothUUID]?

    /// An advertisement at this address.
    public init(address: String, name: String? = nil, services: [BluetoothUUID]? = nil) {
        self.address = address
        self.name = name
        self.services = services
    }
}
