import Testing

@testable import DFUProtocol

/// The typed requests and replies, as bytes.
@Suite struct BlockAckMessageTests {
    // Computed, because the leak sanitizer takes what a constant of indirect cases holds for lost.
    private static var requests: [(BlockAck.Request, [UInt8])] {
        [
            (.battery, [0x1B, 0x99, 0x01, 0x4B]),
            (.setTime(BlockAck.PackedTime(rawValue: 0x8E69_CF20)), [0x1B, 0x9A, 0x8E, 0x69, 0xCF, 0x20, 0x65]),
            (
                .start(.init(size: 655_650, crc32: 0xCBF4_3926, version: BlockAck.Version(1, 4, 2), blockSize: 2048)),
                [0x1B, 0xA0, 0x00, 0x0A, 0x01, 0x22, 0xCB, 0xF4, 0x39, 0x26, 0x01, 0x04, 0x02, 0x08, 0x00, 0xEB]
            ),
            (
                .blockHeader(index: 290, length: 2048, crc32: 0x0102_0304),
                [0x1B, 0xA1, 0x01, 0x22, 0x08, 0x00, 0x01, 0x02, 0x03, 0x04, 0x0F]
            ),
            (.data(sequence: 7, bytes: [0xFF, 0xFE]), [0x1B, 0xA2, 0x07, 0xFF, 0xFE, 0x3F]),
            (.blockEnd(index: 290), [0x1B, 0xA3, 0x01, 0x22, 0x1F]),
            (.complete(crc32: 0xCBF4_3926), [0x1B, 0xA4, 0xCB, 0xF4, 0x39, 0x26, 0x23]),
            (.abort, [0x1B, 0xA5, 0x40]),
        ]
    }

    private static var replies: [(BlockAck.Reply, [UInt8])] {
        [
            (.battery(tenths: 6), [0x56, 0x7B, 0x06, 0x29]),
            (.status(.unsupportedCommand, of: .battery), [0x56, 0x99, 0x01, 0x10]),
            (.status(.ok, of: .setTime), [0x56, 0x9A, 0x00, 0x10]),
            (.started(next: 290, packetLimit: 244), [0x56, 0xA0, 0x00, 0x01, 0x22, 0xF4, 0xF3]),
            (.status(.versionNotNewer, of: .start), [0x56, 0xA0, 0x05, 0x05]),
            (.block(.ok, index: 290, firstMissing: 0xFFFF), [0x56, 0xA3, 0x00, 0x01, 0x22, 0xFF, 0xFF, 0xE6]),
            (.block(.packetsMissing, index: 3, firstMissing: 5), [0x56, 0xA3, 0x08, 0x00, 0x03, 0x00, 0x05, 0xF7]),
            (.block(.badFrameChecksum, index: nil, firstMissing: nil), [0x56, 0xA3, 0x03, 0x04]),
            (.status(.imageMismatch, of: .complete), [0x56, 0xA4, 0x09, 0xFD]),
            (.status(.ok, of: .abort), [0x56, 0xA5, 0x00, 0x05]),
        ]
    }

    private static let variants: [BlockAck.Parameters] = BlockAck.Parameters.Checksum.allCases.flatMap { checksum in
        BlockAck.Parameters.ByteOrder.allCases.map { order in
            var parameters = BlockAck.Parameters()
            parameters.checksum = checksum
            parameters.byteOrder = order
            return parameters
        }
    }

    @Test("requests have these bytes", arguments: requests)
    func requestBytes(request: BlockAck.Request, bytes: [UInt8]) {
        #expect(request.encoded(by: BlockAck.Parameters()) == bytes)
    }

    @Test("replies have these bytes", arguments: replies)
    func replyBytes(reply: BlockAck.Reply, bytes: [UInt8]) {
        #expect(reply.encoded(by: BlockAck.Parameters()) == bytes)
    }

    @Test("requests come back from their bytes", arguments: variants, requests.map(\.0))
    func requestRoundTrip(parameters: BlockAck.Parameters, request: BlockAck.Request) throws {
        let bytes = request.encoded(by: parameters)
        let frame = try BlockAck.Frame(decoding: bytes, from: .host, by: parameters)
        #expect(BlockAck.Request(frame, by: parameters) == request)
    }

    @Test("replies come back from their bytes", arguments: variants, replies.map(\.0))
    func replyRoundTrip(parameters: BlockAck.Parameters, reply: BlockAck.Reply) throws {
        let bytes = reply.encoded(by: parameters)
        let frame = try BlockAck.Frame(decoding: bytes, from: .device, by: parameters)
        #expect(BlockAck.Reply(frame, by: parameters) == reply)
    }

    @Test(
        "a request of another length is none",
        arguments: [
            (0x99, 0), (0x99, 2), (0x9A, 3), (0x9A, 5), (0xA0, 12), (0xA0, 14), (0xA1, 7), (0xA1, 9), (0xA2, 0),
            (0xA2, 1),
            (0xA3, 1), (0xA3, 3), (0xA4, 3), (0xA4, 5), (0xA5, 1), (0x42, 0),
        ] as [(UInt8, Int)])
    func requestLengths(opcode: UInt8, length: Int) {
        let frame = BlockAck.Frame(opcode: opcode, payload: Array(repeating: 1, count: length))
        #expect(BlockAck.Request(frame, by: BlockAck.Parameters()) == nil)
    }

    @Test(
        "a reply that is too short for its op is none",
        arguments: [
            (0x7B, []), (0x99, []), (0x9A, []), (0xA0, []), (0xA0, [0]), (0xA0, [0, 0, 1]), (0xA3, []), (0xA3, [0]),
            (0xA3, [0, 0, 1]), (0xA3, [0, 0, 1, 0xFF]), (0xA4, []), (0xA5, []), (0xA1, [0]), (0xA2, [0]), (0x42, [0]),
        ] as [(UInt8, [UInt8])])
    func replyLengths(opcode: UInt8, payload: [UInt8]) {
        let frame = BlockAck.Frame(opcode: opcode, payload: payload)
        #expect(BlockAck.Reply(frame, by: BlockAck.Parameters()) == nil)
    }

    @Test(
        "bytes behind those known are ignored, and a refusal may end after its status",
        arguments: [
            (0x7B, [6, 9, 9], .battery(tenths: 6)),
            (0xA0, [0, 0, 1, 20, 7, 7], .started(next: 1, packetLimit: 20)),
            (0xA0, [4, 0, 1, 20], .status(.imageTooLarge, of: .start)),
            (0xA3, [7], .block(.blockMismatch, index: nil, firstMissing: nil)),
            (0xA3, [7, 0, 2], .block(.blockMismatch, index: 2, firstMissing: nil)),
            (0xA3, [0, 0, 2, 0xFF, 0xFF, 1], .block(.ok, index: 2, firstMissing: 0xFFFF)),
            (0xA4, [0, 1], .status(.ok, of: .complete)),
        ] as [(UInt8, [UInt8], BlockAck.Reply)])
    func tolerance(opcode: UInt8, payload: [UInt8], reply: BlockAck.Reply) {
        let frame = BlockAck.Frame(opcode: opcode, payload: payload)
        #expect(BlockAck.Reply(frame, by: BlockAck.Parameters()) == reply)
    }

    @Test func aBatteryAnswerMayRepeatItsQuestionsOpcode() {
        var parameters = BlockAck.Parameters()
        parameters.opcodes.batteryReply = parameters.opcodes.battery
        let frame = BlockAck.Frame(opcode: 0x99, payload: [1])
        #expect(BlockAck.Reply(frame, by: parameters) == .battery(tenths: 1))
    }
}
