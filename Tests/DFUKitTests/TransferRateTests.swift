import DFUKit
import TestSupport
import Testing

/// Virtual time is the same on every machine, so these are no timed tests.
@Suite struct TransferRateTests {
    @Test(arguments: MeasuredLink.all)
    func withoutAGapTheLinkIsFull(_ link: MeasuredLink) async throws {
        // The last block is short.
        let size = 16 * 2048 + 13
        let transfer = try await MeasuredTransfer(of: size, over: link, gap: .fixed(.zero))
        #expect(transfer.result == .success(.accepted))
        #expect(transfer.isInstalled)
        #expect(transfer.statistics.retries == 0)
        let share = Duration.microseconds(link.bound.time(for: size)) / transfer.total
        // It cannot be over the bound by more than the part of a connection event that passed before the first write.
        #expect(0.95...1.01 ~= share)
    }

    @Test(arguments: MeasuredLink.all)
    func anAdaptiveGapSettlesSoon(_ link: MeasuredLink) async throws {
        let transfer = try await MeasuredTransfer(of: 16 * 2048, over: link, gap: .adaptive(from: .milliseconds(20)))
        #expect(transfer.result == .success(.accepted))
        #expect(transfer.isInstalled)
        #expect(transfer.statistics.retries == 0)
        let block = transfer.settledBlock(share: 0.95)
        #expect(1..<10 ~= block)
        #expect(0.95...1.01 ~= transfer.share(from: block))
    }

    @Test func aFixedGapIsKept() async throws {
        let transfer = try await MeasuredTransfer(
            of: 2 * 2048, over: MeasuredLink.all[0], gap: .fixed(.milliseconds(20)))
        #expect(transfer.result == .success(.accepted))
        // Two blocks of 130 frames each, with 129 gaps in a block.
        #expect(transfer.total >= .milliseconds(2 * 129 * 20))
        #expect(transfer.total < .milliseconds(2 * 131 * 20))
    }
}
