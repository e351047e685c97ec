import DFUTransport

/// Objects as BlueZ 5.66 shows them, and the signals that tell of them.
enum BlueZSample {
    typealias Interfaces = [String: [String: DBusValue]]

    static func strings(_ texts: [String]) -> DBusValue { .array(texts.map(DBusValue.string), of: .string) }

    static func adapter(_ address: String = "00:1A:7D:DA:71:13", powered: Bool = true) -> Interfaces {
        [
            BlueZInterface.adapter: [
                "Address": .string(address), "AddressType": .string("public"), "Name": .string("bench"),
                "Alias": .string("bench"), "Class": .uint32(0), "Powered": .boolean(powered),
                "PowerState": .string(powered ? "on" : "off"), "Discoverable": .boolean(false),
                "Discovering": .boolean(false), "UUIDs": strings(["00001801-0000-1000-8000-00805f9b34fb"]),
                "Roles": strings(["central", "peripheral"]),
            ],
            "org.freedesktop.DBus.Properties": [:],
        ]
    }

    /// A device that was heard, and nothing else yet.
    static func device(
        _ address: String, of adapter: String, name: String? = nil, services: [String] = [], rssi: Int16? = -60,
        changes: [String: DBusValue] = [:]
    ) -> Interfaces {
        var properties: [String: DBusValue] = [
            "Address": .string(address), "AddressType": .string("random"), "Adapter": .objectPath(path(adapter)),
            "Alias": .string(name ?? address.replacing(":", with: "-")), "Paired": .boolean(false),
            "Bonded": .boolean(false), "Trusted": .boolean(false), "Blocked": .boolean(false),
            "LegacyPairing": .boolean(false), "Connected": .boolean(false), "ServicesResolved": .boolean(false),
            "UUIDs": strings(services), "AdvertisingFlags": .bytes([6]),
        ]
        properties["Name"] = name.map(DBusValue.string)
        properties["RSSI"] = rssi.map(DBusValue.int16)
        return [BlueZInterface.device: properties.merging(changes) { $1 }, "org.freedesktop.DBus.Properties": [:]]
    }

    static func service(_ uuid: String, of device: String) -> Interfaces {
        [
            BlueZInterface.service: [
                "UUID": .string(uuid), "Device": .objectPath(path(device)), "Primary": .boolean(true),
                "Includes": .array([], of: .objectPath),
            ]
        ]
    }

    static func characteristic(
        _ uuid: String, of service: String, flags: [String], mtu: UInt16? = 247, changes: [String: DBusValue] = [:]
    ) -> Interfaces {
        var properties: [String: DBusValue] = [
            "UUID": .string(uuid), "Service": .objectPath(path(service)), "Flags": strings(flags), "Value": .bytes([]),
        ]
        if flags.contains("notify") { properties["Notifying"] = .boolean(false) }
        if flags.contains("notify") { properties["NotifyAcquired"] = .boolean(false) }
        if flags.contains("write-without-response") { properties["WriteAcquired"] = .boolean(false) }
        properties["MTU"] = mtu.map(DBusValue.uint16)
        return [BlueZInterface.characteristic: properties.merging(changes) { $1 }]
    }

    /// The value that GetManagedObjects gives of one object, and InterfacesAdded as well.
    static func value(_ interfaces: Interfaces) -> DBusValue {
        .dictionary(
            Dictionary(uniqueKeysWithValues: interfaces.map { (.string($0), .properties($1)) }), key: .string,
            value: .dictionary(key: .string, value: .variant))
    }

    /// The answer to GetManagedObjects.
    static func managed(_ objects: [String: Interfaces]) -> [DBusValue] {
        let entries = objects.map { (DBusValue.objectPath(path($0)), value($1)) }
        return [
            .dictionary(
                Dictionary(uniqueKeysWithValues: entries), key: .objectPath,
                value: .dictionary(key: .string, value: .dictionary(key: .string, value: .variant)))
        ]
    }

    static func added(_ object: String, _ interfaces: Interfaces) -> DBusMessage {
        .signal(
            "InterfacesAdded", of: "org.freedesktop.DBus.ObjectManager", at: .root,
            body: [.objectPath(path(object)), value(interfaces)])
    }

    static func removed(_ object: String, _ interfaces: [String]) -> DBusMessage {
        .signal(
            "InterfacesRemoved", of: "org.freedesktop.DBus.ObjectManager", at: .root,
            body: [.objectPath(path(object)), strings(interfaces)])
    }

    static func changed(
        _ object: String, _ interface: String, _ changes: [String: DBusValue], invalidated: [String] = []
    ) -> DBusMessage {
        .signal(
            "PropertiesChanged", of: "org.freedesktop.DBus.Properties", at: path(object),
            body: [.string(interface), .properties(changes), strings(invalidated)])
    }
}
