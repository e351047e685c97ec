import DFUPackage
import Testing

@Suite struct ChecksumTests {
    private let check = Array("123456789".utf8)

    @Test func checkValues() {
        #expect(Checksum.crc32(check) == 0xCBF4_3926)
        #expect(Checksum.crc16(check) == 0x29B1)
        #expect(Checksum.crc32([]) == 0)
        #expect(Checksum.crc16([]) == 0xFFFF)
    }

    @Test(arguments: [
        (Checksum.Digest.sha256, "ba7816bf", 32), (.sha384, "cb00753f", 48), (.sha512, "ddaf35a1", 64),
    ])
    func digestOfABC(_ kind: Checksum.Digest, _ start: String, _ length: Int) {
        let digest = Checksum.digest(kind, Array("abc".utf8))
        #expect(digest.count == length)
        #expect(digest.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } == UInt32(start, radix: 16))
    }

    @Test func slicesAndLazyCollectionsAreTheSameBytes() {
        #expect(Checksum.crc32((check + [0])[1...].dropLast()) == Checksum.crc32(check.dropFirst()))
        #expect(Checksum.digest(.sha256, check.lazy.map { $0 }) == Checksum.digest(.sha256, check))
    }
}
