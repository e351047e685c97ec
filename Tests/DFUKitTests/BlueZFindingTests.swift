import DFUKit
import DFUSimulator
import DFUTransport
import TestSupport
import Testing

/// Finding a device that has restarted as something else, by BlueZ.
@Suite(.serialized) struct BlueZFindingTests {
    private static let loader = BluetoothUUID(short: 0xFE59)
    private static let bench = GATTDevice.bench.address

    /// Looks for a device on a bus with these; nil where none is found in time.
    private func find(
        _ hints: [DeviceHint], among devices: [AdvertisedDevice], within limit: Duration = .seconds(10)
    ) async throws -> String? {
        try await BlueZStage.run(devices: devices) { stage in
            do throws(TransportError) {
                return try await stage.transport().find(hints, timeout: limit)
            } catch {
                guard error.code == .notFound else { throw error }
                return nil
            }
        }
    }

    @Test func theEarlierHintGoesBefore() async throws {
        let devices = [
            AdvertisedDevice(GATTDevice("C0:FF:EE:00:00:51"), name: "DfuTarg", services: [Self.loader]),
            AdvertisedDevice(GATTDevice("C0:FF:EE:00:00:61"), name: "Dfu12345", services: [Self.loader]),
        ]
        let named = DeviceHint(name: "Dfu12345", services: [Self.loader])
        let next = DeviceHint(address: "C0:FF:EE:00:00:51", services: [Self.loader], patience: .seconds(1))
        #expect(try await find([named, next], among: devices) == "C0:FF:EE:00:00:61")
        #expect(try await find([named, next], among: [devices[0]]) == "C0:FF:EE:00:00:51")
    }

    @Test("SEC-24 what BlueZ only remembers is not taken, and neither is a stranger")
    func remembered() async throws {
        var remembered = AdvertisedDevice(GATTDevice.bench, name: "App")
        remembered.isKnown = true
        remembered.isInRange = false
        let stranger = AdvertisedDevice(GATTDevice("C0:FF:EE:00:00:99"), name: "DfuTarg", services: [Self.loader])
        let result = try await find(
            [DeviceHint(address: Self.bench)], among: [remembered, stranger], within: .milliseconds(500))
        #expect(result == nil)
    }

    @Test func aNeighbourWithoutALoaderIsNoBootloader() async throws {
        let neighbour = AdvertisedDevice(GATTDevice("C0:FF:EE:00:00:51"), name: "App")
        let hint = DeviceHint(address: "C0:FF:EE:00:00:51", services: [Self.loader])
        let result = try await find([hint], among: [neighbour], within: .milliseconds(500))
        #expect(result == nil)
    }
}
