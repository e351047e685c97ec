import DFUSimulator
import DFUTransport
import TestSupport
import Testing

/// `dfu check` over a bus.
@Suite(.serialized, .timeLimit(.minutes(5))) struct BlueZCheckTests {
    private static let band = "C0:FF:EE:00:00:01"

    private static func package(_ folder: TemporaryFolder) throws -> String {
        try folder.write(SignedFirmware.zip(.not), to: "app.zip")
    }

    @Test("To a band only the battery question is written")
    func band() async throws {
        let bench = try FlashBench()
        try await AirBench.run([AdvertisedDevice(Band())]) { air in
            let outcome = await air.dfu("check", bench.package, "--device", Self.band)
            #expect(outcome.errors == "")
            #expect(outcome.status == 0)
            #expect(air.written == [[0x1B, 0x99, 0x01, 0x4B]])
        }
    }

    @Test("To a bootloader only select is written, and to an application nothing")
    func secure() async throws {
        let folder = try TemporaryFolder()
        let package = try Self.package(folder)
        for isBootloader in [true, false] {
            var settings = SecureDevice.Settings()
            settings.startsInBootloader = isBootloader
            let device = SecureDevice(settings)
            try await AirBench.run([AdvertisedDevice(device)]) { air in
                let outcome = await air.dfu("check", package, "--device", device.address)
                #expect(outcome.errors == "")
                #expect(outcome.status == 0)
                #expect(air.written == (isBootloader ? [[0x06, 0x01], [0x06, 0x02]] : []))
            }
        }
    }

    @Test("A device without a known service is 76, and nothing is written")
    func unknown() async throws {
        let bench = try FlashBench()
        try await AirBench.run([AdvertisedDevice(GATTDevice.bench)]) { air in
            let outcome = await air.dfu("check", bench.package, "--device", "C0:FF:EE:00:00:10")
            #expect(outcome.status == 76)
            #expect(
                outcome.errors.hasPrefix("dfu: C0:FF:EE:00:00:10: check: it offers no update that this tool knows ("))
            #expect(air.written == [])
        }
    }

    @Test("A device that is not there is 68, in the document as well")
    func notFound() async throws {
        let bench = try FlashBench()
        try await AirBench.run([AdvertisedDevice(Band())]) { air in
            let outcome = await air.dfu(
                "check", bench.package, "--device", "C0:FF:EE:00:00:77", "--scan-timeout", "1", "--json")
            guard case .object(let document) = try JSONValue(parsing: Array(outcome.output.utf8)) else {
                Issue.record("no object")
                return
            }
            #expect(document["ok"] == .boolean(false))
            #expect(document["reason"] == .string("notFound"))
            #expect(outcome.status == 68)
        }
    }
}
