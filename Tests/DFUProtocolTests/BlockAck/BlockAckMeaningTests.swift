import Testing

@testable import DFUProtocol

@Suite struct BlockAckMeaningTests {
    @Test(
        arguments: [
            (.battery, "battery"), (.abort, "abort"),
            (.setTime(BlockAck.PackedTime(rawValue: 0x8E69_CF20)), "set time 8E69CF20"),
            (
                .start(.init(size: 12000, crc32: 0x810A_8FF9, version: .init(1, 1, 0), blockSize: 2048)),
                "start: 12000 bytes, CRC-32 810A8FF9, version 1.1.0, blocks of 2048 bytes"
            ),
            (
                .start(.init(size: 1, crc32: 1, version: .any, blockSize: 64)),
                "start: 1 bytes, CRC-32 00000001, any version, blocks of 64 bytes"
            ),
            (
                .blockHeader(index: 0xFFFF, length: 16, crc32: 0xAB),
                "block header 65536: 16 bytes, CRC-32 000000AB"
            ),
            (.data(sequence: 3, bytes: [1, 2]), "data 3: 2 bytes"), (.blockEnd(index: 0), "block end 1"),
            (.complete(crc32: 0xCBF4_3926), "complete: CRC-32 CBF43926"),
        ] as [(BlockAck.Request, String)])
    func requests(_ request: BlockAck.Request, _ words: String) {
        #expect("\(request)" == words)
    }

    @Test(
        arguments: [
            (.battery(tenths: 8), "battery: 80 %"), (.battery(tenths: 11), "battery: unknown"),
            (.started(next: 0, packetLimit: 20), "start: goes on at block 1, packets of at most 20 bytes"),
            (.started(next: 0xFFFF, packetLimit: 0), "start: goes on at block 65536"),
            (.block(.ok, index: 0, firstMissing: 0xFFFF), "block end 1: ok"),
            (
                .block(.packetsMissing, index: 2, firstMissing: 17),
                "block end 3: packets missing (status 08), the first is 17"
            ),
            (.block(.wrongState, index: nil, firstMissing: nil), "block end: wrong state (status 02)"),
            (.status(.ok, of: .complete), "complete: ok"),
            (
                .status(BlockAck.Status(rawValue: 0xC8), of: .start),
                "start: a status without a known meaning (status C8)"
            ),
        ] as [(BlockAck.Reply, String)])
    func replies(_ reply: BlockAck.Reply, _ words: String) {
        #expect("\(reply)" == words)
    }
}
