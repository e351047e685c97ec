import DFUSimulator
import DFUTransport
import TestSupport
import Testing

/// The emulated radio itself.
@Suite(.lab) struct RadioTests {
    @Test("a device is heard with its name and service, connected to, and read")
    func isADevice() async throws {
        let band = Band()
        try await Lab.run([AdvertisedDevice(band, name: "Band")]) { _ in
            let transport = try await BlueZTransport()
            let heard = try await transport.scan(for: .seconds(10)) { devices in
                devices.contains { $0.address == band.address && $0.isHeard && $0.name != nil }
            }
            let device = try #require(heard.first { $0.address == band.address })
            #expect(device.name == "Band")
            #expect(device.services == [BluetoothUUID(short: 0xFEE0)])
            #expect(device.signalStrength == -60)
            let peripheral = try await transport.connect(to: band.address, timeout: .seconds(10))
            let version = try await peripheral.read(
                BluetoothUUID(short: 0x2A26), of: BluetoothUUID(short: 0x180A))
            #expect(version == Array("1.0.0".utf8))
            await peripheral.disconnect()
        }
    }
}
