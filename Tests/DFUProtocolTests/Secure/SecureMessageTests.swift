import Testing

@testable import DFUProtocol

/// The wire, by bytes that were computed elsewhere or seen on real devices.
@Suite struct SecureMessageTests {
    /// Of an unsigned package for the bytes 00 to 13.
    private static let initPacket: [UInt8] =
        [0x0A, 0x3C, 0x08, 0x01, 0x12, 0x38]
        + [
            0x08, 0x01, 0x10, 0x34, 0x1A, 0x02, 0x80, 0x02, 0x20, 0x00, 0x28, 0x00, 0x30, 0x00, 0x38, 0x14, 0x42, 0x24,
            0x08, 0x03, 0x12, 0x20, 0xE8, 0x79, 0xE7, 0x2A, 0x48, 0x29, 0xEC, 0xCA, 0x04, 0xB4, 0xBA, 0xF5, 0x0B, 0x09,
            0x8C, 0x14, 0xA6, 0x1F, 0x0A, 0xC7, 0x42, 0xD4, 0x12, 0x03, 0x2F, 0x41, 0x60, 0x7F, 0x57, 0xBF, 0xAE, 0xE7,
            0x48, 0x00,
        ]

    @Test func checksums() {
        #expect(CRC32.checksum(Array(0...19)) == 0x3BDD_FFA4)
        #expect(Self.initPacket.count == 62)
        #expect(CRC32.checksum(Self.initPacket) == 0xE18F_0E6D)
    }

    @Test func requests() {
        #expect(SecureDFU.Request.select(.command).encoded == [0x06, 0x01])
        #expect(SecureDFU.Request.select(.data).encoded == [0x06, 0x02])
        #expect(SecureDFU.Request.create(.command, size: 62).encoded == [0x01, 0x01, 0x3E, 0, 0, 0])
        #expect(SecureDFU.Request.create(.data, size: 4096).encoded == [0x01, 0x02, 0, 0x10, 0, 0])
        #expect(SecureDFU.Request.setReceipts(every: 8).encoded == [0x02, 0x08, 0x00])
        #expect(SecureDFU.Request.setReceipts(every: 0x1234).encoded == [0x02, 0x34, 0x12])
        #expect(SecureDFU.Request.checksum.encoded == [0x03])
        #expect(SecureDFU.Request.execute.encoded == [0x04])
        #expect(SecureDFU.Request.abort.encoded == [0x0C])
    }

    private static let answers: [(bytes: [UInt8], answer: SecureDFU.Response)] = [
        (
            [0x60, 0x06, 0x01, 0x00, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            .selected(maximumSize: 512, SecureDFU.Reception(offset: 0, crc32: 0))
        ),
        (
            [0x60, 0x06, 0x01, 0x00, 0x10, 0, 0, 0xC4, 0x14, 0, 0, 0xD1, 0x2D, 0xD6, 0x6E],
            .selected(maximumSize: 4096, SecureDFU.Reception(offset: 5316, crc32: 0x6ED6_2DD1))
        ),
        ([0x60, 0x01, 0x01], .done(.create)),
        ([0x60, 0x02, 0x01], .done(.setReceipts)),
        (
            [0x60, 0x03, 0x01, 0x3E, 0, 0, 0, 0x6D, 0x0E, 0x8F, 0xE1],
            .checksum(SecureDFU.Reception(offset: 62, crc32: 0xE18F_0E6D))
        ),
        ([0x60, 0x03, 0x03], .refused(.checksum, .invalidParameter, extended: nil)),
        ([0x60, 0x04, 0x0B, 0x06], .refused(.execute, .extendedError, extended: .hardwareVersion)),
        ([0x60, 0x04, 0x0B], .refused(.execute, .extendedError, extended: nil)),
        ([0x60, 0x0A, 0x02], .refused(SecureDFU.Opcode(rawValue: 0x0A), .opcodeNotSupported, extended: nil)),
    ]

    @Test(arguments: answers.indices) func answer(index: Int) {
        let (bytes, answer) = Self.answers[index]
        #expect(SecureDFU.Response(bytes) == answer)
        #expect(answer.encoded == bytes)
    }

    @Test(
        "what is no answer",
        arguments: [
            [], [0x60], [0x60, 0x06], [0x61, 0x06, 0x01], [0x60, 0x06, 0x01], [0x60, 0x03, 0x01],
            [0x60, 0x06, 0x01] + [UInt8](repeating: 0, count: 17),
            [0x60, 0x03, 0x01] + [UInt8](repeating: 0, count: 12),
        ] as [[UInt8]])
    func noAnswer(bytes: [UInt8]) {
        #expect(SecureDFU.Response(bytes) == nil)
    }

    @Test func entering() {
        #expect(SecureDFU.Buttonless.Request.enter.encoded == [0x01])
        #expect(
            SecureDFU.Buttonless.Request.setName("Dfu01234").encoded
                == [0x02, 0x08, 0x44, 0x66, 0x75, 0x30, 0x31, 0x32, 0x33, 0x34])
        #expect(SecureDFU.Buttonless.Response([0x20, 0x01, 0x01]) == .init(opcode: 1, .success))
        #expect(SecureDFU.Buttonless.Response([0x20, 0x02, 0x01]) == .init(opcode: 2, .success))
        #expect(SecureDFU.Buttonless.Response([0x20, 0x01, 0x07]) == .init(opcode: 1, .notBonded))
        #expect(SecureDFU.Buttonless.Response([0x20, 0x01]) == nil)
        #expect(SecureDFU.Buttonless.Response([0x60, 0x01, 0x01]) == nil)
    }

    @Test func theConversationOfTheSmallestPackage() {
        let image = SecureDFU.Image(initPacket: Self.initPacket, firmware: Array(0...19))
        var transfer = SecureDFU.Transfer(image, by: SecureDFU.Parameters(), maximumWriteLength: 20)
        var parts: [String] = []
        let answers: [[UInt8]: [UInt8]] = [
            [0x02, 0, 0]: [0x60, 0x02, 0x01], [0x02, 8, 0]: [0x60, 0x02, 0x01],
            [0x06, 0x01]: [0x60, 0x06, 0x01, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            [0x01, 0x01, 0x3E, 0, 0, 0]: [0x60, 0x01, 0x01],
            [0x06, 0x02]: [0x60, 0x06, 0x01, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0x60, 2, 0],
            [0x01, 0x02, 0x14, 0, 0, 0]: [0x60, 0x01, 0x01],
            [0x04]: [0x60, 0x04, 0x01],
        ]
        var checksums: [[UInt8]] = [
            [0x60, 0x03, 0x01, 0x3E, 0, 0, 0, 0x6D, 0x0E, 0x8F, 0xE1],
            [0x60, 0x03, 0x01, 0x14, 0, 0, 0, 0xA4, 0xFF, 0xDD, 0x3B],
        ]
        while case .write(let bytes, let endpoint) = transfer.next() {
            parts.append(endpoint == .packet ? "\(bytes.count)" : bytes.hexadecimal)
            transfer.receive(.written)
            guard endpoint == .controlPoint else { continue }
            let answer = bytes == [0x03] ? checksums.removeFirst() : answers[bytes]
            transfer.receive(.notification(answer ?? [], from: .controlPoint))
        }
        #expect(transfer.next() == .finish(.success(.installed)))
        #expect(
            parts == [
                "02 00 00", "06 01", "01 01 3E 00 00 00", "20", "20", "20", "2", "03", "04",
                "06 02", "02 08 00", "01 02 14 00 00 00", "20", "03", "04",
            ])
    }

    @Test(
        "parameters that cannot be used end at once",
        arguments: [
            { $0.receipts = .every(0) }, { $0.receipts = .adaptive(limit: 0) }, { $0.receipts = .every(65_536) },
            { $0.tries = 0 }, { $0.preparationDelay = .seconds(11) },
        ] as [@Sendable (inout SecureDFU.Parameters) -> Void])
    func problems(change: @Sendable (inout SecureDFU.Parameters) -> Void) {
        var parameters = SecureDFU.Parameters()
        #expect(parameters.problem == nil)
        change(&parameters)
        #expect(parameters.problem != nil)
        let image = SecureDFU.Image(initPacket: [1], firmware: [1])
        var transfer = SecureDFU.Transfer(image, by: parameters, maximumWriteLength: 20)
        guard case .finish(.failure(let error)) = transfer.next() else {
            Issue.record("it goes on")
            return
        }
        #expect(error.code == .misconfigured)
    }
}
