import FoundationEssentials
import TestSupport
import Testing

/// Updates by Secure DFU, as they are told.
@Suite(.blocking) struct FlashSecureTests {
    private static let package = ProjectFile.path("Fixtures/packages/secure_application.zip")
    private static let device = "sim:secure?time=virtual"

    private func flash(_ options: [String] = [], on device: String = Self.device) throws -> BuiltProgram.Outcome {
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
        #expect(result.number("bytes") == 4100)
        #expect(events.fractions.last == 1)
        #expect(zip(events.fractions, events.fractions.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test("SEC-31 a part that the package does not have is named before anything is connected")
    func only() throws {
        #expect(
            try flash(["--only", "bootloader"])
                == .failed(
                    65,
                    "dfu: check: secure_application.zip: the package has no bootloader part; it has: application"))
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

    @Test("CLI-04 a time limit after the jump leaves the device in its bootloader, and says so")
    func timeLimit() throws {
        #expect(
            try flash(["--timeout", "3"], on: Self.device + "&mtu=23&interval=100")
                == .failed(
                    75,
                    "dfu: sim:secure: prepare: the limit of 3.0 seconds for the whole command passed; allow more time, or "
                        + "try again; it was left in its bootloader"))
    }

    @Test("SEC-09 a downgrade is refused in one line")
    func downgrade() throws {
        #expect(
            try flash(on: Self.device + "&version=9")
                == .failed(
                    76,
                    "dfu: sim:secure: init-packet: the device refused the init packet: firmware version failure (0x05) of "
                        + "extended error (0x0B); the device holds a newer one; downgrade is blocked by its bootloader; "
                        + "the package's version (2) is too low; use a newer package; it was left in its bootloader"))
    }

    @Test("a device is told at the address where it is spoken to")
    func address() throws {
        let events = try flash(["--json"]).events()
        let addresses = events.compactMap { $0.text("address") }
        #expect(Set(addresses) == ["C0:FF:EE:00:00:50", "C0:FF:EE:00:00:51"])
        #expect(events.results.first?.text("address") == "C0:FF:EE:00:00:50")
        #expect(Set(events.compactMap { $0.text("device") }) == ["sim:secure"])
    }
}

extension FlashBench {
    /// The CRC-32 in the package's name.
    fileprivate var checksum: String { String(package.dropLast(4).suffix(8)) }
}
