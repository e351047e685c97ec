import DFUTransport
import Testing

@Suite struct BluetoothUUIDTests {
    @Test(arguments: [
        ("fee0", "0000fee0-0000-1000-8000-00805f9b34fb"),
        ("FEE0", "0000fee0-0000-1000-8000-00805f9b34fb"),
        ("0000FF01", "0000ff01-0000-1000-8000-00805f9b34fb"),
        ("8EC90001-F315-4F60-9FB8-838830DAEA50", "8ec90001-f315-4f60-9fb8-838830daea50"),
    ])
    func reads(_ text: String, _ long: String) {
        #expect(BluetoothUUID(text)?.description == long)
    }

    @Test(arguments: [
        "", "fee", "+ee0", "fee0g", "8EC90001F3154F609FB8838830DAEA50", "8EC90001-F315-4F60-9FB8_838830DAEA50",
    ])
    func refuses(_ text: String) {
        #expect(BluetoothUUID(text) == nil)
    }
}
