import DFUTransport
import Testing

@Suite struct BluetoothAddressTests {
    @Test(arguments: [
        ("C0:11:22:33:44:50", "C0:11:22:33:44:50"),
        ("c0:1a:22:33:44:0f", "C0:1A:22:33:44:0F"),
        ("00:00:00:00:00:00", "00:00:00:00:00:00"), ("c0-11-22-33-44-50", "C0:11:22:33:44:50"),
        ("C01122334450", "C0:11:22:33:44:50"),
    ])
    func reads(_ text: String, _ written: String) throws {
        #expect(try #require(BluetoothAddress(text)).description == written)
    }

    @Test(arguments: [
        "", "C0", "C0112233445", "C0112233445G", "C0:11:22:33:44", "C0:11:22:33:44:50:60", "C0-11:22:33:44:50",
        "C0:11:22:33:44:5",
        "C0:11:22:33:44:5G", "+C:11:22:33:44:50", "-0:11:22:33:44:50", " C0:11:22:33:44:50", "C0:11:22:33:44:50:",
        "C0::22:33:44:50", "Ｃ0:11:22:33:44:50",
    ])
    func refuses(_ text: String) {
        #expect(BluetoothAddress(text) == nil)
    }

    @Test(arguments: [
        ("C0:11:22:33:44:50", "C0:11:22:33:44:51"), ("C0:11:22:33:44:FF", "C0:11:22:33:44:00"),
        ("FF:FF:FF:FF:FF:FF", "FF:FF:FF:FF:FF:00"),
    ])
    func addsOneWithoutACarryForTheBootloader(_ device: String, _ bootloader: String) throws {
        #expect(try #require(BluetoothAddress(device)).bootloader == BluetoothAddress(bootloader))
    }
}
