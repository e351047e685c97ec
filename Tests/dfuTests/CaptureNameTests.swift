import Testing

@testable import dfu

@Suite struct CaptureNameTests {
    @Test func eachDeviceHasAFileOfItsOwn() throws {
        let ids = [
            "C0:FF:EE:12:44:50", "c0ffee124451", "33:44:50", "My band/2", "sim:band", "sim:band/a?time=virtual",
            "4450-2",
        ].map { try? ValueFormat<DeviceID>.device.read($0) }.compactMap(\.self)
        #expect(
            CaptureName.names("captures/{}.txt", for: ids) == [
                "captures/4450.txt", "captures/4451.txt", "captures/4450-2.txt", "captures/My-band-2.txt",
                "captures/sim-band.txt", "captures/sim-band-a.txt", "captures/4450-2-2.txt",
            ])
    }

    @Test func aNameWithoutAPlaceIsTakenAsItIs() throws {
        let id = try ValueFormat<DeviceID>.device.read("sim:band")
        #expect(CaptureName.names("update.txt", for: [id]) == ["update.txt"])
    }
}
