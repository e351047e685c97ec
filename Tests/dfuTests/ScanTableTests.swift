import DFUTransport
import Testing

@testable import dfu

@Suite struct ScanTableTests {
    private static func device(
        _ end: String, _ name: String?, _ rssi: Int?, _ services: [String] = [], connected: Bool = false,
        bonded: Bool = false
    ) throws -> ScannedDevice {
        let services = try services.map { try #require(BluetoothUUID($0)) }
        return ScannedDevice(
            address: "C0:FF:EE:00:00:\(end)", addressType: "random", name: name, rssi: rssi, connected: connected,
            bonded: bonded, cached: rssi == nil && !connected, services: services,
            protocols: UpdateProtocol.hints(in: services, profile: .band))
    }

    private static func devices() throws -> [ScannedDevice] {
        [
            try device("01", "Band", -48, ["fee0"], connected: true, bonded: true),
            try device("02", "A lamp with a name of more than thirty columns", -60, ["180f", "180a", "181a"]),
            try device("03", nil, -77),
            try device("04", "\u{1B}[31m灯", nil, ["fe59"], bonded: true),
        ]
    }

    @Test func withoutALimitNothingIsBroken() throws {
        #expect(
            ScanTable.lines(try Self.devices()).joined(separator: "\n") == """
                ADDRESS            RSSI  NAME                                            HINT       STATE              SERVICES
                C0:FF:EE:00:00:01   -48  Band                                            block-ack  connected, bonded  FEE0
                C0:FF:EE:00:00:02   -60  A lamp with a name of more than thirty columns                                Battery, Device Information, Environmental Sensing
                C0:FF:EE:00:00:03   -77  (no name)
                C0:FF:EE:00:00:04     -  \\u{1b}[31m灯                                    secure     bonded, not heard  Nordic Secure DFU
                """)
    }

    @Test func columnsOfNothingAreLeftOut() throws {
        #expect(
            ScanTable.lines([try Self.device("03", "Lamp", -77, ["180f", "1812", "181a"])], width: 60) == [
                "ADDRESS            RSSI  NAME  SERVICES",
                "C0:FF:EE:00:00:03   -77  Lamp  180F, 1812, 181A",
            ])
    }

    @Test func onANarrowTerminalADeviceHasLinesOfItsOwn() throws {
        #expect(
            ScanTable.lines(try Self.devices(), width: 40).joined(separator: "\n") == """
                C0:FF:EE:00:00:01   -48  Band
                  block-ack; connected, bonded; FEE0
                C0:FF:EE:00:00:02   -60  A lamp with a…
                  180F, 180A, 181A
                C0:FF:EE:00:00:03   -77  (no name)
                C0:FF:EE:00:00:04     -  \\u{1b}[31m灯
                  secure; bonded, not heard; Nordic
                  Secure DFU
                """)
    }

    @Test(arguments: [30, 40, 60, 72, 80, 100, 132])
    func nothingIsWiderThanTheTerminal(_ width: Int) throws {
        for line in ScanTable.lines(try Self.devices(), width: width) {
            #expect(line.columns <= width, "\(line)")
            #expect(line.last != " ", "\(line)")
        }
    }

    @Test func ofNoDevicesThereIsNothing() {
        #expect(ScanTable.lines([], width: 80) == [])
    }

    @Test("CLI-10 what is only known is the last, and marked") func order() throws {
        let devices = [
            try Self.device("04", "a", nil), try Self.device("03", "b", -90),
            try Self.device("02", "c", nil, connected: true),
            try Self.device("01", "d", -40),
        ]
        #expect(devices.sorted(by: ScannedDevice.order).map(\.name) == ["d", "b", "c", "a"])
        #expect(devices.map(\.state) == ["cached, not heard", "", "connected", ""])
    }

    @Test func smallChangesOfStrengthAreNotTold() throws {
        let device = try Self.device("01", nil, -60)
        #expect(!(try Self.device("01", nil, -69)).differsNotably(from: device))
        #expect((try Self.device("01", nil, -70)).differsNotably(from: device))
        #expect((try Self.device("01", "Band", -60)).differsNotably(from: device))
        #expect((try Self.device("01", nil, -60, connected: true)).differsNotably(from: device))
        #expect((try Self.device("01", nil, nil)).differsNotably(from: device))
    }
}
