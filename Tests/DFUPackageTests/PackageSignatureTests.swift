import TestSupport
import Testing

@testable import DFUPackage

@Suite struct PackageSignatureTests {
    private static func key(_ pem: String) throws -> SignatureKey { try #require(SignatureKey(pem: Array(pem.utf8))) }

    private static func package(_ signing: SignedFirmware.Signing) -> Package {
        Package(reading: SignedFirmware.zip(signing), named: "app.zip")
    }

    private static func verdict(_ signing: SignedFirmware.Signing, by pem: String) throws
        -> SecureInitPacket.SignatureVerdict
    {
        guard case .secure(let packet)? = package(signing).parts.first?.initPacket else { throw Missing() }
        return packet.signatureVerdict(by: try key(pem))
    }

    private struct Missing: Error {}

    @Test func theOwnersPacketIsVerified() throws {
        #expect(try Self.verdict(.asItIs, by: SignedFirmware.key) == .verified)
        #expect(Self.package(.asItIs).signatureProblems(by: try Self.key(SignedFirmware.key)) == [])
    }

    @Test func anotherKeysOrAnAlteredOneIsInvalid() throws {
        #expect(try Self.verdict(.asItIs, by: SignedFirmware.otherKey) == .invalid)
        #expect(try Self.verdict(.altered, by: SignedFirmware.key) == .invalid)
        let problems = Self.package(.altered).signatureProblems(by: try Self.key(SignedFirmware.key))
        #expect(
            problems == [
                PackageError(
                    .mismatch, reason: "signatureInvalid",
                    message:
                        "the signature in application.dat, the init packet of application.bin, is not this key's: it was "
                        + "made with another key, or the init packet was changed afterwards")
            ])
    }

    @Test func anUnsignedPacketIsMissingItsSignature() throws {
        #expect(try Self.verdict(.not, by: SignedFirmware.key) == .missing)
        let problems = Self.package(.not).signatureProblems(by: try Self.key(SignedFirmware.key))
        #expect(
            problems == [
                PackageError(
                    .missing, reason: "signatureMissing",
                    message:
                        "application.dat, the init packet of application.bin, is not signed; use the package that the "
                        + "key's owner has signed")
            ])
    }

    @Test func aKeyIsForPackagesOfSecureDFU() {
        #expect(Self.package(.not).keyObjection == nil)
        #expect(
            Package(reading: [1, 2, 3, 4], named: "image.bin").keyObjection
                == "--key is for a package of Secure DFU, whose init packets are signed, and image.bin is none; leave it out"
        )
    }

    @Test("A key's file has it in PEM, or in a device's 64 bytes")
    func file() throws {
        let key = try Self.key(SignedFirmware.key)
        #expect(SignatureKey(file: Array(SignedFirmware.key.utf8)) == key)
        #expect(SignatureKey(file: key.bytes) == key)
        #expect(SignatureKey(file: Array("no key".utf8)) == nil)
    }
}
