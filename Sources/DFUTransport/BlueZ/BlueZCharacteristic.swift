/// A service of a connected device as BlueZ shows it (`org.bluez.GattService1`).
package struct BlueZService: Sendable, Equatable {
    /// Its object.
    package var path: DBusObjectPath
    /// What kind of service it is.
    package var uuid: BluetoothUUID
    /// The object of its device.
    package var device: DBusObjectPath
}

/// A characteristic of a connected device as BlueZ shows it (`org.bluez.GattCharacteristic1`).
package struct BlueZCharacteristic: Sendable, Equatable {
    /// Its object.
    package var path: DBusObjectPath
    /// What kind of characteristic it is.
    package var uuid: BluetoothUUID
    /// The object of its service.
    package var service: DBusObjectPath
    /// What can be done with it.
    package var properties: GATTCharacteristic.Properties
    /// The link's MTU; nil before BlueZ 5.62.
    package var mtu: Int?
    /// Whether some program hears its values.
    package var isNotifying: Bool
    /// Whether some program has its values alone, through AcquireNotify.
    package var isNotifyAcquired: Bool
    /// Whether some program writes to it alone, through AcquireWrite.
    package var isWriteAcquired: Bool
}

extension BlueZObjectTree {
    /// A device's services, in its order.
    package func services(of device: DBusObjectPath) -> [BlueZService] {
        paths(with: BlueZInterface.service, below: device).compactMap { path in
            guard let properties = properties(of: BlueZInterface.service, at: path),
                let uuid = properties["UUID"]?.text.flatMap(BluetoothUUID.init), properties["Device"]?.path == device
            else { return nil }
            return BlueZService(path: path, uuid: uuid, device: device)
        }
    }

    /// A service's characteristics, in the device's order.
    package func characteristics(of service: DBusObjectPath) -> [BlueZCharacteristic] {
        paths(with: BlueZInterface.characteristic, below: service).compactMap(characteristic)
            .filter { $0.service == service }
    }

    /// The characteristic at this path.
    package func characteristic(at path: DBusObjectPath) -> BlueZCharacteristic? {
        guard let properties = properties(of: BlueZInterface.characteristic, at: path),
            let uuid = properties["UUID"]?.text.flatMap(BluetoothUUID.init), let service = properties["Service"]?.path
        else { return nil }
        var mtu: Int?
        if case .uint16(let value) = properties["MTU"] { mtu = Int(value) }
        return BlueZCharacteristic(
            path: path,
            uuid: uuid,
            service: service,
            properties: GATTCharacteristic.Properties(flags: properties["Flags"]?.texts ?? []),
            mtu: mtu,
            isNotifying: properties["Notifying"] == .boolean(true),
            isNotifyAcquired: properties["NotifyAcquired"] == .boolean(true),
            isWriteAcquired: properties["WriteAcquired"] == .boolean(true))
    }

    /// A device's services with their characteristics, as every transport shows them.
    package func gattServices(of device: DBusObjectPath) -> [GATTService] {
        services(of: device).map { service in
            GATTService(
                uuid: service.uuid,
                characteristics: characteristics(of: service.path).map {
                    GATTCharacteristic(uuid: $0.uuid, properties: $0.properties)
                })
        }
    }
}

extension GATTCharacteristic.Properties {
    /// What BlueZ's words mean; those for what is not used here are left out.
    init(flags: [String]) {
        let words: [String: Self] = [
            "read": .read, "write-without-response": .writeWithoutResponse, "write": .write, "notify": .notify,
            "indicate": .indicate,
        ]
        self = flags.reduce(into: []) { properties, flag in properties.formUnion(words[flag] ?? []) }
    }
}
