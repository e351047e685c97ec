import Testing

@testable import dfu

@Suite struct QuantitiesTests {
    @Test(arguments: [
        (0, "0 B"), (0.4, "0 B"), (999, "999 B"), (999.6, "1.0 kB"), (1000, "1.0 kB"), (1049, "1.0 kB"),
        (1051, "1.1 kB"),
        (20_480, "20.5 kB"), (999_940, "999.9 kB"), (999_960, "1.00 MB"), (1_048_576, "1.05 MB"),
        (123_456_789, "123.46 MB"),
    ])
    func bytes(_ count: Double, _ text: String) {
        #expect(Quantities.bytes(count) == text)
    }

    @Test(arguments: [
        (0, "0:00"), (0.1, "0:01"), (59.5, "1:00"), (61, "1:01"), (3599, "59:59"), (3600, "1:00:00"),
        (36_061, "10:01:01"),
    ])
    func clock(_ seconds: Double, _ text: String) {
        #expect(Quantities.clock(seconds) == text)
    }
}
