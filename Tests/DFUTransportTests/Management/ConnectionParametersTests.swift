import DFUTransport
import Testing

@Suite struct ConnectionParametersTests {
    @Test(
        arguments: [
            (7.5, 7.5, 0, 100), (11.25, 15, 0, 2000), (30, 50, 0, 420), (4000, 4000, 2, 32000), (1000, 1000, 14, 30010),
        ] as [(Double, Double, Int, Int)])
    func whatTheSpecificationAllows(least: Double, most: Double, latency: Int, timeout: Int) throws {
        let interval = Duration.milliseconds(least)...Duration.milliseconds(most)
        let parameters = try #require(
            ConnectionParameters(
                interval: interval, latency: latency, supervisionTimeout: .milliseconds(timeout)))
        #expect(
            parameters.units
                == [UInt16(least / 1.25), UInt16(most / 1.25), UInt16(latency), UInt16(timeout / 10)])
        #expect(ConnectionParameters(units: parameters.units) == parameters)
    }

    @Test(
        arguments: [
            (6.25, 7.5, 0, 2000), (7.5, 4001.25, 0, 32000), (10, 15.5, 0, 2000), (15, 15, 500, 32000),
            (15, 15, -1, 2000),
            (15, 15, 0, 90), (15, 15, 0, 32010), (15, 15, 0, 425), (50, 50, 0, 100), (1000, 1000, 14, 30000),
        ] as [(Double, Double, Int, Int)])
    func whatItForbids(least: Double, most: Double, latency: Int, timeout: Int) {
        let interval = Duration.milliseconds(least)...Duration.milliseconds(most)
        #expect(
            ConnectionParameters(interval: interval, latency: latency, supervisionTimeout: .milliseconds(timeout))
                == nil)
    }

    @Test(arguments: [[], [12, 9, 0, 200], [0, 0, 0, 0], [9, 12, 0], [9, 12, 0, 200, 0], [0xFFFF, 0xFFFF, 0, 200]])
    func unitsThatAreNoParameters(units: [UInt16]) {
        #expect(ConnectionParameters(units: units) == nil)
    }

    @Test func forPeople() {
        #expect(
            ConnectionParameters.update.description
                == "an interval of 11.25 to 15 ms, latency 0, supervision timeout 2 s")
        #expect(
            ConnectionParameters(units: [6, 6, 4, 42])?.description
                == "an interval of 7.5 ms, latency 4, supervision timeout 0.42 s")
    }
}
