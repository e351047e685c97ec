import Testing

@testable import DFUProtocol

@Suite struct BlockAckParametersTests {
    private static func parameters(_ change: (inout BlockAck.Parameters) -> Void) -> BlockAck.Parameters {
        var parameters = BlockAck.Parameters()
        change(&parameters)
        return parameters
    }

    @Test func theBandsAreSound() {
        #expect(BlockAck.Parameters().problems == [])
    }

    @Test(
        "parameters at their limits are sound",
        arguments: [
            parameters { $0.blockSize = 1 },
            parameters { $0.blockSize = 4096 },
            parameters {
                $0.blockSize = 65_535 / 256 * 256 - 1024
                $0.packetSize = 255
            },
            parameters { $0.opcodes.batteryReply = $0.opcodes.battery },
            parameters { $0.gap = .fixed(.zero) },
            parameters { $0.tries = 1 },
            parameters { $0.checksum = .none },
        ])
    func sound(parameters: BlockAck.Parameters) {
        #expect(parameters.problems == [])
    }

    @Test(
        "parameters that cannot be used",
        arguments: [
            (parameters { $0.blockSize = 0 }, "the block size is 0; it must be 1 to 65535"),
            (parameters { $0.blockSize = 65_536 }, "the block size is 65536; it must be 1 to 65535"),
            (parameters { $0.packetSize = 19 }, "the packet size is 19; it must be 20 to 255"),
            (parameters { $0.packetSize = 256 }, "the packet size is 256; it must be 20 to 255"),
            (
                parameters { $0.blockSize = 4097 },
                "a block of 4097 bytes takes more than 256 packets of 20 bytes; the block size may be at most 4096"
            ),
            (parameters { $0.tries = 0 }, "the tries are 0; they must be 1 to 100"),
            (parameters { $0.gap = .fixed(.seconds(11)) }, "the gap is 11.0 seconds; it must be 0 to 10 seconds"),
            (parameters { $0.limits.start = .zero }, "the limit for start is 0.0 seconds; it must be up to an hour"),
            (parameters { $0.opcodes.data = 0xA0 }, "the opcode A0 is used for start and data"),
            (parameters { $0.opcodes.batteryReply = 0xA4 }, "the opcode A4 is used for complete and batteryReply"),
        ])
    func unusable(parameters: BlockAck.Parameters, problem: String) {
        #expect(parameters.problems == [problem])
    }

    @Test func imagesThatCannotBeSent() {
        var parameters = BlockAck.Parameters()
        parameters.blockSize = 1
        func image(_ size: Int) -> BlockAck.Image {
            BlockAck.Image(bytes: Array(repeating: 0, count: size), version: BlockAck.Version(1, 0, 0))
        }
        #expect(parameters.problem(with: image(0)) == "the image is empty")
        #expect(parameters.problem(with: image(65_535)) == nil)
        #expect(
            parameters.problem(with: image(65_536))
                == "an image of 65536 bytes has 65536 blocks of 1 bytes; the protocol counts to 65535")
    }

    @Test func blocksAreCountedRoundingUp() {
        let image = BlockAck.Image(bytes: Array(repeating: 7, count: 12_301), version: .any)
        #expect(image.blockCount(blockSize: 4096) == 4)
        #expect(image.block(2, size: 4096).count == 4096)
        #expect(image.block(3, size: 4096).count == 13)
    }

    @Test(
        "a status has a name or says that it has none",
        arguments: [
            (0x00, "ok (status 00)"), (0x07, "block CRC mismatch (status 07)"),
            (0x0B, "busy (status 0B)"), (0xEE, "a status without a known meaning (status EE)"),
        ] as [(UInt8, String)])
    func statusText(code: UInt8, text: String) {
        #expect(BlockAck.Status(rawValue: code).description == text)
    }

    @Test(
        "tenths of full are percent, more than full is unknown",
        arguments: [
            (0, .percent(0)), (6, .percent(60)), (10, .percent(100)), (11, .unknown), (255, .unknown),
        ] as [(UInt8, BlockAck.BatteryLevel)])
    func battery(tenths: UInt8, level: BlockAck.BatteryLevel) {
        #expect(BlockAck.BatteryLevel(tenths: tenths) == level)
    }
}
