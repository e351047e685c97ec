import Testing

@testable import DFUProtocol

@Suite struct SecureInquiryTests {
    private static func holding(_ size: Int, _ offset: UInt32, _ crc: UInt32) -> SecureDFU.Inquiry.Holding {
        .init(maximumSize: size, reception: .init(offset: offset, crc32: crc))
    }

    private static func selected(_ size: UInt32, _ offset: UInt32, _ crc: UInt32) -> [UInt8] {
        SecureDFU.Response.selected(maximumSize: size, .init(offset: offset, crc32: crc)).encoded
    }

    /// Tells a procedure that its request was written, and what came.
    private static func answer(_ inquiry: inout SecureDFU.Inquiry, _ bytes: [UInt8]) {
        _ = inquiry.next()
        inquiry.receive(.written)
        _ = inquiry.next()
        inquiry.receive(.notification(bytes, from: .controlPoint))
    }

    @Test("Both types are selected, and nothing else is written")
    func both() {
        var inquiry = SecureDFU.Inquiry()
        #expect(inquiry.next() == .write([0x06, 0x01], to: .controlPoint))
        Self.answer(&inquiry, Self.selected(512, 141, 7))
        #expect(inquiry.next() == .write([0x06, 0x02], to: .controlPoint))
        Self.answer(&inquiry, Self.selected(4096, 8192, 9))
        #expect(
            inquiry.next()
                == .finish(.success(.init(command: Self.holding(512, 141, 7), data: Self.holding(4096, 8192, 9)))))
    }

    @Test("A refusal ends it with the device's code")
    func refused() {
        var inquiry = SecureDFU.Inquiry()
        Self.answer(&inquiry, [0x60, 0x06, 0x08])
        #expect(
            inquiry.next()
                == .finish(
                    .failure(
                        ProcedureError(
                            .refused, reason: "bootloaderRefused", deviceCode: 8,
                            message: "the device refused select: operation not permitted (0x08)"))))
    }

    @Test("Silence is asked again once, and then ends it")
    func silent() {
        var inquiry = SecureDFU.Inquiry()
        for _ in 0..<2 {
            #expect(inquiry.next() == .write([0x06, 0x01], to: .controlPoint))
            inquiry.receive(.written)
            _ = inquiry.next()
            inquiry.receive(.timeout)
        }
        #expect(
            inquiry.next()
                == .finish(
                    .failure(
                        ProcedureError(
                            .silent, reason: "noAnswer",
                            message: "the device did not answer select in 2 sends; move closer and try again"))))
    }
}
