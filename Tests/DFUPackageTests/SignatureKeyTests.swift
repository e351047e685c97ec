import TestSupport
import Testing

@testable import DFUPackage

@Suite struct SignatureKeyTests {
    /// A throw-away key, made with `openssl ecparam -name prime256v1 -genkey`, and its public half.
    private static let privatePEM = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIIAewIvdUU5P/cXZbfYKTCzV5aACoiCu0saqgnI44kk7oAoGCCqGSM49
        AwEHoUQDQgAEmZV2hsl62mK44AkyD3UzMn6B0tHm9I2q0QCrT9RhcoY7YEQxPMV+
        pI8I13ZLdRAyV9vVjsBDDI5mxmCUT+NhZw==
        -----END EC PRIVATE KEY-----
        """
    private static let publicPEM = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEmZV2hsl62mK44AkyD3UzMn6B0tHm
        9I2q0QCrT9RhcoY7YEQxPMV+pI8I13ZLdRAyV9vVjsBDDI5mxmCUT+NhZw==
        -----END PUBLIC KEY-----
        """

    private static func key(_ pem: String) throws -> SignatureKey {
        try #require(SignatureKey(pem: Array(pem.utf8)))
    }

    /// `openssl dgst -sha256 -sign` of "firmware" with the key, as R then S, each little-endian.
    private static let signature = SignatureKeyTests.bytes(
        "0f356d158c556a3ee22fece828eda45ceaf967550df27663e8a10dd03d4a0607"
            + "4c816b4beb30bfb957527e181c27425143a0ed2f3ce80ec2d351247d94f7468d")

    @Test func aPrivateFileGivesThePublicHalf() throws {
        #expect(try Self.key(Self.privatePEM) == Self.key(Self.publicPEM))
    }

    @Test func theBytesThatADeviceHasGiveTheSameKey() throws {
        let key = try Self.key(Self.publicPEM)
        #expect(key.bytes.count == 64)
        #expect(SignatureKey(key.bytes) == key)
    }

    @Test func theOwnersSignatureIsVerified() throws {
        #expect(try Self.key(Self.publicPEM).verifies(Self.signature, of: "firmware".utf8))
    }

    @Test func aSignatureOfSomethingElseIsNot() throws {
        #expect(try !Self.key(Self.publicPEM).verifies(Self.signature, of: "firmwarf".utf8))
    }

    @Test(arguments: 0..<64)
    func aChangedByteIsNoticed(_ index: Int) throws {
        var signature = Self.signature
        signature[index] ^= 1
        #expect(try !Self.key(Self.publicPEM).verifies(signature, of: "firmware".utf8))
    }

    @Test(arguments: [0, 63, 65])
    func anotherLengthIsNoSignature(_ length: Int) throws {
        let signature = [UInt8](repeating: 1, count: length)
        #expect(try !Self.key(Self.publicPEM).verifies(signature, of: "firmware".utf8))
    }

    @Test func numbersInNaturalOrderAreNoSignature() throws {
        let natural = Self.signature.prefix(32).reversed() + Self.signature.suffix(32).reversed()
        #expect(try !Self.key(Self.publicPEM).verifies(Array(natural), of: "firmware".utf8))
    }

    @Test func whatIsNoPointOfTheCurveIsNoKey() throws {
        var bytes = try Self.key(Self.publicPEM).bytes
        bytes[0] ^= 1
        #expect(SignatureKey(bytes) == nil)
        #expect(SignatureKey([UInt8](repeating: 0, count: 64)) == nil)
        #expect(SignatureKey(Array(bytes.dropLast())) == nil)
    }

    @Test(arguments: ["", "no key", "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n"])
    func whatIsNoPEMIsNoKey(_ text: String) {
        #expect(SignatureKey(pem: Array(text.utf8)) == nil)
    }

    @Test func aKeyOfAnotherCurveIsNone() {
        #expect(SignatureKey(pem: Array(Self.otherCurve.utf8)) == nil)
    }

    /// A public key of `secp384r1`.
    private static let otherCurve = """
        -----BEGIN PUBLIC KEY-----
        MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEZWLRLpA6WqRwU8KRudL/kumTLY7wKd8I
        Q9RcuPw755c6GalCMhXThu76X9BVmN4MZgahStWvL6Kx+6gGi5/wVOvNZRIT0b1N
        QQLEYs7E/0zBfMXn9cQI4Xya7qTlMiCo
        -----END PUBLIC KEY-----
        """

    @Test(
        .enabled(if: SharedFolder.path("transcripts/packages") != nil),
        arguments: [("x/ok_v1/app10000", true), ("x/ok_v2/app8192", true), ("x/wrong_key/app10000", false)])
    func packagesOfNordicsToolAreVerified(_ name: String, _ isTheOwners: Bool) throws {
        let folder = try #require(SharedFolder.path("transcripts/packages"))
        let text = String(decoding: try ProjectFile.bytes(at: folder + "/pk.hex"), as: UTF8.self)
        let hex = try #require(text.split(separator: "\n").first { $0.utf8.count == 128 })
        let key = try #require(SignatureKey(Self.bytes(String(hex))))
        #expect(SignatureKey(pem: try ProjectFile.bytes(at: folder + "/priv.pem")) == key)
        let packet = try SecureInitPacket(decoding: try ProjectFile.bytes(at: "\(folder)/\(name).dat"))
        let signature = try #require(packet.signature)
        #expect(key.verifies(signature.bytes, of: packet.bytes[packet.signedRange]) == isTheOwners)
    }

    private static func bytes(_ text: String) -> [UInt8] {
        stride(from: 0, to: text.utf8.count, by: 2).map { place in
            let start = text.utf8.index(text.utf8.startIndex, offsetBy: place)
            guard let byte = UInt8(text[start..<text.utf8.index(start, offsetBy: 2)], radix: 16) else {
                preconditionFailure("two digits a byte")
            }
            return byte
        }
    }
}
