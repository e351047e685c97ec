import DFUKit
import TestSupport
import Testing

/// Virtual time is the same on every machine, so these are no timed tests.
@Suite struct SecureRateTests {
    @Test(arguments: MeasuredSecureLink.all)
    func adaptiveReceiptsFillTheLink(_ link: MeasuredSecureLink) async throws {
        let transfer = try await MeasuredSecureTransfer(of: 1 << 20, over: link, receipts: .adaptive(limit: 256))
        #expect(transfer.isWhole)
        // It cannot be over the bound by more than the part of a connection event that passed before the first write.
        #expect(0.95...1.001 ~= transfer.share)
    }
}
