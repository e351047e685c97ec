import DFUTransport
import Testing

@testable import dfu

@Suite struct CharacteristicIDTests {
    private static let long = "8ec90001-f315-4f60-9fb8-838830daea50"

    @Test(arguments: [
        ("2A26", nil, "00002a26-0000-1000-8000-00805f9b34fb"), ("2a26", nil, "00002a26-0000-1000-8000-00805f9b34fb"),
        ("00002A26", nil, "00002a26-0000-1000-8000-00805f9b34fb"), (long, nil, long),
        ("8EC90001F3154F609FB8838830DAEA50", nil, long),
        ("180A/2A26", "0000180a-0000-1000-8000-00805f9b34fb", "00002a26-0000-1000-8000-00805f9b34fb"),
        ("fe59/\(long)", "0000fe59-0000-1000-8000-00805f9b34fb", long),
    ])
    func reads(_ text: String, _ service: String?, _ uuid: String) throws {
        let id = try #require(CharacteristicID(text))
        #expect(id.service?.description == service)
        #expect(id.uuid.description == uuid)
    }

    @Test(arguments: ["", "2A2", "2A26/", "/2A26", "180A/2A26/1", "name", "2A2G", "2A-26", "\u{FF12}A26", long + "0"])
    func refuses(_ text: String) {
        #expect(CharacteristicID(text) == nil)
    }

    @Test(arguments: [
        ("2a26", "2A26", "Firmware Revision"), ("00012a26", "00012A26", nil), (long, long, "DFU Control Point"),
        ("fee0", "FEE0", nil), ("000f", "000F", nil),
    ])
    func isShown(_ text: String, _ short: String, _ name: String?) throws {
        let uuid = try #require(BluetoothUUID(text))
        #expect(uuid.short == short)
        #expect(uuid.name == name)
    }
}

@Suite struct UpdateProtocolTests {
    private static func service(_ uuid: String, _ characteristics: String...) throws -> GATTService {
        GATTService(
            uuid: try #require(BluetoothUUID(uuid)),
            characteristics: try characteristics.map {
                GATTCharacteristic(uuid: try #require(BluetoothUUID($0)), properties: [.write, .notify])
            })
    }

    @Test(
        arguments: [
            ("fe59", [.secure]), ("00001530-1212-efde-1523-785feabcd123", [.legacy]),
            ("8d53dc1d-1db7-4cd3-868b-8a527460aa84", [.smp]), ("fee0", [.blockAck]), ("180a", []),
        ] as [(String, [UpdateProtocol])])
    func advertisementsHint(_ service: String, _ protocols: [UpdateProtocol]) throws {
        let uuid = try #require(BluetoothUUID(service))
        #expect(UpdateProtocol.hints(in: [uuid], profile: .band) == protocols)
    }

    @Test func aProfilesServiceHintsAtBlockAck() throws {
        var profile = DeviceProfile.band
        profile.service = BluetoothUUID(short: 0xFEE7)
        #expect(UpdateProtocol.hints(in: [profile.service], profile: profile) == [.blockAck])
        #expect(UpdateProtocol.hints(in: [BluetoothUUID(short: 0xFEE0)], profile: profile) == [])
    }

    @Test(arguments: [
        (["8ec90001-f315-4f60-9fb8-838830daea50", "8ec90002-f315-4f60-9fb8-838830daea50"], "a bootloader"),
        (["8ec90003-f315-4f60-9fb8-838830daea50"], "an application that enters its bootloader"),
        (["8ec90004-f315-4f60-9fb8-838830daea50"], "an application that enters its bootloader, with a bond"),
        (["8ec90001-f315-4f60-9fb8-838830daea50"], nil),
    ])
    func secureIsKnownByItsCharacteristics(_ uuids: [String], _ evidence: String?) throws {
        var service = try Self.service("fe59")
        service.characteristics = try uuids.map {
            GATTCharacteristic(uuid: try #require(BluetoothUUID($0)), properties: .write)
        }
        #expect(UpdateProtocol.secure.evidence(in: [service], profile: .band) == evidence)
    }

    @Test func othersAreKnownByTheirs() throws {
        let legacy = try Self.service(
            "00001530-1212-efde-1523-785feabcd123", "00001531-1212-efde-1523-785feabcd123",
            "00001532-1212-efde-1523-785feabcd123")
        #expect(UpdateProtocol.legacy.evidence(in: [legacy], profile: .band) == "control point and packet")
        let smp = try Self.service(
            "8d53dc1d-1db7-4cd3-868b-8a527460aa84", "da2e7828-fbce-4e01-ae9e-261174997c48")
        #expect(UpdateProtocol.smp.evidence(in: [smp], profile: .band) == "its characteristic")
        let band = try Self.service("fee0", "ff01", "ff02")
        #expect(
            UpdateProtocol.blockAck.evidence(in: [band], profile: .band) == "has its characteristics; nothing was asked"
        )
        #expect(UpdateProtocol.allCases.allSatisfy { $0.evidence(in: [], profile: .band) == nil })
    }
}
