import Testing

@testable import DFUProtocol

@Suite struct BlockAckPaceTests {
    /// The gaps of the blocks that a device takes as long as the gap is not under `least`.
    private func gaps(from start: Duration, least: Duration, blocks: Int) -> [Duration] {
        var pace = BlockAck.Pace(from: start)
        var gaps: [Duration] = []
        for _ in 0..<blocks {
            gaps.append(pace.gap)
            if pace.gap < least { pace.failed() } else { pace.worked() }
        }
        return gaps
    }

    @Test("on a good link the gap is gone by the eighth block", arguments: [0, 1, 20, 100, 1000, 10_000])
    func goodLink(milliseconds: Int) {
        let gaps = gaps(from: .milliseconds(milliseconds), least: .zero, blocks: 10)
        #expect(gaps[7...].allSatisfy { $0 == .zero })
    }

    @Test func theBandsGapIsGoneAtTheFourthBlock() {
        let gaps = gaps(from: .milliseconds(20), least: .zero, blocks: 4)
        #expect(gaps == [.milliseconds(20), .milliseconds(5), .microseconds(1250), .zero])
    }

    @Test("it settles by the tenth block, and never takes a gap that failed", arguments: 0...80)
    func settles(halfMilliseconds: Int) {
        let least = Duration.microseconds(500 * halfMilliseconds)
        let gaps = gaps(from: .milliseconds(20), least: least, blocks: 60)
        #expect(gaps[9...].allSatisfy { $0 == gaps[9] && $0 >= least })
        var failed: Duration?
        for gap in gaps {
            if let failed { #expect(gap > failed) }
            if gap < least { failed = gap }
        }
        // Not much slower than needed: at most twice, or by the resolution of 2 ms and what a doubling costs.
        #expect(gaps[9] <= max(least * 2 + .milliseconds(4), .milliseconds(4)))
    }

    @Test func aGapThatStopsWorkingGrows() {
        var pace = BlockAck.Pace(from: .zero)
        pace.worked()
        #expect(pace.gap == .zero)
        pace.failed()
        #expect(pace.gap == .milliseconds(4))
        pace.failed()
        #expect(pace.gap == .milliseconds(8))
        for _ in 0..<20 { pace.failed() }
        #expect(pace.gap == .milliseconds(200))
    }
}
