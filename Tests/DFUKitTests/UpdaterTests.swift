import DFUKit
import DFUSimulator
import TestSupport
import Testing

@Suite struct UpdaterTests {
    private let image = Firmware.bytes(12_301)

    private var quick: (inout UpdateOptions) -> Void { { $0.gap = .fixed(.zero) } }

    // MARK: A good end

    @Test func tellsItsPhasesInOrder() async {
        let update = await SimulatedUpdate(to: .bin(image), adjust: quick)
        #expect(update.report?.verdict == .running(version: "1.1.0"))
        #expect(update.report?.versionBefore == "1.0.0")
        #expect(update.band.memory.image == image)
        var phases: [Phase] = []
        for snapshot in update.progress where snapshot.phase != phases.last { phases.append(snapshot.phase) }
        #expect(phases == [.connect, .discover, .check, .prepare, .transfer, .verify, .confirm, .reconnect, .confirm])
    }

    @Test("CLI-05 the progress never falls, and 100 % comes once, with the device's last word")
    func progress() async {
        let faults: [Fault] = [
            .drop(FaultPlace(.frame, 200)), .disconnect(FaultPlace(.frame, 400), after: .zero),
            .reboot(FaultPlace(.frame, 600), keepsBlocks: false, offAir: .seconds(1)),
        ]
        let update = await SimulatedUpdate(faults: faults, to: .bin(image), adjust: quick)
        #expect(update.report?.verdict == .running(version: "1.1.0"))
        let bytes = update.progress.map(\.bytes)
        #expect(bytes == bytes.sorted())
        let full = update.progress.first { $0.bytes == $0.total && $0.total > 0 }
        #expect(full?.phase == .verify)
        #expect(update.progress.allSatisfy { $0.total == 0 || $0.fraction <= 1 })
        #expect(update.progress.last { $0.phase == .transfer }?.fraction ?? 1 < 1)
    }

    @Test func setsTheTimeAfterTheReboot() async {
        var settings = Band.Settings()
        settings.profile.setsTime = true
        let update = await SimulatedUpdate(of: settings, to: .bin(image), adjust: quick)
        #expect(update.report?.verdict == .running(version: "1.1.0"))
        #expect(update.band.clock == BlockAck.PackedTime(year: 2026, month: 5, day: 4, hour: 3, minute: 2))
    }

    @Test func aTimeThatCannotBeSetIsAWarning() async {
        var settings = Band.Settings()
        settings.profile.setsTime = true
        let status = Fault.status(FaultPlace(.frame, 1, of: .setTime, count: .max), BlockAck.Status(rawValue: 0x42))
        let update = await SimulatedUpdate(of: settings, faults: [status], to: .bin(image), adjust: quick)
        #expect(update.report?.verdict == .running(version: "1.1.0"))
        #expect(update.warnings.map(\.reason) == ["timeNotSet"])
    }

    @Test func aDeviceWithoutAClockIsNone() async {
        var settings = Band.Settings()
        settings.profile.setsTime = true
        settings.knowsTime = false
        let update = await SimulatedUpdate(of: settings, to: .bin(image), adjust: quick)
        #expect(update.report?.verdict == .running(version: "1.1.0"))
        #expect(update.warnings.isEmpty)
    }

    // MARK: Proof of identity, and fitness

    @Test(arguments: [
        (Fault.battery(tenths: 2), "batteryLow"), (.battery(tenths: nil), "batteryUnknown"),
        (.battery(tenths: 11), "batteryUnknown"),
    ])
    func theBatteryDecides(fault: Fault, reason: String) async {
        let refused = await SimulatedUpdate(faults: [fault], to: .bin(image), adjust: quick)
        #expect(refused.error?.code == .refused)
        #expect(refused.error?.reason == reason)
        #expect(refused.error?.deviceState == .asBefore)
        #expect(refused.written == [[0x1B, 0x99, 0x01, 0x4B]], "nothing but the question is written")
        let waived = await SimulatedUpdate(faults: [fault], to: .bin(image)) { options in
            options.gap = .fixed(.zero)
            options.skippedChecks = [.battery]
        }
        #expect(waived.report?.verdict == .running(version: "1.1.0"))
        #expect(waived.warnings.map(\.reason) == ["checkSkipped", reason])
    }

    @Test func onlyTheQuestionIsWrittenToWhatIsNoBand() async {
        var profile = DeviceProfile.band
        profile.blockAck.deviceHeader = 0x57
        let update = await SimulatedUpdate(to: .bin(image), profile: profile, adjust: quick)
        #expect(update.error?.code == .refused)
        #expect(update.error?.reason == "notBlockAck")
        #expect(update.written == [[0x1B, 0x99, 0x01, 0x4B], [0x1B, 0x99, 0x01, 0x4B]])
    }

    @Test func whoVouchesForTheDeviceIsNotAsked() async {
        var settings = Band.Settings()
        settings.profile.identification = .none
        let update = await SimulatedUpdate(of: settings, to: .bin(image), adjust: quick)
        #expect(update.report?.verdict == .running(version: "1.1.0"))
        #expect(update.written.first?[1] == 0xA0)
    }

    @Test func aDeviceWithOtherServicesIsRefused() async {
        var profile = DeviceProfile.band
        profile.service = BluetoothUUID(short: 0x1234)
        let update = await SimulatedUpdate(to: .bin(image), profile: profile, adjust: quick)
        #expect(update.error?.code == .refused)
        #expect(update.error?.reason == "noKnownService")
        #expect(update.error?.phase == .discover)
        #expect(update.written.isEmpty)
    }

    @Test func aDeviceThatIsNotThereIsNotFound() async {
        let time = VirtualTime()
        let transport = SimulatedTransport([], time: .virtual(time))
        let error = await #expect(throws: UpdateError.self) {
            try await time.run { [package = Package.bin(image)] in
                try await Updater(transport: transport, clock: time).update("AA:BB:CC:DD:EE:FF", with: package)
            }
        }
        #expect(error?.code == .notFound)
        #expect(error?.phase == .connect)
    }

    // MARK: Versions

    @Test func aVersionThatIsNotNewerIsTheDevicesNo() async {
        let update = await SimulatedUpdate(to: .bin(image, version: "1.0.0"), adjust: quick)
        #expect(update.error?.code == .refused)
        #expect(update.error?.reason == "versionNotNewer")
        #expect(update.error?.phase == .prepare)
    }

    @Test func aDowngradeIsSentAndAccepted() async {
        var settings = Band.Settings()
        settings.version = BlockAck.Version(2, 0, 0)
        let update = await SimulatedUpdate(of: settings, to: .bin(image, version: "1.0.0")) { options in
            options.gap = .fixed(.zero)
            options.allowDowngrade = true
        }
        let accepted = "the device was asked to skip its version check, so versions are not compared"
        #expect(update.report?.verdict == .accepted(because: accepted))
        #expect(update.report?.version == nil)
        #expect(update.band.memory.image == image)
        #expect(update.band.memory.version == BlockAck.Version(2, 0, 0), "FF FF FF is not kept as a version")
    }

    @Test func aDowngradeNeedsAProfileThatTakesAnyVersion() async {
        var settings = Band.Settings()
        settings.profile.blockAck.anyVersion = false
        let update = await SimulatedUpdate(of: settings, to: .bin(image)) { $0.allowDowngrade = true }
        #expect(update.error?.code == .usage)
        #expect(update.written.isEmpty)
    }

    @Test("CLI-11 accepted, but the old version runs: unverified with both versions; not looked at: sent and accepted")
    func oldVersion() async {
        let looked = await SimulatedUpdate(faults: [.oldVersion], to: .bin(image), adjust: quick)
        #expect(looked.error?.code == .unverified)
        #expect(
            looked.error?.message
                == "the device accepted version 1.1.0, but runs 1.0.0, as before; restart it and look at its version, "
                + "or run the update again")
        #expect(looked.error?.deviceState == .asBefore)
        let notLooked = await SimulatedUpdate(faults: [.oldVersion], to: .bin(image)) { options in
            options.gap = .fixed(.zero)
            options.verification = .never
        }
        #expect(notLooked.report?.verdict == .accepted(because: "whether it runs was not looked at"))
    }

    @Test("CLI-12 a device that is back before the wait begins is found")
    func backAlready() async {
        var settings = Band.Settings()
        settings.rebootDelay = .milliseconds(10)
        settings.rebootTime = .milliseconds(1)
        let update = await SimulatedUpdate(of: settings, to: .bin(image), adjust: quick)
        #expect(update.report?.verdict == .running(version: "1.1.0"))
    }

    @Test func aDeviceWithoutAVersionIsAcceptedUnlessTheLookWasAskedFor() async {
        var settings = Band.Settings()
        settings.showsVersion = false
        let update = await SimulatedUpdate(of: settings, to: .bin(image), adjust: quick)
        let accepted = "it has no version to read, so whether it runs was not seen"
        #expect(update.report?.verdict == .accepted(because: accepted))
        let asked = await SimulatedUpdate(of: settings, to: .bin(image)) { options in
            options.gap = .fixed(.zero)
            options.verification = .always
        }
        #expect(asked.error?.code == .unverified)
        #expect(asked.error?.deviceState == .unknown)
        #expect(asked.band.memory.image == image)
    }

    @Test func aDeviceThatStaysAwayIsUnverified() async {
        var settings = Band.Settings()
        settings.rebootTime = .seconds(100)
        let update = await SimulatedUpdate(of: settings, to: .bin(image), adjust: quick)
        #expect(update.error?.code == .unverified)
        #expect(update.error?.deviceState == .unknown)
    }

    // MARK: Stopping

    @Test("CLI-03 a stop at 30 % is told to the device, and out within 3 s; the next update ends well")
    func stop() async {
        let stopped = await SimulatedUpdate(
            to: .bin(image),
            during: { progress, intervention in if progress.fraction > 0.3 { intervention.cancel() } })
        #expect(stopped.error?.code == .aborted)
        #expect(stopped.error?.phase == .transfer)
        #expect(stopped.error?.deviceState == .asBefore)
        #expect(stopped.written.last == [0x1B, 0xA5, 0x40], "the last frame is abort")
        #expect(stopped.events.last?.kind == .disconnected)
        #expect(stopped.band.memory.reception == nil)
        let next = await SimulatedUpdate(memory: stopped.band.memory, to: .bin(image), adjust: quick)
        #expect(next.report?.verdict == .running(version: "1.1.0"))
        #expect(next.band.memory.image == image)
    }

    @Test(arguments: [Phase.connect, .discover, .check, .prepare])
    func aStopBeforeTheTransferLeavesTheDeviceAsItWas(phase: Phase) async {
        let stopped = await SimulatedUpdate(
            to: .bin(image),
            during: { progress, intervention in if progress.phase == phase { intervention.cancel() } })
        #expect(stopped.error?.code == .aborted)
        #expect(stopped.error?.deviceState == .asBefore)
        #expect(stopped.duration < .seconds(3))
    }

    @Test(arguments: [Phase.verify, .confirm, .reconnect])
    func aStopAfterTheLastByteIsNotTold(phase: Phase) async {
        let stopped = await SimulatedUpdate(
            to: .bin(image), adjust: quick,
            during: { progress, intervention in if progress.phase == phase { intervention.cancel() } })
        #expect(stopped.error?.code == .aborted)
        #expect(stopped.error?.deviceState == .unknown)
        #expect(!stopped.written.contains { $0[1] == 0xA5 }, "no abort after complete")
    }

    @Test(arguments: [Duration.milliseconds(1), .milliseconds(100), .seconds(3)])
    func theLimitOfTheWholeEndsIt(limit: Duration) async {
        let update = await SimulatedUpdate(to: .bin(image)) { $0.timeLimit = limit }
        #expect(update.error?.code == .timeout)
        #expect(update.error?.reason == "timeLimit")
        #expect(update.duration < limit + .seconds(3))
        #expect(update.band.memory.image.isEmpty)
    }

    // MARK: Going on

    @Test func aDroppedUpdateGoesOnAtTheBlockThatTheDeviceNames() async throws {
        let folder = try TemporaryFolder()
        let checkpoints = CheckpointStore(folder: folder.path)
        var settings = Band.Settings()
        settings.profile.blockAck.gap = .adaptive(from: .milliseconds(20))
        // The radio fails and the host is gone: nobody says goodbye.
        let dropped = await SimulatedUpdate(
            of: settings, to: .bin(image), checkpoints: checkpoints, adjust: { $0.connectRetries = 0 },
            during: { progress, intervention in
                if progress.fraction > 0.4 {
                    intervention.loseLink()
                    intervention.cancel()
                }
            })
        #expect(dropped.error?.code == .aborted)
        let held = try #require(dropped.band.memory.reception?.next)
        #expect(held >= 2)
        let next = await SimulatedUpdate(
            of: settings, memory: dropped.band.memory, to: .bin(image), checkpoints: checkpoints)
        #expect(next.report?.verdict == .running(version: "1.1.0"))
        #expect(next.band.memory.image == image)
        let firstHeader = next.written.first { $0[1] == 0xA1 }
        #expect(firstHeader?[3] == UInt8(held))
        #expect(checkpoints.load(package: Package.bin(image).sha256.hexadecimal, device: settings.address) == nil)
    }

    @Test func aDeviceThatForgetsAtEachLossIsGivenUp() async {
        let losses = (1...20).map { loss in
            Fault.reboot(FaultPlace(.frame, 300 * loss), keepsBlocks: false, offAir: .seconds(1))
        }
        let update = await SimulatedUpdate(faults: losses, to: .bin(image), adjust: quick)
        #expect(update.error?.code == .linkLost)
        #expect(update.band.memory.image.isEmpty)
    }

    @Test func anUpdateThatWasAcceptedUnseenIsRecognised() async throws {
        let folder = try TemporaryFolder()
        let checkpoints = CheckpointStore(folder: folder.path)
        let stopped = await SimulatedUpdate(
            to: .bin(image), checkpoints: checkpoints, adjust: quick,
            during: { progress, intervention in if progress.phase == .confirm { intervention.cancel() } })
        #expect(stopped.error?.code == .aborted)
        let next = await SimulatedUpdate(
            memory: stopped.band.memory, to: .bin(image), checkpoints: checkpoints, adjust: quick)
        #expect(next.report?.verdict == .ranAlready(version: "1.1.0"))
    }

    // MARK: The package

    @Test func aPackageWithProblemsIsRefusedBeforeConnecting() async {
        let package = Package(reading: image, named: "band_v1.1.0_0000000A.bin")
        let update = await SimulatedUpdate(to: package, adjust: quick)
        #expect(update.error?.code == .package)
        #expect(update.error?.reason == "crcMismatch")
        #expect(update.events.isEmpty)
        let waived = await SimulatedUpdate(to: package) { options in
            options.gap = .fixed(.zero)
            options.statedCRC = .none
        }
        #expect(waived.report?.verdict == .running(version: "1.1.0"))
        #expect(waived.warnings.map(\.reason) == ["checkSkipped"])
    }

    @Test func aNameWithoutACRCIsRefusedBeforeTheBatteryQuestion() async {
        let package = Package(reading: image, named: "band_v1.1.0.bin")
        let automatic = await SimulatedUpdate(to: package, adjust: quick)
        #expect(automatic.error?.code == .package)
        #expect(automatic.error?.reason == "crcMissing")
        #expect(automatic.events.first?.kind == .connected)
        #expect(automatic.written.isEmpty)
        let asked = await SimulatedUpdate(to: package) { $0.method = .blockAck }
        #expect(asked.error?.reason == "crcMissing")
        #expect(asked.events.isEmpty)
        let stated = await SimulatedUpdate(to: package) { options in
            options.gap = .fixed(.zero)
            options.statedCRC = .value(Checksum.crc32(image))
        }
        #expect(stated.report?.verdict == .running(version: "1.1.0"))
        let wrong = await SimulatedUpdate(to: package) { $0.statedCRC = .value(1) }
        #expect(wrong.error?.reason == "crcMismatch")
        #expect(wrong.events.isEmpty)
    }

    @Test(arguments: [
        ("band_7635C751.bin", "versionMissing"), ("band_v1.256.0.bin", "versionTooLarge"),
        ("band_v255.255.255.bin", "versionReserved"), ("band_v7.bin", "versionMissing"),
    ])
    func aVersionThatCannotBeAnnouncedIsRefused(name: String, reason: String) async {
        let update = await SimulatedUpdate(to: Package(reading: image, named: name)) { $0.statedCRC = .none }
        #expect(update.error?.code == .package)
        #expect(update.error?.reason == reason)
        #expect(update.written.isEmpty)
        let stated = await SimulatedUpdate(to: Package(reading: image, named: name)) { options in
            options.gap = .fixed(.zero)
            options.statedCRC = .none
            options.firmwareVersion = FirmwareVersion("1.2.3")
        }
        #expect(stated.report?.verdict == .running(version: "1.2.3"))
    }

    // MARK: A slow or limited way

    @Test(arguments: [23, 64, 247, 517])
    func noPacketIsLongerThanTheLinkTakes(mtu: Int) async {
        var settings = Band.Settings()
        settings.packetLimit = 244
        let update = await SimulatedUpdate(
            of: settings, to: .bin(image), radio: RadioModel(dataLength: 251, mtu: mtu), adjust: quick)
        #expect(update.report?.verdict == .running(version: "1.1.0"))
        #expect(update.written.map(\.count).max() == min(mtu - 3, 244))
    }

    @Test func noPacketIsLongerThanAskedFor() async {
        var settings = Band.Settings()
        settings.packetLimit = 244
        let update = await SimulatedUpdate(
            of: settings, to: .bin(image), radio: RadioModel(dataLength: 251, mtu: 247)
        ) { options in
            options.gap = .fixed(.zero)
            options.maximumPacketLength = 100
        }
        #expect(update.report?.verdict == .running(version: "1.1.0"))
        #expect(update.written.map(\.count).max() == 100)
    }

    @Test func aProfileThatDoesNotFitItselfIsMisconfigured() async {
        var profile = DeviceProfile.band
        profile.blockAck.blockSize = 5000
        let update = await SimulatedUpdate(to: .bin(image), profile: profile, adjust: quick)
        #expect(update.error?.code == .misconfigured)
        #expect(update.written.isEmpty)
    }
}
