import DFUTransport
import TestSupport

@testable import dfu

/// A machine of files alone: at first one that nothing is to be said against.
struct MachineSample {
    let folder: TemporaryFolder
    /// The number of the process that is BlueZ.
    static let service: UInt32 = 42

    /// - Parameter missing: The beginnings of paths that this machine has not.
    init(without missing: String...) throws {
        folder = try TemporaryFolder()
        for (path, text) in Self.files where !missing.contains(where: path.hasPrefix) { try write(text, to: path) }
    }

    private static let files = [
        "/proc/sys/kernel/osrelease": "6.1.0-18-amd64\n",
        "/proc/self/status":
            "Name:\tdfu\nUid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\nGroups:\t27 112 1000 \n"
            + "CapEff:\t0000000000000000\n",
        "/proc/42/comm": "bluetoothd\n",
        "/proc/42/cmdline": "/usr/libexec/bluetooth/bluetoothd\0--experimental\0",
        "/etc/passwd": "root:x:0:0:root:/root:/bin/sh\nada:x:1000:1000:Ada,,,:/home/ada:/bin/sh\n",
        "/etc/group": "root:x:0:\nbluetooth:x:112:ada,bob\nada:x:1000:\n",
        "/etc/debian_version": "12.5\n",
        "/etc/bluetooth/main.conf": "[General]\n[GATT]\nCache=yes\n",
        "/usr/libexec/bluetooth/bluetoothd": "",
        "/run/systemd/system/none": "",
        "/sys/class/rfkill/rfkill0/name": "hci0\n",
        "/sys/class/rfkill/rfkill0/type": "bluetooth\n",
        "/sys/class/rfkill/rfkill0/soft": "0\n",
        "/sys/class/rfkill/rfkill0/hard": "0\n",
        // The link `device` leads to an interface; here it is a folder, and what is above it the adapter's own.
        "/sys/class/bluetooth/hci0/device/none": "",
        "/sys/class/bluetooth/hci0/idVendor": "0a12\n",
        "/sys/class/bluetooth/hci0/idProduct": "0001\n",
        "/sys/class/bluetooth/hci0/power/control": "on\n",
        "/sys/class/bluetooth/hci0:64/none": "",
        "/sys/kernel/debug/bluetooth/hci0/conn_min_interval": "9\n",
        "/sys/kernel/debug/bluetooth/hci0/conn_max_interval": "12\n",
        "/sys/kernel/debug/bluetooth/hci0/supervision_timeout": "200\n",
    ]

    /// Writes a file.
    func write(_ text: String, to path: String) throws {
        _ = try folder.write(Array(text.utf8), to: String(path.dropFirst()))
    }

    /// The machine as it is seen.
    func machine(service: UInt32? = service) -> Machine {
        withExtendedLifetime(folder) { Machine(SystemFiles(root: folder.path), service: service) }
    }

    /// What is to be said of this machine with such a BlueZ on its bus.
    func diagnosis(
        _ objects: BlueZObjects = BlueZObjects(adapters: ["hci0": [:]]), adapter: String? = nil
    ) throws -> Diagnosis {
        var bus = BusExamination(address: "unix:path=/run/dbus/system_bus_socket")
        bus.service = .init(processID: Self.service, objects: .success(objects.tree))
        return diagnosis(bus, adapter: adapter)
    }

    /// What is to be said of this machine with such a bus.
    func diagnosis(_ bus: BusExamination, adapter: String? = nil) -> Diagnosis {
        Diagnosis(bus: bus, machine: machine(service: bus.service?.processID), adapterName: adapter)
    }

    /// What is to be said of this machine where nothing can be asked.
    func diagnosis(busFailure: DBusError) -> Diagnosis {
        var bus = BusExamination(address: "unix:path=/run/dbus/system_bus_socket")
        bus.failure = busFailure
        return diagnosis(bus)
    }

    /// What is to be said of this machine where the service does not show its objects.
    func diagnosis(serviceFailure: DBusError) -> Diagnosis {
        var bus = BusExamination(address: "unix:path=/run/dbus/system_bus_socket")
        bus.service = .init(processID: Self.service, objects: .failure(serviceFailure))
        return diagnosis(bus)
    }
}

/// Objects as BlueZ shows them, for tests that need few of their properties.
struct BlueZObjects {
    typealias Properties = [String: DBusValue]

    private var objects: [String: (interface: String, Properties)] = [:]

    /// Adapters that are on, with these changes.
    init(adapters: [String: Properties] = [:]) {
        for (name, changes) in adapters {
            let properties: Properties = [
                "Address": .string("00:1A:7D:DA:71:13"), "Powered": .boolean(true), "Discovering": .boolean(false),
                "Roles": .array([.string("central")], of: .string), "Modalias": .string("usb:v1D6Bp0246d0542"),
            ]
            objects["/org/bluez/\(name)"] = (BlueZInterface.adapter, properties.merging(changes) { $1 })
        }
    }

    /// Adds a device that is connected by hci0, with one characteristic that has these properties.
    mutating func connect(_ address: String, name: String? = nil, characteristic: Properties = [:]) {
        let device = "/org/bluez/hci0/dev_\(address.replacing(":", with: "_"))"
        var properties: Properties = [
            "Address": .string(address), "Adapter": Self.path("/org/bluez/hci0"), "Connected": .boolean(true),
        ]
        properties["Name"] = name.map(DBusValue.string)
        objects[device] = (BlueZInterface.device, properties)
        objects[device + "/service0001"] = (
            BlueZInterface.service,
            ["UUID": .string(BluetoothUUID(short: 0xFEE0).description), "Device": Self.path(device)]
        )
        let own: Properties = [
            "UUID": .string(BluetoothUUID(short: 0xFF01).description), "Service": Self.path(device + "/service0001"),
        ]
        objects[device + "/service0001/char0002"] = (
            BlueZInterface.characteristic, own.merging(characteristic) { $1 }
        )
    }

    private static func path(_ text: String) -> DBusValue {
        guard let path = DBusObjectPath(text) else { preconditionFailure("\(text) is no path") }
        return .objectPath(path)
    }

    var tree: BlueZObjectTree {
        let entries = objects.map { path, object in
            (
                Self.path(path),
                DBusValue.dictionary(
                    [.string(object.interface): .properties(object.1)], key: .string,
                    value: .dictionary(key: .string, value: .variant))
            )
        }
        let answer = DBusValue.dictionary(
            Dictionary(uniqueKeysWithValues: entries), key: .objectPath,
            value: .dictionary(key: .string, value: .dictionary(key: .string, value: .variant)))
        guard let tree = BlueZObjectTree(managedObjects: [answer]) else { preconditionFailure("no tree") }
        return tree
    }
}
