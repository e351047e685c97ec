import DFUTransport
import Testing

@testable import DFUKit

/// What a device's services say of how it is updated.
@Suite struct DetectedProtocolTests {
    private static let nordic = "f315-4f60-9fb8-838830daea50"

    private func service(_ uuid: String, _ characteristics: [String]) throws -> GATTService {
        GATTService(
            uuid: try #require(BluetoothUUID(uuid)),
            characteristics: try characteristics.map {
                GATTCharacteristic(uuid: try #require(BluetoothUUID($0)), properties: .write)
            })
    }

    @Test(
        "SEC-29 the mode is read, not assumed",
        arguments: [
            (["8ec90001", "8ec90002"], DetectedProtocol.secureBootloader), (["8ec90001"], nil), ([], nil),
            (["8ec90003"], .secureApplication(.unbonded)), (["8ec90004"], .secureApplication(.bonded)),
        ])
    func mode(_ characteristics: [String], _ expected: DetectedProtocol?) throws {
        let service = try service("fe59", characteristics.map { "\($0)-\(Self.nordic)" })
        #expect(DetectedProtocol.all(in: [service], profile: .band).first == expected)
        guard expected == nil else { return }
        #expect(DetectedProtocol.lack(in: [service]).message == "its DFU service has no known characteristic")
    }

    @Test func theTrialOfSDK12IsKnown() throws {
        let uuid = "8e400001-\(Self.nordic)"
        #expect(
            DetectedProtocol.all(in: [try service(uuid, [uuid])], profile: .band) == [.secureApplication(.experimental)]
        )
    }

    @Test func theSurestComesFirstAndBlockAckLast() throws {
        let services = [
            GATTService(
                uuid: BluetoothUUID(short: 0xFEE0),
                characteristics: [
                    GATTCharacteristic(uuid: BluetoothUUID(short: 0xFF01), properties: .notify),
                    GATTCharacteristic(uuid: BluetoothUUID(short: 0xFF02), properties: .writeWithoutResponse),
                ]),
            try service("8d53dc1d-1db7-4cd3-868b-8a527460aa84", []),
            try service("00001530-1212-efde-1523-785feabcd123", []),
            try service("fe59", ["8ec90003-\(Self.nordic)"]),
        ]
        #expect(
            DetectedProtocol.all(in: services, profile: .band)
                == [.secureApplication(.unbonded), .legacy, .smp, .blockAck])
    }
}
