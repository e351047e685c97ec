extension SecureDFU {
    /// How many packets may go before the device has told what it received, and how long an object is prepared for.
    ///
    /// Objects that arrive whole make it quicker, lost packets slower. What failed is not taken again before a number of
    /// objects arrived whole, which doubles each time.
    public struct Pace: Sendable, Hashable, Codable {
        /// The packets between two receipts, or checksums where there are no receipts.
        public private(set) var stride: Int
        /// The pause before an object's first packet.
        public private(set) var delay: Duration

        private var failingStride: Int?
        private var failingDelay: Duration?
        private var wholeObjects = 0
        private var patience = Self.firstPatience

        /// The first stride of a device about which nothing is known; about as many as a page's buffers (SDK 17: 17 of
        /// 244 bytes) take twice.
        private static let firstStride = 8
        /// How long a page's erase may keep a device from hearing (nRF52: 85 ms a page; hosts in the field wait so long).
        private static let learntDelay = Duration.milliseconds(400)
        private static let shortestDelay = Duration.milliseconds(10)
        /// Objects that have to arrive whole before what failed is tried again.
        private static let firstPatience = 8
        private static let longestPatience = 1024

        /// Where a transfer by these parameters begins.
        init(by parameters: Parameters) {
            stride = parameters.receipts.firstStride
            delay = parameters.preparationDelay
        }

        /// Keeps to `parameters`, which may have changed since it was learnt, and to what a pace can be: it may come from a
        /// damaged file.
        mutating func bound(by parameters: Parameters) {
            stride = max(1, min(stride, parameters.receipts.longestStride))
            delay = max(min(delay, Self.learntDelay), parameters.preparationDelay)
            failingStride = failingStride.map { max($0, 2) }
            wholeObjects = 0
            patience = min(max(patience, Self.firstPatience), Self.longestPatience)
        }

        /// Whether packets went missing lately.
        var isCareful: Bool { failingStride != nil }

        /// An object of at most `packets` arrived whole.
        mutating func worked(packets: Int, by parameters: Parameters) {
            wholeObjects += 1
            if wholeObjects >= patience {
                failingStride = nil
                failingDelay = nil
            }
            let most = min(parameters.receipts.longestStride, failingStride.map { $0 - 1 } ?? .max)
            // A receipt at the very end of an object stands for its checksum.
            let doubled = stride > packets / 4 ? max(packets, stride) : stride * 2
            stride = max(1, min(doubled, most))
            let half = delay / 2
            if half >= Self.shortestDelay, half > failingDelay ?? .zero {
                delay = max(half, parameters.preparationDelay)
            } else if failingDelay == nil {
                delay = parameters.preparationDelay
            }
        }

        /// Packets went missing.
        mutating func failed() {
            wholeObjects = 0
            patience = min(patience * 2, Self.longestPatience)
            failingStride = min(failingStride ?? .max, max(stride, 2))
            failingDelay = max(failingDelay ?? .zero, delay)
            stride = stride > Self.firstStride ? Self.firstStride : 1
            delay = max(delay, Self.learntDelay)
        }
    }
}

extension SecureDFU.Parameters.Receipts {
    fileprivate var firstStride: Int {
        switch self {
        case .adaptive(let limit): min(8, limit)
        case .every(let packets): packets
        case .none: .max
        }
    }

    fileprivate var longestStride: Int {
        switch self {
        case .adaptive(let packets), .every(let packets): packets
        case .none: .max
        }
    }
}
