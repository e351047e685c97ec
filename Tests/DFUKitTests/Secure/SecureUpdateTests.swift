import DFUKit
import DFUProtocol
import DFUSimulator
import DFUTransport
import TestSupport
import Testing

/// Updates by Secure DFU, from the application into the bootloader and back.
@Suite(.serialized) struct SecureUpdateTests {
    private static let application = "C0:FF:EE:00:00:50"
    private static let loader = "C0:FF:EE:00:00:51"
    private static let image = Firmware.bytes(10_000)
    private static let package = Package.secure(image)

    private typealias Attributes = SecureDFU.Attributes

    // MARK: A good end

    @Test("SEC-29b an application is sent into its bootloader, and runs as the new one", arguments: Way.allCases)
    func whole(way: Way) async throws {
        var settings = SecureDevice.Settings()
        settings.version = "0.9"
        let run = try await SecureRun(over: way, of: settings, to: Self.package)
        #expect(run.report?.verdict == .running(version: "1"))
        #expect(run.report?.protocolName == "secure")
        #expect(run.report?.versionBefore == "0.9")
        #expect(run.report?.version == "1")
        #expect(run.report?.bytes == 10_000)
        #expect(run.application == Self.image)
        #expect(run.written(to: Attributes.buttonless).last == [1])
        #expect(
            run.phases == [
                .connect, .discover, .check, .enterBootloader, .reconnect, .discover, .prepare, .initPacket, .transfer,
                .verify, .activate, .confirm, .reconnect, .confirm,
            ])
    }

    @Test("CLI-05 the progress never falls, and 100 % comes once, with the device's last word", arguments: Way.allCases)
    func progress(way: Way) async throws {
        let run = try await SecureRun(
            over: way, to: Self.package,
            alter: { $0.rule = Self.losing(object: 2, at: [25]) })
        #expect(run.report != nil)
        let bytes = run.progress.map(\.bytes)
        #expect(bytes == bytes.sorted())
        #expect(run.progress.first { $0.bytes == $0.total && $0.total > 0 }?.phase == .verify)
        #expect(run.progress.allSatisfy { $0.total == 0 || $0.total == 10_000 })
    }

    /// Loses the link at these requests of the bootloader, counted over the whole.
    private static func losing(object: UInt8, at requests: Set<Int>) -> AlteredDevice.Rule {
        { device, bytes, characteristic in
            guard requests.contains(device.requests), characteristic == Attributes.controlPoint else {
                return device.pass(bytes, characteristic)
            }
            return [.disconnect(after: .zero)]
        }
    }

    @Test("SEC-29a a bootloader that was asked for is not sent anywhere", arguments: Way.allCases)
    func bootloader(way: Way) async throws {
        var settings = SecureDevice.Settings()
        settings.startsInBootloader = true
        let run = try await SecureRun(over: way, of: settings, to: Self.package)
        #expect(run.written(to: Attributes.buttonless).isEmpty)
        #expect(run.application == Self.image)
        // Whose the application at the address before is, the address does not prove.
        let reason =
            "something is on the air at \(Self.application), where its application is to be expected, and was not asked"
        #expect(run.report?.verdict == .accepted(because: reason))
        let found = try await SecureRun(
            over: way, of: settings, to: Self.package, asked: Self.application, at: Self.loader)
        #expect(found.report?.verdict == .running(version: "1"))
    }

    @Test("SEC-29c a DFU service without a known characteristic is refused", arguments: Way.allCases)
    func unknownCharacteristics(way: Way) async throws {
        let run = try await SecureRun(over: way, to: Self.package) { device in
            device.showing = { _ in [GATTService(uuid: Attributes.service, characteristics: [])] }
        }
        #expect(run.error?.code == .refused)
        #expect(run.error?.reason == "noKnownService")
        #expect(run.error?.message.contains("DFU service has no known characteristic") == true)
        #expect(run.error?.deviceState == .asBefore)
        #expect(run.writes == 0)
    }

    // MARK: What is asked for before anything is sent

    @Test("a package that does not go the device's way is refused before anything is sent", arguments: Way.allCases)
    func foreignPackage(way: Way) async throws {
        let run = try await SecureRun(over: way, to: .bin(Self.image))
        #expect(run.error?.code == .package)
        #expect(run.error?.reason == "notForSecure")
        #expect(run.writes == 0)
    }

    @Test("SEC-31 the application alone is sent, and a part that is not there is named")
    func only() async throws {
        let package = Package.secure([
            Package.SecureImage(role: "softdevice_bootloader", firmware: Firmware.bytes(9000)),
            Package.SecureImage(firmware: Self.image),
        ])
        let run = try await SecureRun(to: package, adjust: { $0.only = .application })
        #expect(run.report?.verdict == .running(version: "1"))
        #expect(run.report?.bytes == 10_000)
        let sent = run.written(to: Attributes.packet).joined()
        #expect(Array(sent) == Package.SecureImage(firmware: Self.image).initPacket + Self.image)
        let none = try await SecureRun(to: Self.package, adjust: { $0.only = .bootloader })
        #expect(none.error?.code == .package)
        #expect(none.error?.message == "app.zip: the package has no bootloader part; it has: application")
        #expect(none.events.isEmpty)
    }

    // MARK: Entry

    @Test(
        "SEC-26 a name that is not taken is left out", arguments: Way.allCases,
        [
            [.notify([0x20, 2, 2], from: Attributes.buttonless, after: .zero)],
            [.notify([0x20, 2, 4], from: Attributes.buttonless, after: .zero)],
            [.disconnect(after: .zero), .reboot(after: .zero, offAir: .milliseconds(50))],
        ] as [[DeviceAction]])
    func name(way: Way, actions: [DeviceAction]) async throws {
        let run = try await SecureRun(over: way, to: Self.package) { $0.rule = AlteredDevice.entry(2, actions) }
        #expect(run.report?.verdict == .running(version: "1"))
        #expect(run.application == Self.image)
        #expect(run.written(to: Attributes.buttonless).last == [1])
        #expect(run.device.alterations == 1)
    }

    @Test("SEC-22 an answer that the reset overtakes is none too many", arguments: Way.allCases)
    func lostAnswer(way: Way) async throws {
        let run = try await SecureRun(over: way, to: Self.package) { device in
            device.rule = { device, bytes, characteristic in
                let actions = device.pass(bytes, characteristic)
                guard characteristic == Attributes.buttonless, bytes == [1] else { return actions }
                return actions.filter { action in
                    if case .notify = action { false } else { true }
                }
            }
        }
        #expect(run.report?.verdict == .running(version: "1"))
    }

    @Test("SEC-24 the application's old advertisement is not taken for the bootloader", arguments: Way.allCases)
    func oldAdvertisement(way: Way) async throws {
        let run = try await SecureRun(over: way, to: Self.package) { device in
            device.echoing = { device in
                guard device.isInBootloader else { return [] }
                return [DeviceAdvertisement(address: Self.application, name: "App", services: [Attributes.service])]
            }
        }
        #expect(run.report?.verdict == .running(version: "1"))
        #expect(run.report?.connections == 3)
    }

    @Test("SEC-27 a bonded bootloader is found at the same address, and the bond is kept", arguments: Way.allCases)
    func bonded(way: Way) async throws {
        var settings = SecureDevice.Settings()
        settings.entry = .bonded
        var scene = BlueZScene()
        scene.advertise = { $0.isPaired = true }
        let run = try await SecureRun(over: way, of: settings, to: Self.package, in: scene)
        #expect(run.report?.verdict == .running(version: "1"))
        #expect(run.application == Self.image)
        #expect(!run.calls.contains { $0.member == "RemoveDevice" })
        #expect(!run.log.contains { $0.contains(Self.loader) })
    }

    @Test("SEC-28 a bootloader without the bond is not paired with", arguments: Way.allCases)
    func bondNotShared(way: Way) async throws {
        var scene = BlueZScene()
        scene.advertise = { $0.isPaired = true }
        let run = try await SecureRun(over: way, to: Self.package, in: scene)
        #expect(run.report?.verdict == .running(version: "1"))
        #expect(!run.calls.contains { $0.member == "Pair" || $0.member == "RemoveDevice" })
        #expect(run.warnings.isEmpty)
    }

    @Test("the trial of SDK 12 enters by a characteristic of its own", arguments: Way.allCases)
    func experimental(way: Way) async throws {
        var settings = SecureDevice.Settings()
        settings.entry = .sdk12
        settings.sdk = .sdk12
        let run = try await SecureRun(over: way, of: settings, to: Self.package)
        #expect(run.report?.verdict == .running(version: "1"))
        #expect(run.written(to: Attributes.experimental) == [[1]])
    }

    @Test func anApplicationThatComesBackIsSentThreeTimes() async throws {
        let answer = DeviceAction.notify([0x20, 1, 1], from: Attributes.buttonless, after: .zero)
        let run = try await SecureRun(to: Self.package) { device in
            device.rule = AlteredDevice.entry(
                1, [answer, .disconnect(after: .zero), .reboot(after: .zero, offAir: .milliseconds(500))])
        }
        #expect(run.error?.code == .refused)
        #expect(run.error?.reason == "staysInApplication")
        #expect(run.error?.deviceState == .asBefore)
        #expect(run.device.alterations == 3)
    }

    @Test func anotherAskedDeviceIsNeverTakenForTheBootloader() async throws {
        let run = try await SecureRun(
            to: Self.package,
            alter: { device in
                let refusal = DeviceAction.notify([0x20, 2, 2], from: Attributes.buttonless, after: .zero)
                device.rule = AlteredDevice.entry(2, [refusal])
            },
            adjust: { $0.otherDevices = [Self.loader] })
        #expect(run.error?.code == .linkLost)
        #expect(run.error?.reason == "bootloaderNotFound")
        #expect(run.error?.deviceState == .bootloader)
        #expect(run.written(to: Attributes.controlPoint).isEmpty)
    }

    @Test("a legacy loader behind a secure trigger is named")
    func legacyLoader() async throws {
        let run = try await SecureRun(to: Self.package) { device in
            device.showing = { device in
                device.isInBootloader
                    ? [GATTService(uuid: Attributes.legacyService, characteristics: [])] : device.services
            }
        }
        #expect(run.error?.code == .refused)
        #expect(run.error?.reason == "protocolNotYet")
        #expect(run.error?.deviceState == .bootloader)
        #expect(run.error?.message == "it is updated by Legacy DFU, which is not in this version yet")
    }

    // MARK: Refusals

    struct Refusal: Sendable {
        var opcode: UInt8 = 4
        var object: UInt8 = 1
        var answer: [UInt8]
        var reason: String
        var words: [String]
    }

    private static let refusals = [
        Refusal(
            answer: [0x60, 4, 0x0B, 5], reason: "versionNotNewer",
            words: ["version (1)", "holds a newer one; downgrade is blocked by its bootloader"]),
        Refusal(answer: [0x60, 4, 0x0B, 7], reason: "softdeviceMismatch", words: ["0x0100", "device runs another"]),
        Refusal(
            answer: [0x60, 4, 0x0A], reason: "bootloaderRefused",
            words: ["hw 52, sd_req 0x0100, fw version 1, size 10000, not signed", "gives no reason"]),
        Refusal(answer: [0x60, 4, 0x0B, 0x0D], reason: "spaceInsufficient", words: ["10000 bytes"]),
        Refusal(answer: [0x60, 4, 0x0B, 0x2A], reason: "bootloaderRefused", words: ["unknown code 0x2A"]),
        Refusal(answer: [0x60, 4, 0x0B], reason: "bootloaderRefused", words: ["0x0B"]),
        Refusal(opcode: 1, object: 2, answer: [0x60, 1, 4], reason: "spaceInsufficient", words: ["10000 bytes"]),
    ]

    @Test("SEC-09 to SEC-17 a refusal has the package's own values, and comes at once", arguments: refusals)
    func refused(_ refusal: Refusal) async throws {
        let run = try await SecureRun(to: Self.package) {
            $0.rule = AlteredDevice.answering(refusal.opcode, of: refusal.object, with: refusal.answer)
        }
        let error = try #require(run.error)
        #expect(error.code == .refused)
        #expect(error.reason == refusal.reason)
        #expect(error.deviceState == .bootloader)
        for word in refusal.words { #expect(error.message.contains(word), "\(error.message)") }
        #expect(run.device.alterations == 1)
        #expect(run.events.last?.kind == .disconnected)
    }

    @Test("SEC-18 a stuck bootloader gets one clean try more", arguments: Way.allCases)
    func stuck(way: Way) async throws {
        let once = try await SecureRun(over: way, to: Self.package) {
            $0.rule = AlteredDevice.answering(1, of: 1, with: [0x60, 1, 8], times: 1)
        }
        #expect(once.report?.verdict == .running(version: "1"))
        let always = try await SecureRun(over: way, to: Self.package) {
            $0.rule = AlteredDevice.answering(1, of: 1, with: [0x60, 1, 8])
        }
        #expect(always.error?.reason == "deviceStuck")
        #expect(always.error?.message.contains("power-cycle") == true)
    }

    // MARK: The end

    /// Loses the link at the last execute, and does with it what `last` says.
    private static func atTheEnd(_ last: @escaping @Sendable (inout AlteredDevice, [DeviceAction]) -> [DeviceAction])
        -> AlteredDevice.Rule
    {
        { device, bytes, characteristic in
            let isLast = bytes == [4] && device.object == 2 && device.device.received(.data).count == 10_000
            guard characteristic == Attributes.controlPoint, isLast, device.alterations == 0 else {
                return device.pass(bytes, characteristic)
            }
            device.alterations += 1
            return last(&device, device.pass(bytes, characteristic))
        }
    }

    @Test("SEC-13b the last answer is lost, and the application runs: OK", arguments: Way.allCases)
    func lostVerdict(way: Way) async throws {
        var settings = SecureDevice.Settings()
        settings.version = "0.9"
        let run = try await SecureRun(over: way, of: settings, to: Self.package) { device in
            device.rule = Self.atTheEnd { _, actions in
                actions.filter { action in
                    if case .notify = action { false } else { true }
                }
            }
        }
        #expect(run.report?.verdict == .running(version: "1"))
        #expect(run.application == Self.image)
    }

    /// Loses the answer to the last `execute`, which is carried out.
    private static let losingTheVerdict = atTheEnd { _, actions in
        actions.filter { action in
            if case .notify = action { false } else { true }
        }
    }

    @Test("SEC-13b the last answer is lost, and the version is the one from before: unverified")
    func lostVerdictSameVersion() async throws {
        let run = try await SecureRun(to: Self.package, alter: { $0.rule = Self.losingTheVerdict })
        #expect(run.error?.code == .unverified)
        #expect(
            run.error?.message
                == "all was sent, but the last answer was lost, and its application runs with version 1, "
                + "as before; run the same command again")
        #expect(run.error?.deviceState == .unknown)
    }

    @Test(
        "SEC-13b the last answer is lost, and an application without a version runs: OK, 79 where a proof was asked for"
    )
    func lostVerdictNoVersion() async throws {
        var settings = SecureDevice.Settings()
        settings.showsVersion = false
        let run = try await SecureRun(of: settings, to: Self.package, alter: { $0.rule = Self.losingTheVerdict })
        let reason = "its last answer was lost, and its application runs again, which may be the one from before"
        #expect(run.report?.verdict == .accepted(because: reason))
        let asked = try await SecureRun(
            of: settings, to: Self.package, alter: { $0.rule = Self.losingTheVerdict },
            adjust: { $0.verification = .always })
        #expect(asked.error?.code == .unverified)
    }

    @Test("CLI-11 all was accepted, and another version than the package's runs as before: said so, 79 with --verify")
    func unchangedVersion() async throws {
        let alter: (inout AlteredDevice) -> Void = { device in
            device.answering = { _, request in
                guard case .read = request else { return nil }
                return AttributeAnswer(.success(Array("0.9".utf8)))
            }
        }
        let run = try await SecureRun(to: Self.package, alter: alter)
        let reason = "the device accepted it, and its application runs with version 0.9, as before"
        #expect(run.report?.verdict == .accepted(because: reason))
        let asked = try await SecureRun(to: Self.package, alter: alter, adjust: { $0.verification = .always })
        #expect(asked.error?.code == .unverified)
    }

    @Test("SEC-13b the bootloader shows again: the update goes on there", arguments: Way.allCases)
    func lostExecute(way: Way) async throws {
        let run = try await SecureRun(over: way, to: Self.package) { device in
            device.rule = { device, bytes, characteristic in
                let isLast = bytes == [4] && device.object == 2 && device.device.received(.data).count == 10_000
                guard isLast, device.alterations == 0 else { return device.pass(bytes, characteristic) }
                device.alterations += 1
                return [.disconnect(after: .milliseconds(20))]
            }
        }
        #expect(run.report?.verdict == .running(version: "1"))
        #expect(run.application == Self.image)
    }

    @Test("SEC-13b nothing shows again: unverified")
    func gone() async throws {
        let run = try await SecureRun(to: Self.package) { device in
            device.rule = Self.atTheEnd { _, _ in [.reboot(after: .milliseconds(20), offAir: .seconds(3600))] }
        }
        #expect(run.error?.code == .unverified)
        #expect(run.error?.deviceState == .unknown)
    }

    @Test func withoutALookItIsSentAndAccepted() async throws {
        let run = try await SecureRun(to: Self.package, adjust: { $0.verification = .never })
        #expect(run.report?.verdict == .accepted(because: "whether it runs was not looked at"))
    }

    @Test(arguments: Way.allCases) func anApplicationWithoutAVersionIsSeenRunning(way: Way) async throws {
        var settings = SecureDevice.Settings()
        settings.showsVersion = false
        let run = try await SecureRun(over: way, of: settings, to: Self.package)
        #expect(run.report?.verdict == .started)
    }

    // MARK: Stopping and going on

    @Test(
        "CLI-04 a stop leaves the device in its bootloader, and says so; the same command goes on",
        arguments: Way.allCases)
    func stop(way: Way) async throws {
        let stopped = try await SecureRun(
            over: way, to: Self.package,
            during: { progress, intervention in if progress.fraction > 0.3 { intervention.cancel() } })
        #expect(stopped.error?.code == .aborted)
        #expect(stopped.error?.deviceState == .bootloader)
        #expect(stopped.error?.message == "stopped on the way; run the same command to go on")
        let next = try await SecureRun(over: way, memory: stopped.device.device.memory, to: Self.package)
        #expect(next.report?.verdict == .running(version: "1"))
        #expect(next.application == Self.image)
    }

    @Test("a link that is lost at any request is made again, and the image arrives byte for byte", arguments: 3...24)
    func losses(request: Int) async throws {
        for sdk in [SecureSDK.sdk15, .sdk17] {
            var settings = SecureDevice.Settings()
            settings.sdk = sdk
            let run = try await SecureRun(of: settings, to: Self.package) {
                $0.rule = Self.losing(object: 2, at: [request])
            }
            #expect(run.report?.verdict == .running(version: "1"), "\(sdk) \(String(describing: run.error))")
            #expect(run.application == Self.image)
        }
    }

    // MARK: Several parts

    private static let system = {
        var firmware = Firmware.bytes(9000)
        // Its own word for which SoftDevice it is (nRF5 SDK 17: `nrf_sdm.h`).
        firmware.replaceSubrange(0x200C..<0x200E, with: [0x00, 0x01])
        return Package.SecureImage(role: "softdevice_bootloader", firmware: firmware)
    }()
    private static let both = Package.secure([system, Package.SecureImage(firmware: image)])

    @Test("SEC-30 after the system the bootloader comes back for the application", arguments: Way.allCases)
    func parts(way: Way) async throws {
        var settings = SecureDevice.Settings()
        settings.installTime = .seconds(12)
        settings.bootloaderName = "DfuTarg2"
        let run = try await SecureRun(over: way, of: settings, to: Self.both)
        #expect(run.report?.verdict == .running(version: "1"))
        #expect(run.report?.bytes == 19_000)
        #expect(run.application == Self.image)
        let bytes = run.progress.map(\.bytes)
        #expect(bytes == bytes.sorted())
        #expect(run.progress.map(\.part) == run.progress.map(\.part).sorted())
        #expect(run.progress.last?.parts == 2)
        #expect(run.progress.allSatisfy { $0.total == 0 || $0.total == 19_000 })
        #expect(run.progress.first { $0.bytes == $0.total && $0.total > 0 }?.part == 2)
    }

    @Test(
        "SEC-30 a device that comes back as its application is sent into its bootloader again",
        arguments: Way.allCases)
    func backInTheApplication(way: Way) async throws {
        var settings = SecureDevice.Settings()
        settings.continuationLimit = .zero
        let package = Package.secure([
            Package.SecureImage(role: "bootloader", firmware: Firmware.bytes(9000)),
            Package.SecureImage(firmware: Self.image),
        ])
        let run = try await SecureRun(over: way, of: settings, to: package)
        #expect(run.report?.verdict == .running(version: "1"))
        #expect(run.application == Self.image)
    }

    @Test("a bootloader that leaves while it is subscribed to is looked for where it is then")
    func leavesAtTheSubscription() async throws {
        let run = try await SecureRun(to: Self.package) { device in
            device.answering = { device, request in
                guard request == .subscribe(Attributes.controlPoint), device.alterations == 0 else { return nil }
                device.alterations += 1
                // It starts its application, at another address.
                return AttributeAnswer(.silence, after: [.reboot(after: .zero, offAir: .milliseconds(20))])
            }
        }
        #expect(run.report?.verdict == .running(version: "1"))
        #expect(run.application == Self.image)
    }

    @Test("a system that is installed already is left out", arguments: Way.allCases)
    func systemInstalled(way: Way) async throws {
        let memory = SecureMemory(application: SecureMemory.Application(version: 1), bootloaderVersion: 1)
        let run = try await SecureRun(over: way, memory: memory, to: Self.both)
        #expect(run.report?.verdict == .running(version: "1"))
        #expect(run.application == Self.image)
        #expect(run.log.contains { $0.hasSuffix("is on the device, or a newer one: going on with the next part") })
        #expect(run.progress.map(\.bytes) == run.progress.map(\.bytes).sorted())
    }

    @Test func theSystemAloneIsAccepted() async throws {
        let run = try await SecureRun(to: Package.secure([Self.system]))
        let reason = "a SoftDevice and bootloader has no version to read, so whether it runs was not seen"
        #expect(run.report?.verdict == .accepted(because: reason))
        #expect(run.report?.verdict.deviceState == .unknown)
    }

    // MARK: Captures

    @Test func aCaptureHoldsTheWholeButTheFirmware() async throws {
        let run = try await SecureRun(to: Self.package)
        #expect(run.capture.contains("# protocol: secure\n"))
        #expect(run.capture.contains("; enter the bootloader\n"))
        #expect(!run.capture.contains(Self.application))
        #expect(throws: CaptureError.self) { try Capture(reading: Array(run.capture.utf8)).replay() }
    }
}
