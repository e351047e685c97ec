import DFUTransport
import Testing

@Suite struct BlueZAdapterTests {
    /// A tree with adapters that are on, off or blocked.
    private static func tree(_ adapters: [(String, String)]) throws -> BlueZObjectTree {
        var objects: [String: BlueZSample.Interfaces] = [:]
        for (name, state) in adapters {
            var adapter = BlueZSample.adapter(powered: state == "on")
            adapter[BlueZInterface.adapter]?["PowerState"] = .string(state)
            objects["/org/bluez/" + name] = adapter
        }
        return try #require(BlueZObjectTree(managedObjects: BlueZSample.managed(objects)))
    }

    @Test(
        "BLZ-19 the first adapter that is on is taken, or the one that was asked for",
        arguments: [
            ([("hci0", "on")], nil, "hci0"),
            ([("hci1", "on")], nil, "hci1"),
            ([("hci0", "off"), ("hci1", "on")], nil, "hci1"),
            ([("hci10", "on"), ("hci2", "on")], nil, "hci2"),
            ([("hci0", "on"), ("hci2", "on")], "hci2", "hci2"),
            ([("hci1", "off"), ("hci10", "on")], "hci10", "hci10"),
        ] as [([(String, String)], String?, String)])
    func chooses(_ adapters: [(String, String)], _ asked: String?, _ chosen: String) throws {
        #expect(try Self.tree(adapters).usableAdapter(named: asked).name == chosen)
    }

    @Test(
        "BLZ-17 no adapter, one that is off and one that is blocked are told apart",
        arguments: [
            ([], nil, "there is no Bluetooth adapter; plug one in"),
            (
                [("hci0", "off")], nil,
                "the adapter hci0 is off; switch it on (bluetoothctl power on), or use --power-on"
            ),
            (
                [("hci0", "off-blocked")], nil,
                "the adapter hci0 is blocked by rfkill; run: rfkill unblock bluetooth"
            ),
            (
                [("hci0", "off-blocked"), ("hci1", "off")], nil,
                "the adapter hci0, hci1 is off; switch it on (bluetoothctl power on), or use --power-on"
            ),
            (
                [("hci0", "on"), ("hci1", "off")], "hci1",
                "the adapter hci1 is off; switch it on (bluetoothctl power on), or use --power-on"
            ),
            ([("hci0", "on"), ("hci10", "on")], "hci1", "there is no adapter hci1; there is hci0, hci10"),
        ] as [([(String, String)], String?, String)])
    func refuses(_ adapters: [(String, String)], _ asked: String?, _ message: String) throws {
        let tree = try Self.tree(adapters)
        #expect(throws: TransportError(.environment, message: message)) { try tree.usableAdapter(named: asked) }
    }
}
