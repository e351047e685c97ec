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

    @Test("on a good link the gap is gone at the second block", arguments: [0, 1, 20, 100, 10_000])
    func goodLink(milliseconds: Int) {
        let start = Duration.milliseconds(milliseconds)
        #expect(gaps(from: start, least: .zero, blocks: 4) == [start, .zero, .zero, .zero])
    }

    @Test func onAPoorLinkTheGapIsHalvedFromTheOneThatWorked() {
        let gaps = gaps(from: .milliseconds(20), least: .milliseconds(4), blocks: 9)
        #expect(gaps == [20_000, 0, 20_000, 10_000, 5000, 2500, 5000, 5000, 5000].map { .microseconds($0) })
    }

    @Test("it settles by the tenth send, and never takes a gap that failed", arguments: 0...80)
    func settles(halfMilliseconds: Int) {
        let least = Duration.microseconds(500 * halfMilliseconds)
        let gaps = gaps(from: .milliseconds(20), least: least, blocks: 60)
        #expect(gaps[9...].allSatisfy { $0 == gaps[9] && $0 >= least })
        var failed: Duration?
        for gap in gaps {
            if let failed { #expect(gap > failed) }
            if gap < least { failed = gap }
        }
        #expect(gaps[9] <= max(least * 2, .microseconds(1250)), "at most twice as long as needed")
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

    @Test func aLossByChanceCostsLittle() {
        var pace = BlockAck.Pace(from: .milliseconds(20))
        for _ in 0..<100 { pace.worked() }
        pace.failed()
        for _ in 0..<3 { pace.worked() }
        #expect(pace.gap == .milliseconds(1))
    }
}
