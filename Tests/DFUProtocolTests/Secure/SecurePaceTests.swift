import Testing

@testable import DFUProtocol

@Suite struct SecurePaceTests {
    private static let parameters = SecureDFU.Parameters()

    @Test func itGrowsToAWholeObject() {
        var pace = SecureDFU.Pace(by: Self.parameters)
        var strides = [pace.stride]
        for _ in 1...6 {
            pace.worked(packets: 205, by: Self.parameters)
            strides.append(pace.stride)
        }
        #expect(strides == [8, 16, 32, 64, 205, 205, 205])
        #expect(pace.delay == .zero)
    }

    @Test func itFallsAtOnceAndComesBackSlowly() {
        var pace = SecureDFU.Pace(by: Self.parameters)
        for _ in 1...6 { pace.worked(packets: 205, by: Self.parameters) }
        pace.failed()
        #expect(pace.stride == 8)
        #expect(pace.delay == .milliseconds(400))
        pace.failed()
        #expect(pace.stride == 1)
        for _ in 1...20 {
            pace.worked(packets: 205, by: Self.parameters)
            #expect(pace.stride < 8, "what failed is not taken again soon")
        }
        for _ in 1...20 { pace.worked(packets: 205, by: Self.parameters) }
        #expect(pace.stride == 205)
        #expect(pace.delay == .zero)
    }

    @Test func theDelayShortensAsFarAsItWorks() {
        var pace = SecureDFU.Pace(by: Self.parameters)
        pace.failed()
        var delays = [pace.delay]
        for _ in 1...7 {
            pace.worked(packets: 17, by: Self.parameters)
            delays.append(pace.delay)
        }
        #expect(delays == [400, 200, 100, 50, 25, 12.5, 12.5, 12.5].map { .milliseconds($0) })
    }

    @Test func theDelayOfTheParametersIsTheShortest() {
        var parameters = SecureDFU.Parameters()
        parameters.preparationDelay = .milliseconds(300)
        var pace = SecureDFU.Pace(by: parameters)
        pace.failed()
        for _ in 1...40 { pace.worked(packets: 17, by: parameters) }
        #expect(pace.delay == .milliseconds(300))
    }

    @Test("it keeps to other parameters than it was learnt by") func bound() {
        var pace = SecureDFU.Pace(by: Self.parameters)
        for _ in 1...6 { pace.worked(packets: 205, by: Self.parameters) }
        var parameters = Self.parameters
        parameters.receipts = .every(12)
        pace.bound(by: parameters)
        #expect(pace.stride == 12)
    }
}
