extension BlockAck {
    /// A gap between packets that finds its length.
    ///
    /// After the first block that arrives whole it is gone. When packets go missing or the link is lost, the shortest
    /// length that worked is taken again, and from then on halved as long as blocks arrive whole. A length that failed
    /// is never taken again, so it settles: from 20 ms in seven sends at the most.
    public struct Pace: Sendable, Hashable, Codable {
        /// The gap now.
        public private(set) var gap: Duration
        /// The shortest gap that worked.
        package private(set) var working: Duration?
        /// The longest gap that failed.
        package private(set) var failing: Duration?

        /// The shortest gap that is worth trying once none at all has failed.
        private static let shortest = Duration.milliseconds(1)
        /// What follows no gap at all when it fails after it had worked.
        private static let gentle = Duration.milliseconds(4)
        /// The longest gap that it tries by itself: a block of 128 packets then takes 26 s.
        private static let longest = Duration.milliseconds(200)

        /// Starts at this length.
        public init(from gap: Duration) {
            self.gap = gap
        }

        /// One that has found out this much. None of the lengths is longer than a gap may be.
        package init(gap: Duration, working: Duration?, failing: Duration?) {
            self.gap = gap
            self.working = working
            self.failing = failing
        }

        /// A block arrived whole at this gap.
        mutating func worked() {
            working = gap
            guard let failing else { return gap = .zero }
            let half = gap / 2
            if half > failing, half >= Self.shortest { gap = half }
        }

        /// Packets went missing, or the link was lost, at this gap.
        mutating func failed() {
            failing = gap
            if let working, working > gap {
                gap = working
            } else {
                working = nil
                gap = max(gap, min(max(gap * 2, Self.gentle), Self.longest))
            }
        }
    }
}
