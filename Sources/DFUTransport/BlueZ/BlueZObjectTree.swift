/// What `org.bluez` shows on the bus, mirrored: each object's interfaces, and their properties.
///
/// It is fed with the answer to GetManagedObjects and with the signals that come after it; what has another form than
/// BlueZ's documentation gives it is passed over (`doc/org.bluez.*.rst` in BlueZ's sources; the D-Bus specification,
/// "Standard Interfaces").
package struct BlueZObjectTree: Sendable, Equatable {
    package typealias Properties = [String: DBusValue]

    private var objects: [DBusObjectPath: [String: Properties]] = [:]

    /// A tree of nothing.
    package init() {}

    /// The tree that GetManagedObjects answers with; nil when that is no such answer.
    package init?(managedObjects body: [DBusValue]) {
        guard body.count == 1, case .dictionary(let entries, key: .objectPath, _) = body[0] else { return nil }
        for case (.objectPath(let path), let interfaces) in entries { add(interfaces, at: path) }
    }

    /// The properties of an object's interface; nil where it is not there.
    package func properties(of interface: String, at path: DBusObjectPath) -> Properties? {
        objects[path]?[interface]
    }

    /// The objects that have an interface, in the order of their paths.
    ///
    /// BlueZ's paths of services and characteristics end in the attribute's handle, in four digits: so that is the
    /// device's order.
    func paths(with interface: String, below top: DBusObjectPath = .root) -> [DBusObjectPath] {
        objects.filter { $0.value[interface] != nil && $0.key != top && $0.key.isAtOrBelow(top) }
            .map(\.key).sorted { $0.string < $1.string }
    }

    /// Takes a signal of BlueZ's in; others change nothing.
    package mutating func receive(_ signal: DBusMessage) {
        guard signal.kind == .signal else { return }
        switch (signal.interface, signal.member) {
        case ("org.freedesktop.DBus.ObjectManager", "InterfacesAdded"):
            guard signal.body.count == 2, case .objectPath(let path) = signal.body[0] else { return }
            add(signal.body[1], at: path)
        case ("org.freedesktop.DBus.ObjectManager", "InterfacesRemoved"):
            guard signal.body.count == 2, case .objectPath(let path) = signal.body[0],
                case .array(let names, of: .string) = signal.body[1]
            else { return }
            for case .string(let name) in names { remove(name, at: path) }
        case ("org.freedesktop.DBus.Properties", "PropertiesChanged"):
            guard signal.body.count == 3, let path = signal.path, case .string(let interface) = signal.body[0],
                let changed = signal.body[1].properties, case .array(let invalidated, of: .string) = signal.body[2]
            else { return }
            // Of an object that is not there yet, all is told when it comes.
            guard objects[path]?[interface] != nil else { return }
            objects[path]?[interface]?.merge(changed) { $1 }
            for case .string(let name) in invalidated { objects[path]?[interface]?[name] = nil }
        default: return
        }
    }

    private mutating func add(_ interfaces: DBusValue, at path: DBusObjectPath) {
        guard case .dictionary(let entries, key: .string, _) = interfaces else { return }
        for case (.string(let name), let value) in entries {
            if let properties = value.properties { objects[path, default: [:]][name] = properties }
        }
    }

    private mutating func remove(_ interface: String, at path: DBusObjectPath) {
        objects[path]?[interface] = nil
        if objects[path]?.isEmpty == true { objects[path] = nil }
        // An adapter that is pulled out takes its devices with it, and nothing is told of each.
        if BlueZInterface.holders.contains(interface) {
            objects = objects.filter { $0.key == path || !$0.key.isAtOrBelow(path) }
        }
    }
}

/// The names of BlueZ's interfaces.
package enum BlueZInterface {
    package static let adapter = "org.bluez.Adapter1"
    package static let device = "org.bluez.Device1"
    package static let service = "org.bluez.GattService1"
    package static let characteristic = "org.bluez.GattCharacteristic1"

    /// Those without which the objects below an object are not there.
    static let holders: Set = [adapter, device, service, characteristic]
}
