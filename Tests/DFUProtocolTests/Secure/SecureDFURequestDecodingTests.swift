import Testing

@testable import DFUProtocol

@Suite struct SecureDFURequestDecodingTests {
    @Test(
        arguments: [
            .create(.command, size: 140), .create(.data, size: 0x1234_5678), .setReceipts(every: 0x0102), .checksum,
            .execute,
            .select(.command), .select(.data), .abort,
        ] as [SecureDFU.Request])
    func whatIsEncodedIsRead(_ request: SecureDFU.Request) {
        #expect(SecureDFU.Request(request.encoded) == request)
    }

    @Test(
        arguments: [
            ([0x01, 0x01], .create(.command, size: 0)), ([0x01, 0x01, 0x14], .create(.command, size: 0x14)),
            ([0x02], .setReceipts(every: 0)), ([0x02, 0x03], .setReceipts(every: 3)),
        ] as [([UInt8], SecureDFU.Request)])
    func whatIsMissingIsZero(_ bytes: [UInt8], _ request: SecureDFU.Request) {
        #expect(SecureDFU.Request(bytes) == request)
    }

    @Test func whatIsTooMuchIsNotRead() {
        #expect(SecureDFU.Request([0x06, 0x01, 0xFF]) == .select(.command))
        #expect(SecureDFU.Request([0x03, 0xFF, 0xFF]) == .checksum)
    }

    @Test(
        arguments: [[], [0x00], [0x05], [0x60], [0x01], [0x06], [0x06, 0x03], [0x01, 0x00, 1, 0, 0, 0]] as [[UInt8]])
    func whatIsUnknownIsNone(_ bytes: [UInt8]) {
        #expect(SecureDFU.Request(bytes) == nil)
    }
}
