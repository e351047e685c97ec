import DFUTransport
import Testing

/// Devices for tables: an address, a name, a service in short.
private func candidate(_ address: String, _ name: String? = nil, _ services: String...) throws
    -> DeviceSelector.Candidate
{
    DeviceSelector.Candidate(
        address: try fullAddress(address), name: name, services: services.compactMap(BluetoothUUID.init))
}

private func fullAddress(_ text: String) throws -> BluetoothAddress { try #require(BluetoothAddress(text)) }

@Suite struct DeviceSelectorTests {
    @Test(
        arguments: [
            ("44:50", [0x44, 0x50]), ("a0:ff", [0xA0, 0xFF]), ("33:44:50", [0x33, 0x44, 0x50]),
            ("11:22:33:44:50", [0x11, 0x22, 0x33, 0x44, 0x50]), ("44-50", [0x44, 0x50]),
        ] as [(String, [UInt8])])
    func readsTheEndOfAnAddress(_ text: String, _ octets: [UInt8]) throws {
        #expect(try DeviceSelector(text) == .addressEnd(octets))
    }

    @Test(arguments: ["C0:11:22:33:44:50", "c0:11:22:33:44:50", "C0-11-22-33-44-50", "C01122334450"])
    func readsAnAddressInAnyForm(_ text: String) throws {
        #expect(try DeviceSelector(text) == .address(try fullAddress("C0:11:22:33:44:50")))
    }

    @Test(arguments: ["Band", "44", "C0", "DE:VICE", "44:5", "44:50:", "4450", "44-50:33", " 44:50", "Band 44:50"])
    func takesAllElseAsAName(_ text: String) throws {
        #expect(try DeviceSelector(text) == .name(text))
    }

    @Test(arguments: [
        ("", "a device's name or address is needed"),
        (
            "C0:11:22:33:44:50:60",
            "“C0:11:22:33:44:50:60” has 7 octets; an address has 6, and its end 2 to 5"
        ),
    ])
    func refuses(_ text: String, _ message: String) {
        #expect(throws: DeviceSelector.Unreadable(message: message)) { try DeviceSelector(text) }
    }

    /// A name that reads as octets, a device whose name is the beginning of another's, and one that is there twice.
    private static func field() throws -> [DeviceSelector.Candidate] {
        try [
            candidate("C0:11:22:33:44:50", "Band", "fee0"),
            candidate("C0:11:22:33:44:60", "Band 2", "fee0"),
            candidate("D0:11:22:33:44:50", "Lamp"),
            candidate("D0:11:22:33:44:70", "44:60"),
            candidate("C0:11:22:33:44:60", "Band 2"),
            candidate("E0:00:00:00:00:01", "Lamp"),
        ]
    }

    @Test(
        arguments: [
            ("c0:11:22:33:44:50", "C0:11:22:33:44:50"),
            ("44:60", "C0:11:22:33:44:60"),
            ("00:00:00:00:01", "E0:00:00:00:00:01"),
            ("Band", "C0:11:22:33:44:50"),
            ("Band 2", "C0:11:22:33:44:60"),
            ("band", nil), ("Ban", nil), ("44:51", nil), ("C0:11:22:33:44:51", nil), ("11:22", nil),
        ] as [(String, String?)])
    func findsOne(_ text: String, _ found: String?) throws {
        let match: DeviceSelector.Match = try found.map { .device(try fullAddress($0)) } ?? .none
        #expect(DeviceSelector.resolve([try DeviceSelector(text)], among: try Self.field()) == [match])
    }

    @Test(arguments: [
        ("44:50", ["C0:11:22:33:44:50", "D0:11:22:33:44:50"]), ("Lamp", ["D0:11:22:33:44:50", "E0:00:00:00:00:01"]),
    ])
    func listsSeveral(_ text: String, _ addresses: [String]) throws {
        let matches = DeviceSelector.resolve([try DeviceSelector(text)], among: try Self.field())
        guard case .several(let candidates) = try #require(matches.first) else {
            Issue.record("\(matches)")
            return
        }
        #expect(candidates.map(\.address.description) == addresses)
    }

    @Test func countsADeviceThatTwoAdaptersHeardOnceWithAllThatWasHeard() throws {
        let candidates = try [
            candidate("C0:11:22:33:44:51", nil, "fe59"), candidate("C0:11:22:33:44:51", "DfuTarg", "180a"),
        ]
        let selectors = [DeviceSelector.name("DfuTarg"), .address(try fullAddress("C0:11:22:33:44:50"))]
        #expect(DeviceSelector.resolve([selectors[0]], among: candidates) == [.device(candidates[0].address)])
        #expect(DeviceSelector.resolve([selectors[1]], among: candidates) == [.bootloader(candidates[0].address)])
    }

    private static let secure = "fe59"
    private static let legacy = "00001530-1212-efde-1523-785feabcd123"

    @Test(
        "A bootloader is taken for its device only where nothing speaks against it",
        arguments: [
            // What is asked, who is there with which service, who is found, and whether as a bootloader.
            (["C0:11:22:33:44:50"], [("C0:11:22:33:44:51", secure)], ["boot C0:11:22:33:44:51"]),
            (["C0:11:22:33:44:50"], [("C0:11:22:33:44:51", legacy)], ["boot C0:11:22:33:44:51"]),
            (["C0:11:22:33:44:FF"], [("C0:11:22:33:44:00", secure)], ["boot C0:11:22:33:44:00"]),
            // The device itself was heard.
            (
                ["C0:11:22:33:44:50"], [("C0:11:22:33:44:51", secure), ("C0:11:22:33:44:50", "fee0")],
                ["C0:11:22:33:44:50"]
            ),
            // It is no loader.
            (["C0:11:22:33:44:50"], [("C0:11:22:33:44:51", "fee0")], ["none"]),
            // Not the whole address was given.
            (["44:50"], [("C0:11:22:33:44:51", secure)], ["none"]),
            (["11:22:33:44:50"], [("C0:11:22:33:44:51", secure)], ["none"]),
            // Somebody else was asked for by that address, by its end, by its name.
            (
                ["C0:11:22:33:44:50", "C0:11:22:33:44:51"], [("C0:11:22:33:44:51", secure)],
                ["none", "C0:11:22:33:44:51"]
            ),
            (["C0:11:22:33:44:50", "44:51"], [("C0:11:22:33:44:51", secure)], ["none", "C0:11:22:33:44:51"]),
            (["Unit", "C0:11:22:33:44:50"], [("C0:11:22:33:44:51", secure)], ["C0:11:22:33:44:51", "none"]),
            // The device at that address was asked for and not heard, and its own bootloader is there.
            (
                ["C0:11:22:33:44:50", "C0:11:22:33:44:51"], [("C0:11:22:33:44:52", secure)],
                ["none", "boot C0:11:22:33:44:52"]
            ),
            // Two below: never.
            (["C0:11:22:33:44:50"], [("C0:11:22:33:44:52", secure)], ["none"]),
        ] as [([String], [(String, String)], [String])])
    func findsBootloaders(_ asked: [String], _ heard: [(String, String)], _ found: [String]) throws {
        let candidates = try heard.map { try candidate($0.0, "Unit", $0.1) }
        let matches = DeviceSelector.resolve(try asked.map { try DeviceSelector($0) }, among: candidates)
        let words = matches.map { match in
            switch match {
            case .device(let address): "\(address)"
            case .bootloader(let address): "boot \(address)"
            case .none: "none"
            case .several(let candidates): "\(candidates)"
            }
        }
        #expect(words == found)
    }

    @Test("CLI-10 a device that is only remembered is no candidate, unless it is connected")
    func passesOverGhosts() throws {
        let adapter = "/org/bluez/hci0"
        let object = adapter + "/dev_C0_11_22_33_44_50"
        let states: [(Int16?, Bool, Bool)] = [(-60, false, true), (nil, true, true), (nil, false, false)]
        for (rssi, isConnected, isCandidate) in states {
            let device = BlueZSample.device(
                "C0:11:22:33:44:50", of: adapter, name: "Band", services: ["0000fee0-0000-1000-8000-00805f9b34fb"],
                rssi: rssi, changes: ["Connected": .boolean(isConnected)])
            let tree = try #require(BlueZObjectTree(managedObjects: BlueZSample.managed([object: device])))
            let expected = isCandidate ? try candidate("C0:11:22:33:44:50", "Band", "fee0") : nil
            #expect(tree.devices().map(\.candidate) == [expected])
        }
    }

    @Test("BLZ-24 the name that is advertised counts, and the one known from before where none is")
    func takesTheAdvertisedName() throws {
        let data = DBusValue.dictionary(
            [.byte(0x09): .variant(.bytes(Array("DfuTarg".utf8)))], key: .byte, value: .variant)
        let adapter = "/org/bluez/hci0"
        let objects = [
            adapter + "/dev_1": BlueZSample.device(
                "C0:11:22:33:44:50", of: adapter, name: "Watch", changes: ["AdvertisingData": data]),
            adapter + "/dev_2": BlueZSample.device("C0:11:22:33:44:60", of: adapter, name: "Watch"),
            adapter + "/dev_3": BlueZSample.device("C0:11:22:33:44:70", of: adapter),
        ]
        let tree = try #require(BlueZObjectTree(managedObjects: BlueZSample.managed(objects)))
        #expect(tree.devices().map(\.candidate?.name) == ["DfuTarg", "Watch", nil])
    }
}
