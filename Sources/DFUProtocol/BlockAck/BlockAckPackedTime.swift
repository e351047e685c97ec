extension BlockAck {
    /// A local time as the band's clock takes it, to the minute.
    ///
    /// From the top bit: 5 bits year − 2000, 4 month, 5 day, 5 hour, 6 minute, 3 weekday (0 is Sunday), 4 zero.
    public struct PackedTime: RawRepresentable, Sendable, Hashable {
        /// The 32 bits.
        public let rawValue: UInt32

        /// The time that these bits stand for.
        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// A local time; the weekday follows from the date. Nil where the calendar has no such time, or the format no
        /// room for it (it reaches from 2000 to 2031).
        public init?(year: Int, month: Int, day: Int, hour: Int, minute: Int) {
            guard (2000...2031).contains(year), (1...12).contains(month), (0...23).contains(hour),
                (0...59).contains(minute), (1...Self.days(in: month, of: year)).contains(day)
            else { return nil }
            let date = (year - 2000) << 27 | month << 23 | day << 18
            let time = hour << 13 | minute << 7
            let weekday = Self.weekday(year: year, month: month, day: day) << 4
            rawValue = UInt32(date | time | weekday)
        }

        private static func days(in month: Int, of year: Int) -> Int {
            switch month {
            case 2: year % 4 == 0 ? 29 : 28  // No century in 2000…2031 leaves its leap day out.
            case 4, 6, 9, 11: 30
            default: 31
            }
        }

        /// 0 is Sunday; counted from Saturday, 1 January 2000.
        private static func weekday(year: Int, month: Int, day: Int) -> Int {
            let years = year - 2000
            let leapDays = (years + 3) / 4
            let daysOfMonths = (1..<month).reduce(0) { $0 + days(in: $1, of: year) }
            return (6 + years * 365 + leapDays + daysOfMonths + day - 1) % 7
        }
    }
}
