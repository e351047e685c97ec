import Testing

@testable import DFUProtocol

@Suite struct BlockAckFrameTests {
    private static let vectors: [([UInt8], BlockAck.Frame.Sender, BlockAck.Frame)] = [
        ([0x1B, 0x99, 0x01, 0x4B], .host, BlockAck.Frame(opcode: 0x99, payload: [0x01])),
        ([0x56, 0x7B, 0x06, 0x29], .device, BlockAck.Frame(opcode: 0x7B, payload: [0x06])),
        ([0x1B, 0xE5, 0x00], .host, BlockAck.Frame(opcode: 0xE5)),
    ]

    @Test("the known-good vectors", arguments: vectors)
    func knownGood(bytes: [UInt8], sender: BlockAck.Frame.Sender, frame: BlockAck.Frame) throws {
        let parameters = BlockAck.Parameters()
        #expect(frame.encoded(from: sender, by: parameters) == bytes)
        #expect(try BlockAck.Frame(decoding: bytes, from: sender, by: parameters) == frame)
    }

    @Test func knownGoodIntegers() {
        let parameters = BlockAck.Parameters()
        #expect(parameters.bytes(of: UInt32(655_650)) == [0x00, 0x0A, 0x01, 0x22])
        #expect(parameters.bytes(of: UInt16(290)) == [0x01, 0x22])
        #expect(parameters.bytes(of: UInt8(34)) == [0x22])
        #expect(parameters.integer(UInt32.self, from: [0x00, 0x0A, 0x01, 0x22]) == 655_650)
        #expect(parameters.integer(UInt16.self, from: [0x01, 0x22]) == 290)
    }

    @Test func littleEndianIntegers() {
        var parameters = BlockAck.Parameters()
        parameters.byteOrder = .little
        #expect(parameters.bytes(of: UInt32(655_650)) == [0x22, 0x01, 0x0A, 0x00])
        #expect(parameters.integer(UInt32.self, from: [0x22, 0x01, 0x0A, 0x00]) == 655_650)
    }

    @Test(
        "each kind of checksum",
        arguments: [
            (BlockAck.Parameters.Checksum.complement, [0x1B, 0x99, 0x01, 0x4B] as [UInt8]),
            (.sum, [0x1B, 0x99, 0x01, 0xB5]),
            (.none, [0x1B, 0x99, 0x01]),
        ])
    func checksums(kind: BlockAck.Parameters.Checksum, bytes: [UInt8]) throws {
        var parameters = BlockAck.Parameters()
        parameters.checksum = kind
        let frame = BlockAck.Frame(opcode: 0x99, payload: [0x01])
        #expect(frame.encoded(from: .host, by: parameters) == bytes)
        #expect(try BlockAck.Frame(decoding: bytes, from: .host, by: parameters) == frame)
    }

    @Test(
        "what is no frame",
        arguments: [
            ([], .short), ([0x56, 0x7B], .short), ([0x1B, 0x7B, 0x06, 0x29], .foreign),
            ([0x56, 0x7B, 0x07, 0x29], .damaged(opcode: 0x7B)), ([0x56, 0x7B, 0x06, 0x28], .damaged(opcode: 0x7B)),
        ] as [([UInt8], BlockAck.Frame.Flaw)])
    func flaws(bytes: [UInt8], flaw: BlockAck.Frame.Flaw) {
        #expect(throws: flaw) {
            try BlockAck.Frame(decoding: bytes, from: .device, by: BlockAck.Parameters())
        }
    }

    @Test func theHeadersAreTheProfiles() throws {
        var parameters = BlockAck.Parameters()
        parameters.hostHeader = 0xAA
        parameters.deviceHeader = 0xBB
        let frame = BlockAck.Frame(opcode: 0x01)
        #expect(frame.encoded(from: .host, by: parameters).first == 0xAA)
        #expect(frame.encoded(from: .device, by: parameters).first == 0xBB)
    }
}
