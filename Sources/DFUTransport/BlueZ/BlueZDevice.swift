/// A device as BlueZ shows it through one adapter (`org.bluez.Device1`).
package struct BlueZDevice: Sendable, Equatable {
    /// Its object.
    package var path: DBusObjectPath
    /// The object of the adapter that heard it.
    package var adapter: DBusObjectPath
    /// Its address, in upper case.
    package var address: String
    /// `public` or `random`.
    package var addressType: String
    /// Its name as BlueZ last learnt it, from an advertisement or over a link; nil: none yet.
    package var name: String?
    /// What this machine calls it: its name, unless somebody gave it another; made of the address where there is none.
    package var alias: String?
    /// The name in its latest advertisement. Only a BlueZ with experimental interfaces tells.
    package var advertisedName: String?
    /// How strong it was heard, in dBm; nil: not heard in the scan that runs or was the last.
    package var signalStrength: Int?
    /// Whether it is paired.
    package var isPaired: Bool
    /// Whether keys are kept for it. BlueZ tells since 5.65; before, it is what `isPaired` is.
    package var isBonded: Bool
    /// Whether it is connected.
    package var isConnected: Bool
    /// Whether its services are known, and on the bus.
    package var areServicesResolved: Bool
    /// The services it advertises, or has.
    package var services: [BluetoothUUID]

    /// Whether it was heard in the scan that runs or was the last.
    package var isHeard: Bool { signalStrength != nil }
}

extension BlueZObjectTree {
    /// The devices, in the order of their paths: all of them, or those of one adapter.
    package func devices(of adapter: DBusObjectPath = .root) -> [BlueZDevice] {
        paths(with: BlueZInterface.device, below: adapter).compactMap(device)
    }

    /// The device with this address, in any case, as an adapter shows it.
    package func device(_ address: String, of adapter: DBusObjectPath) -> BlueZDevice? {
        devices(of: adapter).first { $0.address == address.uppercased() }
    }

    /// The device at this path.
    package func device(at path: DBusObjectPath) -> BlueZDevice? {
        guard let properties = properties(of: BlueZInterface.device, at: path),
            let adapter = properties["Adapter"]?.path, let address = properties["Address"]?.text
        else { return nil }
        let isPaired = properties["Paired"] == .boolean(true)
        var signalStrength: Int?
        if case .int16(let value) = properties["RSSI"] { signalStrength = Int(value) }
        return BlueZDevice(
            path: path,
            adapter: adapter,
            address: address.uppercased(),
            addressType: properties["AddressType"]?.text ?? "",
            name: properties["Name"]?.text,
            alias: properties["Alias"]?.text,
            advertisedName: properties["AdvertisingData"].flatMap(advertisedName),
            signalStrength: signalStrength,
            isPaired: isPaired,
            isBonded: properties["Bonded"].map { $0 == .boolean(true) } ?? isPaired,
            isConnected: properties["Connected"] == .boolean(true),
            areServicesResolved: properties["ServicesResolved"] == .boolean(true),
            services: (properties["UUIDs"]?.texts ?? []).compactMap(BluetoothUUID.init))
    }

    /// The Complete Local Name (09) among an advertisement's parts (Bluetooth Assigned Numbers, 2.3).
    private func advertisedName(in data: DBusValue) -> String? {
        guard case .dictionary(let parts, key: .byte, _) = data,
            case .variant(.bytes(let name)) = parts[.byte(0x09)]
        else { return nil }
        return String(decoding: name, as: UTF8.self)
    }
}
