import DFUProtocol
import Testing

@Suite struct CRC32Tests {
    @Test func matchesTheCheckValue() {
        #expect(CRC32.checksum(Array("123456789".utf8)) == 0xCBF4_3926)
    }

    @Test func continuesOverPieces() {
        let bytes = Array("123456789".utf8)
        for split in 0...bytes.count {
            var crc = CRC32()
            crc.update(bytes[..<split])
            crc.update(bytes[split...])
            #expect(crc.value == 0xCBF4_3926)
        }
    }

    @Test func emptyIsZero() {
        #expect(CRC32.checksum([]) == 0)
    }
}
