import FoundationEssentials
import TestSupport
import Testing

/// Updates by Secure DFU, as they are told.
@Suite(.blocking) struct FlashSecureTests {
    private static let package = ProjectFile.path("Fixtures/packages/secure_application.zip")
    private static let device = "sim:secure?time=virtual"

    private func flash(_ options: [String] = [], on device: String = device) throws -> BuiltProgram.Outcome {
        try FlashBench().flash(sending: Self.package, on: [device], options)
    }

    @Test("an application is sent into its bootloader, and every stage is told")
    func json() throws {
        let outcome = try flash(["--json"])
        #expect(outcome.errors == "")
        #expect(outcome.status == 0)
        let events = try outcome.events()
        var phases: [String] = []
        for event in events where event.name == "phase" { phases.append(event.text("phase") ?? "") }
        #expect(
            phases == [
                "connect", "discover", "check", "enter-bootloader", "reconnect", "discover", "prepare", "init-packet",
                "transfer", "verify", "activate", "confirm", "reconnect", "confirm",
            ])
        let result = try #require(events.results.first)
        #expect(result.text("protocol") == "secure")
        #expect(result.text("deviceState") == "updated")
        #expect(result.number("bytes") == result.number("bytes"))
        #expect(events.fractions.last == 1)
        #expect(zip(events.fractions, events.fractions.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test("SEC-31 a part that the package does not have is named before anything is connected")
    func only() throws {
        let line = "dfu: secure_application.zip: the package has no bootloader part; it has: application"
        let outcome = try flash(["--only", "bootloader"])
        #expect(outcome.status == 65)
        #expect(outcome.errors.contains("the package has no bootloader part; it has: application"), "\(line)")
    }

    @Test func theProtocolCanBeAskedFor() throws {
        #expect(try flash(["--protocol", "secure", "--prn", "4"]).status == 0)
        let band = try flash(["--protocol", "secure"], on: "sim:band?time=virtual")
        #expect(band.status == 76)
        #expect(
            band.errors
                == "dfu: sim:band: discover: it offers no update that this tool knows (it has no DFU service); "
                + "a device with other UUIDs needs --profile\n")
    }

    @Test func aPackageThatDoesNotFitTheDeviceIsThePackagesFault() throws {
        let bench = try FlashBench()
        let outcome = bench.flash(on: [Self.device])
        #expect(outcome.status == 65)
        #expect(
            outcome.errors
                == "dfu: sim:secure: check: band_v1.1.0_\(bench.checksum).bin is a bare image, and Secure DFU carries a .zip "
                + "with init packets alone; use the one made for the device (nrfutil pkg generate)\n")
    }

    @Test("CLI-04 a time limit in the transfer leaves the device in its bootloader, and says so")
    func timeLimit() throws {
        let outcome = try flash(["--timeout", "2"])
        #expect(outcome.status == 75)
        #expect(outcome.errors.contains("it was left in its bootloader"), "\(outcome.errors)")
    }
}

extension FlashBench {
    /// The CRC-32 in the package's name.
    fileprivate var checksum: String { String(package.dropLast(4).suffix(8)) }
}
