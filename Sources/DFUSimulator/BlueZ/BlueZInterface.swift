/// An interface of BlueZ 5.66, as introspection tells of it: without what is there with `--experimental` alone.
struct BlueZInterface {
    /// A named value of a method, a signal or a property, with its type as the D-Bus specification writes it.
    struct Value {
        var name: String
        var type: String
        var isWritable = false
    }

    struct Method {
        var name: String
        var inputs: [Value] = []
        var outputs: [Value] = []

        /// What its arguments are together, such as `aya{sv}`.
        var signature: String { inputs.map(\.type).joined() }
    }

    var name: String
    var methods: [Method] = []
    var signals: [Method] = []
    var properties: [Value] = []

    func method(_ name: String) -> Method? { methods.first { $0.name == name } }

    func property(_ name: String) -> Value? { properties.first { $0.name == name } }

    /// The interface's element of an introspection document.
    fileprivate var xml: String {
        func arguments(_ values: [Value], _ direction: String) -> String {
            values.map { #"<arg name="\#($0.name)" type="\#($0.type)"\#(direction)/>"# }.joined()
        }
        var text = #"<interface name="\#(name)">"#
        for method in methods {
            text += #"<method name="\#(method.name)">"#
            text += arguments(method.inputs, #" direction="in""#) + arguments(method.outputs, #" direction="out""#)
            text += "</method>"
        }
        for signal in signals {
            text += #"<signal name="\#(signal.name)">"# + arguments(signal.inputs, "") + "</signal>"
        }
        for property in properties {
            let access = property.isWritable ? "readwrite" : "read"
            text += #"<property name="\#(property.name)" type="\#(property.type)" access="\#(access)"/>"#
        }
        return text + "</interface>"
    }

    /// What `Introspect` answers for an object with these interfaces and these names below it.
    static func document(_ interfaces: [BlueZInterface], children: [String]) -> String {
        let nodes = children.map { #"<node name="\#($0)"/>"# }
        return #"<!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN" "#
            + #""http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">"# + "<node>"
            + interfaces.map(\.xml).joined() + nodes.joined() + "</node>"
    }
}

// MARK: - The interfaces

extension BlueZInterface {
    private static let options = Value(name: "options", type: "a{sv}")
    private static let value = Value(name: "value", type: "ay")

    static let introspectable = BlueZInterface(
        name: "org.freedesktop.DBus.Introspectable",
        methods: [Method(name: "Introspect", outputs: [Value(name: "xml", type: "s")])])

    static let properties = BlueZInterface(
        name: "org.freedesktop.DBus.Properties",
        methods: [
            Method(
                name: "Get", inputs: [Value(name: "interface", type: "s"), Value(name: "name", type: "s")],
                outputs: [Value(name: "value", type: "v")]),
            Method(
                name: "Set",
                inputs: [
                    Value(name: "interface", type: "s"), Value(name: "name", type: "s"),
                    Value(name: "value", type: "v"),
                ]),
            Method(
                name: "GetAll", inputs: [Value(name: "interface", type: "s")],
                outputs: [Value(name: "properties", type: "a{sv}")]),
        ],
        signals: [
            Method(
                name: "PropertiesChanged",
                inputs: [
                    Value(name: "interface", type: "s"), Value(name: "changed_properties", type: "a{sv}"),
                    Value(name: "invalidated_properties", type: "as"),
                ])
        ])

    static let objectManager = BlueZInterface(
        name: "org.freedesktop.DBus.ObjectManager",
        methods: [Method(name: "GetManagedObjects", outputs: [Value(name: "objects", type: "a{oa{sa{sv}}}")])],
        signals: [
            Method(
                name: "InterfacesAdded",
                inputs: [Value(name: "object", type: "o"), Value(name: "interfaces", type: "a{sa{sv}}")]),
            Method(
                name: "InterfacesRemoved",
                inputs: [Value(name: "object", type: "o"), Value(name: "interfaces", type: "as")]),
        ])

    static let agentManager = BlueZInterface(
        name: "org.bluez.AgentManager1",
        methods: [
            Method(
                name: "RegisterAgent",
                inputs: [Value(name: "agent", type: "o"), Value(name: "capability", type: "s")]),
            Method(name: "UnregisterAgent", inputs: [Value(name: "agent", type: "o")]),
            Method(name: "RequestDefaultAgent", inputs: [Value(name: "agent", type: "o")]),
        ])

    static let adapter = BlueZInterface(
        name: "org.bluez.Adapter1",
        methods: [
            Method(name: "StartDiscovery"),
            Method(name: "SetDiscoveryFilter", inputs: [Value(name: "properties", type: "a{sv}")]),
            Method(name: "StopDiscovery"),
            Method(name: "RemoveDevice", inputs: [Value(name: "device", type: "o")]),
            Method(name: "GetDiscoveryFilters", outputs: [Value(name: "filters", type: "as")]),
        ],
        properties: [
            Value(name: "Address", type: "s"), Value(name: "AddressType", type: "s"), Value(name: "Name", type: "s"),
            Value(name: "Alias", type: "s"), Value(name: "Class", type: "u"),
            Value(name: "Powered", type: "b", isWritable: true), Value(name: "Discoverable", type: "b"),
            Value(name: "Pairable", type: "b"), Value(name: "Discovering", type: "b"), Value(name: "UUIDs", type: "as"),
            Value(name: "Modalias", type: "s"), Value(name: "Roles", type: "as"),
        ])

    static let device = BlueZInterface(
        name: "org.bluez.Device1",
        methods: [
            Method(name: "Disconnect"), Method(name: "Connect"), Method(name: "Pair"), Method(name: "CancelPairing"),
        ],
        properties: [
            Value(name: "Address", type: "s"), Value(name: "AddressType", type: "s"), Value(name: "Name", type: "s"),
            Value(name: "Alias", type: "s"), Value(name: "Paired", type: "b"), Value(name: "Bonded", type: "b"),
            Value(name: "Trusted", type: "b"), Value(name: "Blocked", type: "b"),
            Value(name: "LegacyPairing", type: "b"),
            Value(name: "RSSI", type: "n"), Value(name: "Connected", type: "b"), Value(name: "UUIDs", type: "as"),
            Value(name: "Adapter", type: "o"), Value(name: "ServicesResolved", type: "b"),
        ])

    static let service = BlueZInterface(
        name: "org.bluez.GattService1",
        properties: [
            Value(name: "Handle", type: "q"), Value(name: "UUID", type: "s"), Value(name: "Device", type: "o"),
            Value(name: "Primary", type: "b"), Value(name: "Includes", type: "ao"),
        ])

    static let characteristic = BlueZInterface(
        name: "org.bluez.GattCharacteristic1",
        methods: [
            Method(name: "ReadValue", inputs: [options], outputs: [value]),
            Method(name: "WriteValue", inputs: [value, options]),
            Method(
                name: "AcquireWrite", inputs: [options],
                outputs: [Value(name: "fd", type: "h"), Value(name: "mtu", type: "q")]),
            Method(
                name: "AcquireNotify", inputs: [options],
                outputs: [Value(name: "fd", type: "h"), Value(name: "mtu", type: "q")]),
            Method(name: "StartNotify"), Method(name: "StopNotify"),
        ],
        properties: [
            Value(name: "Handle", type: "q"), Value(name: "UUID", type: "s"), Value(name: "Service", type: "o"),
            Value(name: "Value", type: "ay"), Value(name: "Notifying", type: "b"), Value(name: "Flags", type: "as"),
            Value(name: "WriteAcquired", type: "b"), Value(name: "NotifyAcquired", type: "b"),
            Value(name: "MTU", type: "q"),
        ])

    static let descriptor = BlueZInterface(
        name: "org.bluez.GattDescriptor1",
        methods: [
            Method(name: "ReadValue", inputs: [options], outputs: [value]),
            Method(name: "WriteValue", inputs: [value, options]),
        ],
        properties: [
            Value(name: "Handle", type: "q"), Value(name: "UUID", type: "s"), Value(name: "Characteristic", type: "o"),
            Value(name: "Value", type: "ay"),
        ])

    static let all = [
        introspectable, properties, objectManager, agentManager, adapter, device, service, characteristic, descriptor,
    ]

    static func named(_ name: String) -> BlueZInterface? { all.first { $0.name == name } }
}
