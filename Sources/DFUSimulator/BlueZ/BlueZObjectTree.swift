import DFUTransport

/// The objects that BlueZ shows on a bus, with their properties: a value that says what is to be told of each change.
struct BlueZObjectTree {
    typealias Properties = [String: DBusValue]

    private(set) var objects: [DBusObjectPath: [String: Properties]] = [:]

    /// Adds an object with one interface of BlueZ's.
    mutating func add(_ path: DBusObjectPath, _ interface: BlueZInterface, _ properties: Properties) -> DBusMessage {
        precondition(objects[path] == nil, "the object \(path) is there already")
        objects[path] = [
            interface.name: properties, BlueZInterface.introspectable.name: [:], BlueZInterface.properties.name: [:],
        ]
        return .signal(
            "InterfacesAdded", of: BlueZInterface.objectManager.name, at: .root,
            body: [.objectPath(path), Self.value(of: objects[path, default: [:]])])
    }

    /// Removes an object and all below it, the deepest first.
    mutating func remove(_ path: DBusObjectPath) -> [DBusMessage] {
        objects.keys.filter { $0.isAtOrBelow(path) }.sorted { $0.string > $1.string }.map { path in
            let names = (objects.removeValue(forKey: path) ?? [:]).keys.sorted().map(DBusValue.string)
            return .signal(
                "InterfacesRemoved", of: BlueZInterface.objectManager.name, at: .root,
                body: [.objectPath(path), .array(names, of: .string)])
        }
    }

    /// Changes properties; nil takes one away. Nothing is to be told where nothing has changed.
    mutating func set(
        _ properties: [String: DBusValue?], of interface: BlueZInterface, at path: DBusObjectPath
    ) -> DBusMessage? {
        guard let old = objects[path]?[interface.name] else { return nil }
        let changed = properties.filter { old[$0.key] != $0.value }
        guard !changed.isEmpty else { return nil }
        for (name, value) in changed { objects[path]?[interface.name]?[name] = value }
        return Self.change(changed, of: interface, at: path)
    }

    /// What is told of properties, whether they have changed or not.
    static func change(
        _ properties: [String: DBusValue?], of interface: BlueZInterface, at path: DBusObjectPath
    ) -> DBusMessage {
        let invalidated = properties.filter { $0.value == nil }.keys.sorted().map(DBusValue.string)
        return .signal(
            "PropertiesChanged", of: BlueZInterface.properties.name, at: path,
            body: [
                .string(interface.name), .properties(properties.compactMapValues(\.self)),
                .array(invalidated, of: .string),
            ])
    }

    /// What `GetManagedObjects` answers.
    var managedObjects: DBusValue {
        let entries = objects.map { (DBusValue.objectPath($0), Self.value(of: $1)) }
        return .dictionary(
            Dictionary(uniqueKeysWithValues: entries), key: .objectPath, value: Self.interfacesType)
    }

    /// What `Introspect` answers; nil where there is neither an object nor one below.
    func introspection(of path: DBusObjectPath) -> String? {
        let prefix = path == .root ? "/" : path.string + "/"
        let children = Set(
            objects.keys.filter { $0.string.hasPrefix(prefix) && $0 != path }
                .compactMap { $0.string.dropFirst(prefix.utf8.count).split(separator: "/").first.map(String.init) })
        let interfaces =
            path == .root
            ? [.introspectable, .objectManager]
            : objects[path, default: [:]].keys.sorted().compactMap(BlueZInterface.named)
        guard !interfaces.isEmpty || !children.isEmpty else { return nil }
        return BlueZInterface.document(interfaces, children: children.sorted())
    }

    private static var interfacesType: DBusType {
        .dictionary(key: .string, value: .dictionary(key: .string, value: .variant))
    }

    private static func value(of interfaces: [String: Properties]) -> DBusValue {
        let entries = interfaces.map { (DBusValue.string($0), DBusValue.properties($1)) }
        return .dictionary(
            Dictionary(uniqueKeysWithValues: entries), key: .string, value: .dictionary(key: .string, value: .variant))
    }
}
