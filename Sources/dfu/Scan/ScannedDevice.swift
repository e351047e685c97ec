import DFUTransport

/// A device as `dfu scan` tells of it.
struct ScannedDevice: Encodable, Equatable {
    var address: String
    var addressType: String
    var name: String?
    /// How strong it was heard, in dBm; nil: not in this scan.
    var rssi: Int?
    var connected: Bool
    var bonded: Bool
    /// Whether it is neither heard nor connected, but known from earlier.
    var cached: Bool
    /// The services that it advertises, or has.
    var services: [BluetoothUUID]
    /// What those let expect.
    var protocols: [UpdateProtocol]

    /// What is between it and other machines, in words.
    var state: String {
        let parts = [
            connected ? "connected" : nil, bonded ? "bonded" : cached ? "cached" : nil, cached ? "not heard" : nil,
        ]
        return parts.compactMap(\.self).joined(separator: ", ")
    }

    /// Whether something else than a small change of its strength tells the two apart.
    func differsNotably(from earlier: ScannedDevice) -> Bool {
        var levelled = self
        levelled.rssi = earlier.rssi
        guard levelled == earlier, let rssi, let before = earlier.rssi else {
            return levelled != earlier || (rssi == nil) != (earlier.rssi == nil)
        }
        return abs(rssi - before) >= 10
    }

    /// The strongest first; then what is connected, then what is only known.
    static func order(_ first: ScannedDevice, _ second: ScannedDevice) -> Bool {
        func key(_ device: ScannedDevice) -> (Int, Int) { (device.cached ? 1 : 0, -(device.rssi ?? -999)) }
        return key(first) == key(second) ? first.address < second.address : key(first) < key(second)
    }

    private enum Key: String, CodingKey {
        case address, addressType, name, rssi, connected, bonded, cached, services, protocols
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(address, forKey: .address)
        try container.encode(addressType, forKey: .addressType)
        try container.encode(name, forKey: .name)
        try container.encode(rssi, forKey: .rssi)
        try container.encode(connected, forKey: .connected)
        try container.encode(bonded, forKey: .bonded)
        try container.encode(cached, forKey: .cached)
        try container.encode(services.map(\.description), forKey: .services)
        try container.encode(protocols, forKey: .protocols)
    }
}

extension ScannedDevice {
    /// A device as BlueZ shows it; `profile` is that of the block-ack devices.
    init(_ device: BlueZDevice, profile: DeviceProfile) {
        address = device.address
        addressType = device.addressType
        name = device.advertisedName ?? device.name
        rssi = device.signalStrength
        connected = device.isConnected
        bonded = device.isBonded
        cached = !device.isHeard && !device.isConnected
        services = device.services
        protocols = UpdateProtocol.hints(in: device.services, profile: profile)
    }
}
