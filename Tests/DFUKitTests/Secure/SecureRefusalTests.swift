import TestSupport
import Testing

@testable import DFUKit

/// What is said of a secure bootloader's no: the package's own values, and the cure.
@Suite struct SecureRefusalTests {
    private static let image = Firmware.bytes(10_000)

    private func part(signature: [UInt8]? = nil) throws -> SecurePart {
        let package = Package.secure([Package.SecureImage(firmware: Self.image, signature: signature)])
        let preflight = Preflight(package: package, profile: .band, options: UpdateOptions())
        return try #require(try preflight.secureParts().first)
    }

    /// What becomes of a refusal with this reason and number, whose own words are `no`.
    private func message(
        _ reason: String, _ code: Int? = nil, in phase: Phase = .initPacket, signature: [UInt8]? = nil
    ) throws -> String {
        let error = UpdateError(.refused, phase: phase, reason: reason, deviceCode: code, message: "no")
        return SecureRefusal.explained(error, of: try part(signature: signature)).message
    }

    @Test("SEC-09 a downgrade is refused with the package's version")
    func version() throws {
        #expect(
            try message("versionNotNewer", 0x0B05) == "no; the package's version (1) is too low; use a newer package")
    }

    @Test("SEC-10 another SoftDevice is refused with those that the package runs with, in hex")
    func softdevice() throws {
        #expect(
            try message("softdeviceMismatch", 0x0B07)
                == "no; the package runs with the SoftDevice 0x0100 (sd_req); use one made for the device's SoftDevice, "
                + "or update that first")
    }

    @Test("SEC-11 a bootloader that gives no reason is answered with all that the package asks for")
    func noReason() throws {
        let demands = "hw 52, sd_req 0x0100, fw version 1, size 10000"
        #expect(
            try message("bootloaderRefused", 0x0A)
                == "no; the package asks for: \(demands), not signed; one of these does not fit the device")
        let signed = try message("bootloaderRefused", 0x0A, signature: [UInt8](repeating: 7, count: 64))
        #expect(signed == "no; the package asks for: \(demands), signed; one of these does not fit the device")
    }

    @Test(
        "SEC-12 what a refusal is about is named",
        arguments: [
            ("hardwareMismatch", 0x0B06, "no; the package is for hardware 52; use the one made for this device"),
            (
                "signatureMissing", 0x0B08,
                "no; the package is not signed; use the one that the device's maker has signed"
            ),
            (
                "signatureInvalid", 0x05,
                "no; the package is not signed; use the one that the device's maker has signed"
            ),
            (
                "initPacketInvalid", 0x0B04,
                "no; the package asks for: hw 52, sd_req 0x0100, fw version 1, size 10000, not signed; "
                    + "make it again for this device"
            ),
            (
                "bootloaderRefused", 0x0B2A,
                "no; the package asks for: hw 52, sd_req 0x0100, fw version 1, size 10000, not signed"
            ),
        ])
    func named(_ reason: String, _ code: Int, _ expected: String) throws {
        #expect(try message(reason, code) == expected)
    }

    @Test(
        "SEC-17 an image that does not fit is refused with its size",
        arguments: [(Phase.initPacket, 0x0B0D), (.transfer, 4)])
    func space(_ phase: Phase, _ code: Int) throws {
        #expect(
            try message("spaceInsufficient", code, in: phase)
                == "no; the image has 10000 bytes; a smaller one is needed")
    }

    @Test func otherEndsStayAsTheyAre() throws {
        let error = UpdateError(.silent, phase: .initPacket, reason: "noAnswer", message: "no answer")
        #expect(SecureRefusal.explained(error, of: try part()).message == "no answer")
    }
}

/// What can be sent by Secure DFU.
@Suite struct SecurePreflightTests {
    private static let image = Firmware.bytes(3000)
    private static let both = Package.secure([
        Package.SecureImage(role: "softdevice_bootloader", firmware: Firmware.bytes(5000)),
        Package.SecureImage(firmware: image),
    ])

    private func parts(
        _ package: Package, _ adjust: (inout UpdateOptions) -> Void = { _ in }
    ) throws(UpdateError) -> [Part.Role] {
        var options = UpdateOptions()
        options.method = .secure
        adjust(&options)
        try Updater.preflight(package, profile: .band, options: options)
        return try Preflight(package: package, profile: .band, options: options).secureParts().map(\.part.role)
    }

    private func refusal(_ package: Package, _ adjust: (inout UpdateOptions) -> Void = { _ in }) -> UpdateError? {
        do throws(UpdateError) {
            _ = try parts(package, adjust)
            return nil
        } catch {
            return error
        }
    }

    @Test func theSystemGoesBeforeTheApplication() throws {
        #expect(try parts(Self.both) == [.softdeviceBootloader, .application])
    }

    @Test("SEC-31 one part alone, and a clear word where there is none")
    func only() throws {
        #expect(try parts(Self.both) { $0.only = .application } == [.application])
        let refusal = refusal(.secure(Self.image)) { $0.only = .bootloader }
        #expect(refusal?.code == .package)
        #expect(refusal?.reason == "noSuchPart")
        #expect(refusal?.message == "app.zip: the package has no bootloader part; it has: application")
        #expect(refusal.map { $0.phase } == .check)
    }

    @Test func otherPackagesAreRefusedBeforeAnythingIsSent() {
        let refusal = refusal(.bin(Self.image))
        #expect(refusal?.code == .package)
        #expect(refusal?.reason == "notForSecure")
    }

    @Test func theVersionIsTheInitPackets() {
        let refusal = refusal(.secure(Self.image)) { $0.allowDowngrade = true }
        #expect(refusal?.code == .usage)
        #expect(refusal?.reason == "optionDoesNotApply")
    }
}
