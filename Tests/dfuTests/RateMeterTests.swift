import Testing

@testable import dfu

@Suite struct RateMeterTests {
    private func meter(_ samples: [(seconds: Int, bytes: Int)]) -> RateMeter {
        var meter = RateMeter()
        for sample in samples { meter.note(sample.bytes, at: .seconds(sample.seconds)) }
        return meter
    }

    @Test func oneSampleSaysNothing() {
        #expect(meter([]).rate(at: .zero) == nil)
        #expect(meter([(0, 0)]).rate(at: .seconds(5)) == nil)
        #expect(meter([(0, 0), (1, 0)]).rate(at: .seconds(5)) == nil)
    }

    @Test func whatIsThereAtTheBeginningDoesNotCount() {
        #expect(meter([(0, 500_000), (2, 502_000)]).rate(at: .seconds(2)) == 1000)
    }

    @Test func onlyTheLastSecondsCount() {
        let slowThenFast = (0...20).map { ($0, $0 * 100) } + (21...40).map { ($0, 2000 + ($0 - 20) * 1000) }
        #expect(meter(slowThenFast).rate(at: .seconds(40)) == 1000)
    }

    @Test func betweenTwoBlocksItStandsStillAndThenFalls() {
        let steady = meter([(0, 0), (2, 2000), (4, 4000)])
        #expect(steady.rate(at: .seconds(4)) == 1000)
        #expect(steady.rate(at: .seconds(6)) == 1000)
        #expect(steady.rate(at: .seconds(10)) == 500)
    }

    @Test func afterAResetItBeginsAnew() {
        var meter = meter([(0, 0), (2, 2000)])
        meter.reset()
        #expect(meter.rate(at: .seconds(2)) == nil)
    }

    @Test func twoSamplesAtOneTimeHaveNoRate() {
        #expect(meter([(1, 0), (1, 10)]).rate(at: .seconds(1)) == nil)
    }
}
