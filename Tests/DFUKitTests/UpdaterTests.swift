import DFUKit
import DFUSimulator
import TestSupport
import Testing

@Suite(.serialized) struct UpdaterTests {
    private let image = Firmware.bytes(12_301)

    private var quick: (inout UpdateOptions) -> Void { { $0.gap = .fixed(.zero) } }

    // MARK: A good end

    @Test(arguments: Way.allCases) func tellsItsPhasesInOrder(way: Way) async throws {
        let update = try await SimulatedUpdate(over: way, to: .bin(image), adjust: quick)
        #expect(update.report?.verdict == .running(version: "1.1.0"))
        #expect(update.report?.versionBefore == "1.0.0")
        #expect(update.band.memory.image == image)
        var phases: [Phase] = []
        for snapshot in update.progress where snapshot.phase != phases.last { phases.append(snapshot.phase) }
        #expect(phases == [.connect, .discover, .check, .prepare, .transfer, .verify, .confirm, .reconnect, .confirm])
    }

    @Test("CLI-05 the progress never falls, and 100 % comes once, with the device's last word", arguments: Way.allCases)
    func progress(way: Way) async throws {
        let faults: [Fault] = [
            .drop(FaultPlace(.frame, 200)), .disconnect(FaultPlace(.frame, 400), after: .zero),
            .reboot(FaultPlace(.frame, 600), keepsBlocks: false, offAir: .milliseconds(100)),
        ]
        let update = try await SimulatedUpdate(over: way, faults: faults, to: .bin(image), adjust: quick)
        #expect(update.report?.verdict == .running(version: "1.1.0"))
        let bytes = update.progress.map(\.bytes)
        #expect(bytes == bytes.sorted())
        let full = update.progress.first { $0.bytes == $0.total && $0.total > 0 }
        #expect(full?.phase == .verify)
        #expect(update.progress.allSatisfy { $0.total == 0 || $0.fraction <= 1 })
        #expect(update.progress.last { $0.phase == .transfer }?.fraction ?? 1 < 1)
    }

    @Test(arguments: Way.allCases) func setsTheTimeAfterTheReboot(way: Way) async throws {
        var settings = Band.Settings()
        settings.profile.setsTime = true
        let update = try await SimulatedUpdate(over: way, of: settings, to: .bin(image), adjust: quick)
        #expect(update.report?.verdict == .running(version: "1.1.0"))
        #expect(update.band.clock == BlockAck.PackedTime(year: 2026, month: 5, day: 4, hour: 3, minute: 2))
    }

    @Test(arguments: Way.allCases) func aTimeThatCannotBeSetIsAWarning(way: Way) async throws {
        var settings = Band.Settings()
        settings.profile.setsTime = true
        let status = Fault.status(FaultPlace(.frame, 1, of: .setTime, count: .max), BlockAck.Status(rawValue: 0x42))
        let update = try await SimulatedUpdate(
            over: way, of: settings, faults: [status], to: .bin(image), adjust: quick)
        #expect(update.report?.verdict == .running(version: "1.1.0"))
        #expect(update.warnings.map(\.reason) == ["timeNotSet"])
    }

    @Test(arguments: Way.allCases) func aDeviceWithoutAClockIsNone(way: Way) async throws {
        var settings = Band.Settings()
        settings.profile.setsTime = true
        settings.knowsTime = false
        let update = try await SimulatedUpdate(over: way, of: settings, to: .bin(image), adjust: quick)
        #expect(update.report?.verdict == .running(version: "1.1.0"))
        #expect(update.warnings.isEmpty)
    }

    @Test("a large image arrives byte for byte", arguments: Way.allCases) func largeImage(way: Way) async throws {
        var settings = Band.Settings()
        settings.packetLimit = 244
        let image = Firmware.bytes(200 << 10)
        let update = try await SimulatedUpdate(
            over: way, of: settings, to: .bin(image), radio: .bluetooth50, adjust: quick)
        #expect(update.report?.verdict == .running(version: "1.1.0"))
        #expect(update.report?.retries == 0)
        #expect(update.band.memory.image == image)
    }

    // MARK: Proof of identity, and fitness

    @Test(
        arguments: Way.allCases,
        [
            (Fault.battery(tenths: 2), "batteryLow"), (.battery(tenths: nil), "batteryUnknown"),
            (.battery(tenths: 11), "batteryUnknown"),
        ])
    func theBatteryDecides(way: Way, fault: (Fault, reason: String)) async throws {
        let refused = try await SimulatedUpdate(over: way, faults: [fault.0], to: .bin(image), adjust: quick)
        #expect(refused.error?.code == .refused)
        #expect(refused.error?.reason == fault.reason)
        #expect(refused.error?.deviceState == .asBefore)
        #expect(refused.written == [[0x1B, 0x99, 0x01, 0x4B]], "nothing but the question is written")
        let waived = try await SimulatedUpdate(over: way, faults: [fault.0], to: .bin(image)) { options in
            options.gap = .fixed(.zero)
            options.skippedChecks = [.battery]
        }
        #expect(waived.report?.verdict == .running(version: "1.1.0"))
        #expect(waived.warnings.map(\.reason) == ["checkSkipped", fault.reason])
    }

    @Test(arguments: Way.allCases) func onlyTheQuestionIsWrittenToWhatIsNoBand(way: Way) async throws {
        var profile = DeviceProfile.band
        profile.blockAck.deviceHeader = 0x57
        profile.blockAck.limits.battery = .milliseconds(500)
        let update = try await SimulatedUpdate(over: way, to: .bin(image), profile: profile, adjust: quick)
        #expect(update.error?.code == .refused)
        #expect(update.error?.reason == "notBlockAck")
        #expect(update.written == [[0x1B, 0x99, 0x01, 0x4B], [0x1B, 0x99, 0x01, 0x4B]])
    }

    @Test(arguments: Way.allCases) func whoVouchesForTheDeviceIsNotAsked(way: Way) async throws {
        var settings = Band.Settings()
        settings.profile.identification = .none
        let update = try await SimulatedUpdate(over: way, of: settings, to: .bin(image), adjust: quick)
        #expect(update.report?.verdict == .running(version: "1.1.0"))
        #expect(update.written.first?[1] == 0xA0)
    }

    @Test(arguments: Way.allCases) func aDeviceWithOtherServicesIsRefused(way: Way) async throws {
        var profile = DeviceProfile.band
        profile.service = BluetoothUUID(short: 0x1234)
        let update = try await SimulatedUpdate(over: way, to: .bin(image), profile: profile, adjust: quick)
        #expect(update.error?.code == .refused)
        #expect(update.error?.reason == "noKnownService")
        #expect(update.error?.phase == .discover)
        #expect(update.written.isEmpty)
    }

    @Test(arguments: Way.allCases) func aDeviceThatIsNotThereIsNotFound(way: Way) async throws {
        let update = try await SimulatedUpdate(over: way, to: .bin(image), device: "AA:BB:CC:DD:EE:FF") { options in
            options.connectLimit = .milliseconds(200)
        }
        #expect(update.error?.code == .notFound)
        #expect(update.error?.phase == .connect)
        #expect(update.events.isEmpty)
    }

    // MARK: Versions

    @Test(arguments: Way.allCases) func aVersionThatIsNotNewerIsTheDevicesNo(way: Way) async throws {
        let update = try await SimulatedUpdate(over: way, to: .bin(image, version: "1.0.0"), adjust: quick)
        #expect(update.error?.code == .refused)
        #expect(update.error?.reason == "versionNotNewer")
        #expect(update.error?.phase == .prepare)
    }

    @Test(arguments: Way.allCases) func aDowngradeIsSentAndAccepted(way: Way) async throws {
        var settings = Band.Settings()
        settings.version = BlockAck.Version(2, 0, 0)
        let update = try await SimulatedUpdate(over: way, of: settings, to: .bin(image, version: "1.0.0")) { options in
            options.gap = .fixed(.zero)
            options.allowDowngrade = true
        }
        let accepted = "the device was asked to skip its version check, so versions are not compared"
        #expect(update.report?.verdict == .accepted(because: accepted))
        #expect(update.report?.version == nil)
        #expect(update.band.memory.image == image)
        #expect(update.band.memory.version == BlockAck.Version(2, 0, 0), "FF FF FF is not kept as a version")
    }

    @Test(arguments: Way.allCases) func aDowngradeNeedsAProfileThatTakesAnyVersion(way: Way) async throws {
        var settings = Band.Settings()
        settings.profile.blockAck.anyVersion = false
        let update = try await SimulatedUpdate(over: way, of: settings, to: .bin(image)) { $0.allowDowngrade = true }
        #expect(update.error?.code == .usage)
        #expect(update.written.isEmpty)
    }

    // Not over the bus: a device that stays up is watched for ten seconds.
    @Test("CLI-11 accepted, but the old version runs: unverified with both versions; not looked at: sent and accepted")
    func oldVersion() async throws {
        let looked = try await SimulatedUpdate(faults: [.oldVersion], to: .bin(image), adjust: quick)
        #expect(looked.error?.code == .unverified)
        #expect(
            looked.error?.message
                == "the device accepted version 1.1.0, but runs 1.0.0, as before; restart it and look at its version, "
                + "or run the update again")
        #expect(looked.error?.deviceState == .asBefore)
        let notLooked = try await SimulatedUpdate(faults: [.oldVersion], to: .bin(image)) { options in
            options.gap = .fixed(.zero)
            options.verification = .never
        }
        #expect(notLooked.report?.verdict == .accepted(because: "whether it runs was not looked at"))
    }

    @Test("CLI-12 a device that is back before the wait begins is found", arguments: Way.allCases)
    func backAlready(way: Way) async throws {
        var settings = Band.Settings()
        settings.rebootDelay = .milliseconds(10)
        settings.rebootTime = .milliseconds(1)
        let update = try await SimulatedUpdate(over: way, of: settings, to: .bin(image), adjust: quick)
        #expect(update.report?.verdict == .running(version: "1.1.0"))
    }

    @Test(arguments: Way.allCases) func aDeviceWithoutAVersionIsAcceptedUnlessTheLookWasAskedFor(way: Way) async throws
    {
        var settings = Band.Settings()
        settings.showsVersion = false
        let update = try await SimulatedUpdate(over: way, of: settings, to: .bin(image), adjust: quick)
        let accepted = "it has no version to read, so whether it runs was not seen"
        #expect(update.report?.verdict == .accepted(because: accepted))
        let asked = try await SimulatedUpdate(over: way, of: settings, to: .bin(image)) { options in
            options.gap = .fixed(.zero)
            options.verification = .always
        }
        #expect(asked.error?.code == .unverified)
        #expect(asked.error?.deviceState == .unknown)
        #expect(asked.band.memory.image == image)
    }

    @Test(arguments: Way.allCases) func aDeviceThatStaysAwayIsUnverified(way: Way) async throws {
        var settings = Band.Settings()
        settings.rebootTime = .seconds(100)
        settings.profile.blockAck.limits.reconnect = .milliseconds(500)
        let update = try await SimulatedUpdate(
            over: way, of: settings, to: .bin(image), profile: settings.profile, adjust: quick)
        #expect(update.error?.code == .unverified)
        #expect(update.error?.deviceState == .unknown)
    }

    // MARK: Stopping

    @Test(
        "CLI-03 a stop at 30 % is told to the device, and out within 3 s; the next update ends well",
        arguments: Way.allCases)
    func stop(way: Way) async throws {
        let stopped = try await SimulatedUpdate(
            over: way, to: .bin(image), adjust: { $0.gap = .fixed(.milliseconds(1)) },
            during: { progress, intervention in if progress.fraction > 0.3 { intervention.cancel() } })
        #expect(stopped.error?.code == .aborted)
        #expect(stopped.error?.phase == .transfer)
        #expect(stopped.error?.deviceState == .asBefore)
        #expect(stopped.written.last == [0x1B, 0xA5, 0x40], "the last frame is abort")
        #expect(stopped.events.last?.kind == .disconnected)
        #expect(stopped.band.memory.reception == nil)
        let next = try await SimulatedUpdate(over: way, memory: stopped.band.memory, to: .bin(image), adjust: quick)
        #expect(next.report?.verdict == .running(version: "1.1.0"))
        #expect(next.band.memory.image == image)
    }

    @Test(arguments: Way.allCases, [Phase.connect, .discover, .check, .prepare])
    func aStopBeforeTheTransferLeavesTheDeviceAsItWas(way: Way, phase: Phase) async throws {
        let stopped = try await SimulatedUpdate(
            over: way, to: .bin(image),
            during: { progress, intervention in if progress.phase == phase { intervention.cancel() } })
        #expect(stopped.error?.code == .aborted)
        #expect(stopped.error?.deviceState == .asBefore)
        if way == .direct { #expect(stopped.duration < .seconds(3)) }
    }

    @Test(arguments: Way.allCases, [Phase.verify, .confirm, .reconnect])
    func aStopAfterTheLastByteIsNotTold(way: Way, phase: Phase) async throws {
        let stopped = try await SimulatedUpdate(
            over: way, to: .bin(image), adjust: quick,
            during: { progress, intervention in if progress.phase == phase { intervention.cancel() } })
        #expect(stopped.error?.code == .aborted)
        #expect(stopped.error?.deviceState == .unknown)
        #expect(!stopped.written.contains { $0[1] == 0xA5 }, "no abort after complete")
    }

    @Test(arguments: Way.allCases, [Duration.milliseconds(1), .milliseconds(100), .milliseconds(600)])
    func theLimitOfTheWholeEndsIt(way: Way, limit: Duration) async throws {
        let update = try await SimulatedUpdate(over: way, to: .bin(image)) { $0.timeLimit = limit }
        #expect(update.error?.code == .timeout)
        #expect(update.error?.reason == "timeLimit")
        if way == .direct { #expect(update.duration < limit + .seconds(3)) }
        #expect(update.band.memory.image.isEmpty)
    }

    @Test func aLimitThatPassesAfterTheDeviceAcceptedLeavesItUnverified() async throws {
        var settings = Band.Settings()
        settings.rebootTime = .seconds(50)
        let update = try await SimulatedUpdate(over: .direct, of: settings, to: .bin(image)) { options in
            options.gap = .fixed(.zero)
            options.timeLimit = .seconds(30)
        }
        #expect(update.error?.code == .unverified)
        #expect(update.error?.reason == "timeLimit")
        #expect(update.error?.deviceState == .unknown)
    }

    // MARK: Going on

    @Test(arguments: Way.allCases) func aDroppedUpdateGoesOnAtTheBlockThatTheDeviceNames(way: Way) async throws {
        let folder = try TemporaryFolder()
        let checkpoints = CheckpointStore(folder: folder.path)
        var settings = Band.Settings()
        settings.profile.blockAck.gap = .adaptive(from: .milliseconds(2))
        // The radio fails and the host is gone: nobody says goodbye.
        let dropped = try await SimulatedUpdate(
            over: way, of: settings, to: .bin(image), checkpoints: checkpoints, adjust: { $0.connectRetries = 0 },
            during: { progress, intervention in
                if progress.fraction > 0.4 {
                    intervention.loseLink()
                    intervention.cancel()
                }
            })
        #expect(dropped.error?.code == .aborted)
        let held = try #require(dropped.band.memory.reception?.next)
        #expect(held >= 2)
        let next = try await SimulatedUpdate(
            over: way, of: settings, memory: dropped.band.memory, to: .bin(image), checkpoints: checkpoints)
        #expect(next.report?.verdict == .running(version: "1.1.0"))
        #expect(next.band.memory.image == image)
        let firstHeader = next.written.first { $0[1] == 0xA1 }
        #expect(firstHeader?[3] == UInt8(held))
        #expect(checkpoints.load(package: Package.bin(image).sha256.hexadecimal, device: settings.address) == nil)
    }

    @Test(arguments: Way.allCases) func aDeviceThatForgetsAtEachLossIsGivenUp(way: Way) async throws {
        let losses = (1...20).map { loss in
            Fault.reboot(FaultPlace(.frame, 300 * loss), keepsBlocks: false, offAir: .milliseconds(100))
        }
        let update = try await SimulatedUpdate(over: way, faults: losses, to: .bin(image), adjust: quick)
        #expect(update.error?.code == .linkLost)
        #expect(update.band.memory.image.isEmpty)
    }

    @Test(arguments: Way.allCases) func anUpdateThatWasAcceptedUnseenIsRecognised(way: Way) async throws {
        let folder = try TemporaryFolder()
        let checkpoints = CheckpointStore(folder: folder.path)
        let stopped = try await SimulatedUpdate(
            over: way, to: .bin(image), checkpoints: checkpoints, adjust: quick,
            during: { progress, intervention in if progress.phase == .confirm { intervention.cancel() } })
        #expect(stopped.error?.code == .aborted)
        let next = try await SimulatedUpdate(
            over: way, memory: stopped.band.memory, to: .bin(image), checkpoints: checkpoints, adjust: quick)
        #expect(next.report?.verdict == .ranAlready(version: "1.1.0"))
    }

    // MARK: The package

    @Test(arguments: Way.allCases) func aPackageWithProblemsIsRefusedBeforeConnecting(way: Way) async throws {
        let package = Package(reading: image, named: "band_v1.1.0_0000000A.bin")
        let update = try await SimulatedUpdate(over: way, to: package, adjust: quick)
        #expect(update.error?.code == .package)
        #expect(update.error?.reason == "crcMismatch")
        #expect(update.events.isEmpty)
        let waived = try await SimulatedUpdate(over: way, to: package) { options in
            options.gap = .fixed(.zero)
            options.statedCRC = .none
        }
        #expect(waived.report?.verdict == .running(version: "1.1.0"))
        #expect(waived.warnings.map(\.reason) == ["checkSkipped"])
    }

    @Test func aPartThatBlockAckDoesNotCarryIsRefusedNotReplaced() async throws {
        let update = try await SimulatedUpdate(to: .bin(image)) { $0.only = .bootloader }
        #expect(update.error?.code == .package)
        #expect(update.error?.reason == "noSuchPart")
        #expect(update.written.isEmpty)
    }

    @Test(arguments: Way.allCases) func aNameWithoutACRCIsRefusedBeforeTheBatteryQuestion(way: Way) async throws {
        let package = Package(reading: image, named: "band_v1.1.0.bin")
        let automatic = try await SimulatedUpdate(over: way, to: package, adjust: quick)
        #expect(automatic.error?.code == .package)
        #expect(automatic.error?.reason == "crcMissing")
        #expect(automatic.events.first?.kind == .connected)
        #expect(automatic.written.isEmpty)
        let asked = try await SimulatedUpdate(over: way, to: package) { $0.method = .blockAck }
        #expect(asked.error?.reason == "crcMissing")
        #expect(asked.events.isEmpty)
        let stated = try await SimulatedUpdate(over: way, to: package) { options in
            options.gap = .fixed(.zero)
            options.statedCRC = .value(Checksum.crc32(image))
        }
        #expect(stated.report?.verdict == .running(version: "1.1.0"))
        let wrong = try await SimulatedUpdate(over: way, to: package) { $0.statedCRC = .value(1) }
        #expect(wrong.error?.reason == "crcMismatch")
        #expect(wrong.events.isEmpty)
    }

    @Test(
        arguments: Way.allCases,
        [
            ("band_7635C751.bin", "versionMissing"), ("band_v1.256.0.bin", "versionTooLarge"),
            ("band_v255.255.255.bin", "versionReserved"), ("band_v7.bin", "versionMissing"),
        ])
    func aVersionThatCannotBeAnnouncedIsRefused(way: Way, file: (name: String, reason: String)) async throws {
        let update = try await SimulatedUpdate(over: way, to: Package(reading: image, named: file.name)) {
            $0.statedCRC = .none
        }
        #expect(update.error?.code == .package)
        #expect(update.error?.reason == file.reason)
        #expect(update.written.isEmpty)
        let stated = try await SimulatedUpdate(over: way, to: Package(reading: image, named: file.name)) { options in
            options.gap = .fixed(.zero)
            options.statedCRC = .none
            options.firmwareVersion = FirmwareVersion("1.2.3")
        }
        #expect(stated.report?.verdict == .running(version: "1.2.3"))
    }

    // MARK: A slow or limited way

    @Test(arguments: Way.allCases, [23, 64, 247, 517])
    func noPacketIsLongerThanTheLinkTakes(way: Way, mtu: Int) async throws {
        var settings = Band.Settings()
        settings.packetLimit = 244
        let update = try await SimulatedUpdate(
            over: way, of: settings, to: .bin(image), radio: RadioModel(dataLength: 251, mtu: mtu), adjust: quick)
        #expect(update.report?.verdict == .running(version: "1.1.0"))
        #expect(update.written.map(\.count).max() == min(mtu - 3, 244))
    }

    @Test(arguments: Way.allCases) func noPacketIsLongerThanAskedFor(way: Way) async throws {
        var settings = Band.Settings()
        settings.packetLimit = 244
        let update = try await SimulatedUpdate(
            over: way, of: settings, to: .bin(image), radio: RadioModel(dataLength: 251, mtu: 247)
        ) { options in
            options.gap = .fixed(.zero)
            options.maximumPacketLength = 100
        }
        #expect(update.report?.verdict == .running(version: "1.1.0"))
        #expect(update.written.map(\.count).max() == 100)
    }

    @Test(arguments: Way.allCases) func aProfileThatDoesNotFitItselfIsMisconfigured(way: Way) async throws {
        var profile = DeviceProfile.band
        profile.blockAck.blockSize = 5000
        let update = try await SimulatedUpdate(over: way, to: .bin(image), profile: profile, adjust: quick)
        #expect(update.error?.code == .misconfigured)
        #expect(update.written.isEmpty)
    }
}
