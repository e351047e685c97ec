import DFUKit
import TestSupport
import Testing

/// Whole updates of a band that shares no code with us.
@Suite struct ForeignBandTests {
    /// Quick, because time is real here.
    private var options: UpdateOptions {
        var options = UpdateOptions()
        options.gap = .fixed(.zero)
        return options
    }

    private func package(_ bytes: [UInt8], version: String = "1.1.0") -> Package {
        Package(reading: bytes, named: "band_v\(version)_\(Checksum.crc32(bytes).hexadecimal).bin")
    }

    @Test(arguments: [1, 16, 2047, 2048, 2049, 12_301, 40_000])
    func takesAWholeImage(size: Int) async throws {
        let transport = try PipeTransport()
        let image = Firmware.bytes(size)
        let report = try await Updater(transport: transport, options: options).update("pipe", with: package(image))
        #expect(report.verdict == .running(version: "1.1.0"))
        #expect(report.versionBefore == "1.0.0")
        #expect(report.retries == 0)
        #expect(transport.dump().prefix(3) == ["1.1.0", "\(size)", Checksum.crc32(image).hexadecimal])
    }

    @Test(arguments: ["20", "64", "244"])
    func takesLongerPackets(limit: String) async throws {
        let transport = try PipeTransport(options: ["--packet-limit", limit])
        let image = Firmware.bytes(10_000)
        let report = try await Updater(transport: transport, options: options).update("pipe", with: package(image))
        #expect(report.verdict == .running(version: "1.1.0"))
        #expect(transport.dump().prefix(3) == ["1.1.0", "10000", Checksum.crc32(image).hexadecimal])
    }

    @Test(arguments: BlockAck.Parameters.Checksum.allCases, BlockAck.Parameters.ByteOrder.allCases)
    func agreesOnTheFramesForms(
        checksum: BlockAck.Parameters.Checksum, byteOrder: BlockAck.Parameters.ByteOrder
    ) async throws {
        let transport = try PipeTransport(options: [
            "--checksum", checksum.rawValue, "--byte-order", byteOrder.rawValue,
        ])
        var profile = DeviceProfile.band
        profile.blockAck.checksum = checksum
        profile.blockAck.byteOrder = byteOrder
        profile.setsTime = true
        let image = Firmware.bytes(5000)
        let report = try await Updater(transport: transport, profile: profile, options: options)
            .update("pipe", with: package(image))
        #expect(report.verdict == .running(version: "1.1.0"))
        #expect(transport.dump().prefix(3) == ["1.1.0", "5000", Checksum.crc32(image).hexadecimal])
    }

    @Test(arguments: ["1.0.0", "0.9.9"])
    func refusesAVersionThatIsNotNewer(version: String) async throws {
        let transport = try PipeTransport()
        let error = await #expect(throws: UpdateError.self) {
            try await Updater(transport: transport, options: options)
                .update("pipe", with: package(Firmware.bytes(3000), version: version))
        }
        #expect(error?.code == .refused)
        #expect(error?.reason == "versionNotNewer")
        #expect(error?.deviceCode == 5)
        #expect(transport.dump().first == "1.0.0")
    }

    @Test func takesAnOlderVersionWhenAsked() async throws {
        let transport = try PipeTransport(options: ["--version", "2.0.0"])
        var options = options
        options.allowDowngrade = true
        let image = Firmware.bytes(3000)
        let report = try await Updater(transport: transport, options: options)
            .update("pipe", with: package(image, version: "1.0.0"))
        #expect(
            report.verdict
                == .accepted(because: "the device was asked to skip its version check, so versions are not compared"))
        #expect(transport.dump()[1...2] == ["3000", Checksum.crc32(image).hexadecimal])
    }

    @Test func refusesAnImageThatIsTooLarge() async throws {
        let transport = try PipeTransport(options: ["--capacity", "2000"])
        let error = await #expect(throws: UpdateError.self) {
            try await Updater(transport: transport, options: options).update(
                "pipe", with: package(Firmware.bytes(2001)))
        }
        #expect(error?.code == .refused)
        #expect(error?.reason == "imageTooLarge")
    }

    @Test func stopsWhereTheBatteryIsLow() async throws {
        let transport = try PipeTransport(options: ["--battery", "2"])
        let error = await #expect(throws: UpdateError.self) {
            try await Updater(transport: transport, options: options).update("pipe", with: package(Firmware.bytes(100)))
        }
        #expect(error?.code == .refused)
        #expect(error?.reason == "batteryLow")
    }

    @Test(arguments: 1...6)
    func goesOnAfterTheLinkWasLost(block: Int) async throws {
        let transport = try PipeTransport()
        let image = Firmware.bytes(12_301)
        let hasLost = Locked(false)
        let observer = UpdateObserver(progress: { progress in
            guard progress.bytes >= block * 2048 - 2048, progress.phase == .transfer else { return }
            let isFirst = hasLost.withLock { hasLost in
                defer { hasLost = true }
                return !hasLost
            }
            if isFirst { transport.loseLink() }
        })
        let report = try await Updater(transport: transport, options: options)
            .update("pipe", with: package(image), observer: observer)
        #expect(report.verdict == .running(version: "1.1.0"))
        #expect(report.connections == 3)
        #expect(transport.dump().prefix(3) == ["1.1.0", "12301", Checksum.crc32(image).hexadecimal])
    }
}
