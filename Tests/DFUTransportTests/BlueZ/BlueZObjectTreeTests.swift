import DFUTransport
import Testing

@Suite struct BlueZObjectTreeTests {
    private static let adapter = "/org/bluez/hci0"
    private static let band = "/org/bluez/hci0/dev_C0_11_22_33_44_50"
    private static let fee0 = "0000fee0-0000-1000-8000-00805f9b34fb"
    private static let ff01 = "0000ff01-0000-1000-8000-00805f9b34fb"
    private static let ff02 = "0000ff02-0000-1000-8000-00805f9b34fb"

    private static func tree(_ objects: [String: BlueZSample.Interfaces]) throws -> BlueZObjectTree {
        try #require(BlueZObjectTree(managedObjects: BlueZSample.managed(objects)))
    }

    /// A connected band with its service, of which the second characteristic comes first in the dictionary as often as not.
    private static func connectedBand() throws -> BlueZObjectTree {
        let properties: [String: DBusValue] = ["Connected": .boolean(true), "ServicesResolved": .boolean(true)]
        return try tree([
            "/org/bluez": ["org.bluez.AgentManager1": [:]],
            adapter: BlueZSample.adapter(),
            band: BlueZSample.device(
                "C0:11:22:33:44:50", of: adapter, name: "Band", services: [fee0], changes: properties),
            band + "/service000a": BlueZSample.service(fee0, of: band),
            band + "/service000a/char000b": BlueZSample.characteristic(
                ff01, of: band + "/service000a", flags: ["read", "notify"]),
            band + "/service000a/char000b/desc000d": [
                "org.bluez.GattDescriptor1": ["UUID": .string("00002902-0000-1000-8000-00805f9b34fb")]
            ],
            band + "/service000a/char000e": BlueZSample.characteristic(
                ff02, of: band + "/service000a", flags: ["write-without-response", "write", "authorize"], mtu: nil),
        ])
    }

    @Test func showsAdaptersInTheOrderOfTheirNumbers() throws {
        let tree = try Self.tree([
            "/org/bluez/hci10": BlueZSample.adapter("00:00:00:00:00:10", powered: false),
            "/org/bluez/hci9": BlueZSample.adapter("00:00:00:00:00:09"),
            "/org/bluez/hci1": BlueZSample.adapter("00:00:00:00:00:01"),
        ])
        #expect(tree.adapters.map(\.name) == ["hci1", "hci9", "hci10"])
        #expect(tree.adapters.map(\.isPowered) == [true, true, false])
        #expect(tree.adapters[0].address == "00:00:00:00:00:01")
        #expect(tree.adapters[0].roles == ["central", "peripheral"])
        #expect(tree.adapters[0].isDiscovering == false)
    }

    @Test func tellsAnAdapterThatIsBlocked() throws {
        var tree = try Self.tree([Self.adapter: BlueZSample.adapter(powered: false)])
        #expect(tree.adapters.map(\.isBlocked) == [false])
        tree.receive(
            BlueZSample.changed(Self.adapter, BlueZInterface.adapter, ["PowerState": .string("off-blocked")]))
        #expect(tree.adapters.map(\.isBlocked) == [true])
    }

    @Test func showsADevice() throws {
        let device = try #require(try Self.connectedBand().device("c0:11:22:33:44:50", of: path(Self.adapter)))
        #expect(device.path.string == Self.band)
        #expect(device.adapter.string == Self.adapter)
        #expect(device.address == "C0:11:22:33:44:50")
        #expect(device.addressType == "random")
        #expect([device.name, device.alias, device.advertisedName] == ["Band", "Band", nil])
        #expect(device.signalStrength == -60)
        #expect([device.isPaired, device.isBonded] == [false, false])
        #expect([device.isConnected, device.areServicesResolved] == [true, true])
        #expect(device.services == [BluetoothUUID(short: 0xFEE0)])
    }

    @Test("BLZ-24 the name that is advertised now is told from the one that was learnt before")
    func readsTheAdvertisedName() throws {
        let data = DBusValue.dictionary(
            [.byte(0x01): .variant(.bytes([6])), .byte(0x09): .variant(.bytes(Array("DfuTarg".utf8)))], key: .byte,
            value: .variant)
        let tree = try Self.tree([
            Self.band: BlueZSample.device(
                "C0:11:22:33:44:50", of: Self.adapter, name: "Watch", changes: ["AdvertisingData": data])
        ])
        #expect(tree.devices().map(\.name) == ["Watch"])
        #expect(tree.devices().map(\.advertisedName) == ["DfuTarg"])
    }

    @Test func takesABondFromThePairingWhereBlueZDoesNotTell() throws {
        var device = BlueZSample.device(
            "C0:11:22:33:44:50", of: Self.adapter, changes: ["Paired": .boolean(true)])
        #expect(try Self.tree([Self.band: device]).devices().map(\.isBonded) == [false])
        device[BlueZInterface.device]?["Bonded"] = nil
        #expect(try Self.tree([Self.band: device]).devices().map(\.isBonded) == [true])
    }

    @Test func showsServicesAndCharacteristicsInTheDevicesOrder() throws {
        let tree = try Self.connectedBand()
        let expected = [
            GATTService(
                uuid: BluetoothUUID(short: 0xFEE0),
                characteristics: [
                    GATTCharacteristic(uuid: BluetoothUUID(short: 0xFF01), properties: [.read, .notify]),
                    GATTCharacteristic(
                        uuid: BluetoothUUID(short: 0xFF02), properties: [.writeWithoutResponse, .write]),
                ])
        ]
        #expect(tree.gattServices(of: path(Self.band)) == expected)
        let characteristics = tree.characteristics(of: path(Self.band + "/service000a"))
        #expect(characteristics.map(\.mtu) == [247, nil])
        #expect(characteristics.map(\.path.string) == ["b", "e"].map { Self.band + "/service000a/char000" + $0 })
    }

    @Test func takesPathsWhole() throws {
        let objects = [
            "/org/bluez/hci1": BlueZSample.adapter("00:00:00:00:00:01"),
            "/org/bluez/hci10": BlueZSample.adapter("00:00:00:00:00:10"),
            "/org/bluez/hci1/dev_X": BlueZSample.device("00:00:00:00:01:00", of: "/org/bluez/hci1"),
            "/org/bluez/hci10/dev_X": BlueZSample.device("00:00:00:00:10:00", of: "/org/bluez/hci10"),
            "/org/bluez/hci1/dev_X/service0001": BlueZSample.service(Self.fee0, of: "/org/bluez/hci1/dev_X"),
            "/org/bluez/hci1/dev_XY": BlueZSample.device("00:00:00:00:01:0F", of: "/org/bluez/hci1"),
            "/org/bluez/hci1/dev_XY/service0001": BlueZSample.service(Self.fee0, of: "/org/bluez/hci1/dev_XY"),
        ]
        var tree = try Self.tree(objects)
        #expect(tree.devices(of: path("/org/bluez/hci1")).map(\.path.lastComponent) == ["dev_X", "dev_XY"])
        #expect(tree.devices(of: path("/org/bluez/hci10")).map(\.address) == ["00:00:00:00:10:00"])
        #expect(tree.services(of: path("/org/bluez/hci1/dev_X")).count == 1)

        tree.receive(BlueZSample.removed("/org/bluez/hci1/dev_X", [BlueZInterface.device]))
        #expect(tree.device(at: path("/org/bluez/hci1/dev_X")) == nil)
        #expect(tree.services(of: path("/org/bluez/hci1/dev_X")).isEmpty)
        #expect(tree.services(of: path("/org/bluez/hci1/dev_XY")).count == 1)
    }

    @Test("BLZ-22 a vanished adapter takes its devices with it")
    func losesWhatIsBelowAnAdapter() throws {
        var tree = try Self.connectedBand()
        tree.receive(BlueZSample.added("/org/bluez/hci01", BlueZSample.adapter("00:00:00:00:00:01")))
        tree.receive(
            BlueZSample.added(
                "/org/bluez/hci01/dev_X", BlueZSample.device("00:00:00:00:01:00", of: "/org/bluez/hci01")))
        tree.receive(
            BlueZSample.removed(Self.adapter, [BlueZInterface.adapter, "org.freedesktop.DBus.Properties"]))
        #expect(tree.adapters.map(\.name) == ["hci01"])
        #expect(tree.devices().map(\.path.string) == ["/org/bluez/hci01/dev_X"])
        #expect(tree.services(of: path(Self.band)).isEmpty)
    }

    @Test func keepsWhatIsBelowADeviceThatLosesAnotherInterface() throws {
        var tree = try Self.connectedBand()
        let before = tree
        tree.receive(BlueZSample.added(Self.band, ["org.bluez.Battery1": ["Percentage": .byte(80)]]))
        #expect(tree.properties(of: "org.bluez.Battery1", at: path(Self.band)) == ["Percentage": .byte(80)])
        tree.receive(BlueZSample.removed(Self.band, ["org.bluez.Battery1"]))
        #expect(tree == before)
    }

    @Test func takesChangesAndInvalidationsIn() throws {
        var tree = try Self.connectedBand()
        tree.receive(
            BlueZSample.changed(
                Self.band, BlueZInterface.device, ["Connected": .boolean(false), "ServicesResolved": .boolean(false)],
                invalidated: ["RSSI"]))
        let device = try #require(tree.device(at: path(Self.band)))
        #expect(device.isConnected == false)
        #expect(device.areServicesResolved == false)
        #expect(device.signalStrength == nil)
        #expect(device.name == "Band")
    }

    @Test("BLZ-10 objects that come late are there when they have come")
    func takesLateObjects() throws {
        var tree = try Self.tree([
            Self.adapter: BlueZSample.adapter(), Self.band: BlueZSample.device("C0:11:22:33:44:50", of: Self.adapter),
        ])
        let characteristic = Self.band + "/service000a/char000b"
        // A change of what is not there yet says nothing; and a characteristic may come before its service.
        tree.receive(BlueZSample.changed(characteristic, BlueZInterface.characteristic, ["Value": .bytes([1])]))
        #expect(tree.characteristic(at: path(characteristic)) == nil)
        tree.receive(
            BlueZSample.added(
                characteristic, BlueZSample.characteristic(Self.ff01, of: Self.band + "/service000a", flags: ["notify"])
            ))
        #expect(tree.gattServices(of: path(Self.band)).isEmpty)
        tree.receive(BlueZSample.added(Self.band + "/service000a", BlueZSample.service(Self.fee0, of: Self.band)))
        #expect(tree.gattServices(of: path(Self.band)).map(\.characteristics.count) == [1])
    }

    @Test func replacesAnObjectThatIsToldAgain() throws {
        var tree = try Self.connectedBand()
        tree.receive(
            BlueZSample.added(Self.band, BlueZSample.device("C0:11:22:33:44:50", of: Self.adapter, rssi: nil)))
        #expect(tree.device(at: path(Self.band))?.isConnected == false)
        #expect(tree.device(at: path(Self.band))?.signalStrength == nil)
    }

    @Test(arguments: [
        DBusMessage.signal("InterfacesAdded", of: "org.freedesktop.DBus.ObjectManager", at: .root),
        .signal(
            "InterfacesAdded", of: "org.freedesktop.DBus.ObjectManager", at: .root,
            body: [.string("/org/bluez/hci1"), .uint32(1)]),
        .signal(
            "InterfacesAdded", of: "org.freedesktop.DBus.ObjectManager", at: .root,
            body: [.objectPath(path(band)), .properties(["Connected": .boolean(false)])]),
        .signal(
            "InterfacesRemoved", of: "org.freedesktop.DBus.ObjectManager", at: .root,
            body: [.objectPath(path(band)), .string(BlueZInterface.device)]),
        .signal(
            "PropertiesChanged", of: "org.freedesktop.DBus.Properties", at: path(band),
            body: [.string(BlueZInterface.device), .bytes([1]), BlueZSample.strings([])]),
        .signal("Disconnected", of: BlueZInterface.device, at: path(band), body: [.string("x"), .string("y")]),
        .call("InterfacesRemoved", of: "org.freedesktop.DBus.ObjectManager", at: .root, destination: "org.bluez"),
    ])
    func passesOverWhatIsNoSuchSignal(_ signal: DBusMessage) throws {
        var tree = try Self.connectedBand()
        tree.receive(signal)
        #expect(tree == (try Self.connectedBand()))
    }

    @Test(arguments: [[], [.string("no objects")], [.properties([:])]] as [[DBusValue]])
    func isMadeOfManagedObjectsAlone(_ body: [DBusValue]) {
        #expect(BlueZObjectTree(managedObjects: body) == nil)
    }

    @Test func passesOverADeviceWithoutAnAddress() throws {
        var device = BlueZSample.device("C0:11:22:33:44:50", of: Self.adapter)
        device[BlueZInterface.device]?["Address"] = .uint32(1)
        #expect(try Self.tree([Self.band: device]).devices().isEmpty)
    }
}
