extension BlockAck {
    /// A gap between packets that finds its length.
    ///
    /// Each block that arrives whole shortens it to a quarter, down to none; so 20 ms are gone after the third block.
    /// When packets go missing or the link is lost, the last length that worked is taken again, and from then on only
    /// lengths between the two are tried. A length that failed is never taken again.
    public struct Pace: Sendable, Hashable, Codable {
        /// The gap now.
        public private(set) var gap: Duration
        /// The shortest gap that worked.
        private var working: Duration?
        /// The longest gap that failed.
        private var failing: Duration?

        /// Below this a quarter is no gap at all: Linux' timers and a radio's connection events are coarser.
        private static let shortest = Duration.milliseconds(4)
        /// A working and a failing gap this close together are not worth another failure.
        private static let resolution = Duration.milliseconds(2)
        /// The longest gap that it tries by itself: a block of 128 packets then takes 26 s.
        private static let longest = Duration.milliseconds(200)

        /// Starts at this length.
        public init(from gap: Duration) {
            self.gap = gap
        }

        /// A block arrived whole at this gap.
        mutating func worked() {
            working = gap
            if let failing {
                if gap - failing >= Self.resolution, gap > failing * 2 {
                    gap = (gap + failing) / 2
                }
            } else {
                gap = gap < Self.shortest ? .zero : gap / 4
            }
        }

        /// Packets went missing, or the link was lost, at this gap.
        mutating func failed() {
            failing = gap
            if let working, working > gap {
                gap = working
            } else {
                working = nil
                gap = max(gap, min(max(gap * 2, Self.shortest), Self.longest))
            }
        }
    }
}
