import DFUSimulator
import TestSupport
import Testing

@testable import DFUKit

/// What is written down of updates, and that it can be replayed.
@Suite struct CaptureTests {
    private static let image = Firmware.bytes(5000)
    private static let device = "C0:FF:EE:12:44:50"

    private static var settings: Band.Settings {
        var settings = Band.Settings()
        settings.address = device
        return settings
    }

    private static func update(
        of settings: Band.Settings = settings, faults: [Fault] = [], version: String = "1.1.0",
        adjust: (inout UpdateOptions) -> Void = { _ in },
        during: (@Sendable (UpdateProgress, UpdateScript.Intervention) -> Void)? = nil
    ) async throws -> SimulatedUpdate {
        try await SimulatedUpdate(
            of: settings, faults: faults, to: .bin(image, version: version), adjust: adjust, during: during)
    }

    private static func replay(_ text: String, with package: Package? = nil) throws -> Replay {
        try Capture(reading: Array(text.utf8)).replay(with: package)
    }

    // MARK: What is written

    @Test func theSameUpdateGivesTheSameCapture() async throws {
        #expect(try await Self.update().capture == Self.update().capture)
    }

    @Test func nothingThatIsNobodysBusinessIsInIt() async throws {
        // A fault brings messages of all kinds.
        let faults: [Fault] = [.drop(FaultPlace(.frame, 200)), .disconnect(FaultPlace(.frame, 300), after: .zero)]
        for faults in [[], faults] {
            let capture = try await Self.update(faults: faults).capture.lowercased()
            #expect(capture.contains("# device: 44:50\n"))
            for part in ["c0:ff", "c0_ff", "ee:12", "/org/", "band_v"] { #expect(!capture.contains(part), "\(part)") }
            let bytes = Array(capture.utf8)
            let shown = Set((0...(bytes.count - 8)).map { String(decoding: bytes[$0..<($0 + 8)], as: UTF8.self) })
            let pieces = (0...(Self.image.count - 4)).map { Self.image[$0..<($0 + 4)].digits }
            #expect(shown.isDisjoint(with: pieces), "four bytes of the firmware in a row")
        }
    }

    @Test(
        arguments: [
            ("connecting to C0:FF:EE:12:44:50 failed", "connecting to …:44:50 failed"),
            ("/org/bluez/hci0/dev_C0_FF_EE_12_44_50: gone", "/org/bluez/hci0/dev_…_44_50: gone"),
            ("c0-ff-ee-12-44-50", "…-44-50"), ("1B 99 01 4B 00 00", "1B 99 01 4B 00 00"), ("Ä:FF", "Ä:FF"), ("", ""),
        ])
    func addressesAreShortened(_ text: String, _ short: String) {
        #expect(text.withoutAddresses == short)
    }

    @Test func whatWasAskedForStandsAtTheHead() async throws {
        var settings = Self.settings
        settings.profile.blockAck.blockSize = 1024
        let update = try await Self.update(of: settings) { options in
            options.gap = .fixed(.milliseconds(2))
            options.maximumPacketLength = 20
            options.skippedChecks = [.battery]
            options.allowDowngrade = true
            options.verification = .never
        }
        let head = update.capture.split(separator: "\n").prefix { $0.hasPrefix("#") }
        #expect(
            head == [
                "# capture: 1", "# program: tests", "# protocol: block-ack", "# device: 44:50",
                "# package: \(Package.bin(Self.image).sha256.digits)   ; 5000 bytes, SHA-256",
                "# image-size: 5000", "# image-crc: \(CRC32.checksum(Self.image).hexadecimal)", "# version: any",
                #"# profile: {"blockSize":1024,"gap":2,"name":"captured"}"#, "# packet-limit: 20",
                "# options: --allow-downgrade --skip-check battery --no-verify",
            ])
        #expect(
            update.capture.hasSuffix(
                "# result: ok notVerified unknown   ; accepted: whether it runs was not looked at\n"))
        #expect(try Self.replay(update.capture, with: .bin(Self.image)).difference == nil)
    }

    @Test func writesThatAreAnsweredAreShownSo() async throws {
        var settings = Self.settings
        settings.commandProperties = .write
        let capture = try await Self.update(of: settings).capture
        #expect(capture.contains(">> CP   1b99014b   ; battery\n<< WRITE_RSP  0000\n<< NOTIFY     567b0827"))
        let end = try #require(capture.firstRange(of: "\n>> CP   1ba3000042   ; block end 1\n<< WRITE_RSP  0000\n"))
        let before = capture[..<end.lowerBound].split(separator: "\n").suffix(1)
        #expect(
            before.first?.hasPrefix(">> PKT  x128 packets, 2048 bytes, CRC-32 ") == true, "packets are so in silence")
        #expect(try Self.replay(capture).difference == nil)
    }

    @Test func aStopIsWrittenDownWithItsGoodbye() async throws {
        let update = try await Self.update(during: { progress, intervention in
            if progress.bytes >= 2048 { intervention.cancel() }
        })
        #expect(update.error?.code == .aborted)
        #expect(
            update.capture.contains(
                ">> CMD  30   ; it is to stop\n>> CP   1ba540   ; abort\n<< NOTIFY     56a50005   ; abort: ok\n"
                    + "# end: failed aborted   ; "))
        #expect(update.capture.contains("# result: aborted - asBefore   ; stopped: "))
        #expect(try Self.replay(update.capture).difference == nil)
    }

    @Test func theClockIsSetAsCaptured() async throws {
        var settings = Self.settings
        settings.profile.setsTime = true
        let capture = try await Self.update(of: settings).capture
        #expect(capture.contains("# begin: set-time D2906110\n"))
        #expect(try Self.replay(capture).difference == nil)
    }

    @Test func aLinkThatIsLostIsResumedInTheReplayToo() async throws {
        let faults: [Fault] = [
            .drop(FaultPlace(.frame, 100)), .damage(FaultPlace(.reply, 3), byte: nil),
            .disconnect(FaultPlace(.frame, 380), after: .zero), .drop(FaultPlace(.reply, 1, of: .complete)),
        ]
        var settings = Self.settings
        settings.profile.blockAck.gap = .adaptive(from: .milliseconds(20))
        let update = try await Self.update(of: settings, faults: faults)
        #expect(update.report?.verdict == .running(version: "1.1.0"))
        let replay = try Self.replay(update.capture, with: .bin(Self.image))
        #expect(replay.difference == nil)
        #expect(replay.writes == update.sentPackets)
        #expect(replay.links == update.report?.connections)
        #expect(replay.result == "ok - updated")
    }

    // MARK: Differences

    @Test(
        arguments: [
            // What is changed, and the line that then differs, as it stands there.
            ("1b99014b", "1b99024a", ">> CP   1b99024a   ; battery"),
            ("# end: 80 %", "# end: 70 %", "# end: 70 %"),
            ("<< NOTIFY     567b0827", "<< NOTIFY     567b0826", "# end: 80 %"),
            ("<< NOTIFY     56a3000000ffff09", "<< NOTIFY     56a30800000000ff", ">> CP   1ba1000108006ca5"),
            ("x128 packets", "x127 packets", ">> PKT  x127 packets"),
            ("x128 packets", "x129 packets", ">> PKT  x129 packets"),
            ("packets, 2048", "packets, 2047", ">> PKT  x128 packets, 2047 bytes"),
            ("<< DISCONNECT", ">> CMD  22 0a000000", ">> CMD  22 0a000000"),
            ("# end: down", "# end: still up", "# end: still up"),
        ])
    func aChangeShowsAtItsLine(_ old: String, _ new: String, _ line: String) async throws {
        let capture = try await Self.update().capture
        let changed = capture.replacing(old, with: new, maxReplacements: 1)
        try #require(changed != capture)
        let replay = try Self.replay(changed)
        let difference = try #require(replay.difference, "\(old)")
        #expect(difference.captured.hasPrefix(line))
        #expect(changed.split(separator: "\n")[difference.line - 1] == difference.captured)
        #expect(!difference.procedure.isEmpty)
    }
}
