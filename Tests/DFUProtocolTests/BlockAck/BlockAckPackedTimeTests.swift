import DFUProtocol
import Testing

@Suite struct BlockAckPackedTimeTests {
    @Test(
        "the known-good vectors",
        arguments: [
            (2017, 12, 26, 14, 30, 0x8E69_CF20),  // a Tuesday
            (2031, 12, 31, 23, 59, 0xFE7E_FDB0),  // a Wednesday
            (2000, 1, 1, 0, 0, 0x0084_0060),  // a Saturday
            (2024, 2, 29, 12, 0, 0xC175_8040),  // a Thursday, in a leap year
            (2023, 3, 1, 0, 0, 0xB984_0030),  // a Wednesday
        ] as [(Int, Int, Int, Int, Int, UInt32)])
    func knownGood(year: Int, month: Int, day: Int, hour: Int, minute: Int, bits: UInt32) {
        let time = BlockAck.PackedTime(year: year, month: month, day: day, hour: hour, minute: minute)
        #expect(time?.rawValue == bits)
    }

    @Test(
        "times that are none, or for which there is no room",
        arguments: [
            (1999, 12, 31, 23, 59), (2032, 1, 1, 0, 0), (2020, 0, 1, 0, 0), (2020, 13, 1, 0, 0), (2020, 1, 0, 0, 0),
            (2020, 1, 32, 0, 0), (2020, 4, 31, 0, 0), (2023, 2, 29, 0, 0), (2020, 2, 30, 0, 0), (2020, 1, 1, 24, 0),
            (2020, 1, 1, -1, 0), (2020, 1, 1, 0, 60),
        ] as [(Int, Int, Int, Int, Int)])
    func noTimes(year: Int, month: Int, day: Int, hour: Int, minute: Int) {
        #expect(BlockAck.PackedTime(year: year, month: month, day: day, hour: hour, minute: minute) == nil)
    }
}
