import DFUTransport
import Testing

/// The frames of the kernel's management of Bluetooth, byte for byte (`doc/mgmt-protocol.rst` in BlueZ's sources).
@Suite struct ManagementFrameTests {
    private static let address = BluetoothAddress("C0:FF:EE:12:44:50")

    @Test(
        arguments: [
            (.readVersion, [0x01, 0x00, 0xFF, 0xFF, 0x00, 0x00]),
            (.readControllerInformation(adapter: 1), [0x04, 0x00, 0x01, 0x00, 0x00, 0x00]),
            (.readPHYConfiguration(adapter: 0), [0x44, 0x00, 0x00, 0x00, 0x00, 0x00]),
            (.readDefaultSystemConfiguration(adapter: 258), [0x4B, 0x00, 0x02, 0x01, 0x00, 0x00]),
            (.loadConnectionParameters([], adapter: 0), [0x35, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00]),
        ] as [(ManagementCommand, [UInt8])])
    func commands(command: ManagementCommand, frame: [UInt8]) {
        #expect(command.frame == frame)
    }

    @Test func aLoadOfTwoDevices() throws {
        let band = DeviceConnectionParameters(
            address: try #require(Self.address), addressType: .leRandom, parameters: .update)
        let other = DeviceConnectionParameters(
            address: try #require(BluetoothAddress("00:1A:7D:DA:71:13")), addressType: .lePublic,
            parameters: .kernelDefault)
        #expect(
            ManagementCommand.loadConnectionParameters([band, other], adapter: 3).frame == [
                0x35, 0x00, 0x03, 0x00, 0x20, 0x00, 0x02, 0x00,
                0x50, 0x44, 0x12, 0xEE, 0xFF, 0xC0, 0x02, 0x09, 0x00, 0x0C, 0x00, 0x00, 0x00, 0xC8, 0x00,
                0x13, 0x71, 0xDA, 0x7D, 0x1A, 0x00, 0x01, 0x18, 0x00, 0x28, 0x00, 0x00, 0x00, 0x2A, 0x00,
            ])
    }

    @Test func theLongestLoadFitsItsLength() throws {
        let entry = DeviceConnectionParameters(
            address: try #require(Self.address), addressType: .leRandom, parameters: .update)
        let entries = Array(repeating: entry, count: DeviceConnectionParameters.mostInCommand)
        let frame = ManagementCommand.loadConnectionParameters(entries, adapter: 0).frame
        #expect(frame.count - 6 == Int(frame[4]) | Int(frame[5]) << 8)
    }

    @Test func aCompletedCommand() throws {
        let answer = try #require(
            ManagementAnswer(frame: [
                0x01, 0x00, 0xFF, 0xFF, 0x06, 0x00, 0x01, 0x00, 0x00, 0x01, 0x16, 0x00,
            ]))
        #expect(answer.answers(.readVersion))
        #expect(!answer.answers(.readControllerInformation(adapter: 0)))
        #expect(answer.status == 0)
        #expect(ManagementVersion(answer.parameters) == ManagementVersion(version: 1, revision: 22))
    }

    @Test func aRefusedCommand() throws {
        let answer = try #require(
            ManagementAnswer(frame: [0x02, 0x00, 0x00, 0x00, 0x03, 0x00, 0x35, 0x00, 0x14]))
        #expect(answer.answers(.loadConnectionParameters([], adapter: 0)))
        #expect(!answer.answers(.loadConnectionParameters([], adapter: 1)))
        #expect(answer.status == 0x14)
    }

    @Test(
        arguments: [
            [], [0x01], [0x01, 0x00, 0x00, 0x00, 0x00, 0x00],
            // A length that does not fit, either way.
            [0x01, 0x00, 0xFF, 0xFF, 0x04, 0x00, 0x01, 0x00, 0x00],
            [0x01, 0x00, 0xFF, 0xFF, 0x03, 0x00, 0x01, 0x00, 0x00, 0x00],
            // A status with more behind it.
            [0x02, 0x00, 0x00, 0x00, 0x04, 0x00, 0x35, 0x00, 0x14, 0x00],
            // Device Connected.
            [0x0B, 0x00, 0x00, 0x00, 0x03, 0x00, 0x35, 0x00, 0x00],
        ] as [[UInt8]])
    func whatIsNoAnswer(frame: [UInt8]) {
        #expect(ManagementAnswer(frame: frame) == nil)
    }

    @Test func theAdaptersAddress() {
        let parameters: [UInt8] = [0x13, 0x71, 0xDA, 0x7D, 0x1A, 0x00] + Array(repeating: 0, count: 274)
        #expect(ControllerInformation(parameters)?.address == BluetoothAddress("00:1A:7D:DA:71:13"))
        #expect(ControllerInformation(parameters.dropLast()) == nil)
        #expect(ControllerInformation(parameters + [0]) == nil)
    }

    @Test(
        arguments: [
            ([0xFF, 0x1F, 0, 0, 0, 0, 0, 0, 0xFF, 0x1F, 0, 0], true, true),
            ([0xFF, 0x1F, 0, 0, 0, 0, 0, 0, 0xFF, 0x07, 0, 0], true, false),
            // 2M one way only.
            ([0xFF, 0x0F, 0, 0, 0, 0, 0, 0, 0xFF, 0x07, 0, 0], false, false),
        ] as [([UInt8], Bool, Bool)])
    func thePHYs(parameters: [UInt8], supports: Bool, selects: Bool) throws {
        let configuration = try #require(PHYConfiguration(parameters))
        #expect(configuration.supports2M == supports)
        #expect(configuration.selects2M == selects)
        #expect(PHYConfiguration(Array(parameters.dropLast())) == nil)
    }

    @Test func theKernelsDefaults() {
        let before: [UInt8] = [0x00, 0x00, 0x02, 0x00, 0x00, 0x1F, 0x00, 0x01, 0x01]
        let ours: [UInt8] = [
            0x17, 0x00, 0x02, 0x10, 0x00, 0x18, 0x00, 0x02, 0x20, 0x00, 0x19, 0x00, 0x02, 0x01, 0x00,
            0x1A, 0x00, 0x02, 0x64, 0x00,
        ]
        #expect(
            ConnectionParameters(systemConfiguration: before + ours)
                == ConnectionParameters(units: [0x10, 0x20, 1, 0x64]))
        for length in 0..<ours.count {
            #expect(ConnectionParameters(systemConfiguration: before + ours.prefix(length)) == nil)
        }
    }

    @Test func anyBytesAreReadOrRefused() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            var bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            _ = ConnectionParameters(systemConfiguration: bytes)
            _ = PHYConfiguration(bytes)
            _ = ManagementVersion(bytes)
            _ = ControllerInformation(bytes)
            guard bytes.count >= 6 else { continue }
            bytes.replaceSubrange(0..<6, with: [UInt8.random(in: 1...2), 0, 0, 0, UInt8(bytes.count - 6), 0])
            #expect((ManagementAnswer(frame: bytes) == nil) == (bytes.count < 9 || bytes[0] == 2 && bytes.count != 9))
        }
    }
}
