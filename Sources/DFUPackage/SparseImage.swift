/// Bytes at addresses, with gaps between them.
public struct SparseImage: Sendable, Hashable {
    /// Bytes without a gap.
    public struct Segment: Sendable, Hashable {
        /// Where the first byte goes.
        public let address: UInt32
        /// The bytes; never none.
        public internal(set) var bytes: [UInt8]

        /// The address behind the last byte; up to 2³².
        public var end: Int { Int(address) + bytes.count }
    }

    /// The bytes by address; segments neither overlap nor touch.
    public let segments: [Segment]

    /// How many bytes there are, gaps left out.
    public var count: Int { segments.reduce(0) { $0 + $1.bytes.count } }

    /// One segment from the lowest to the highest address, gaps filled with `gapFill`.
    ///
    /// It throws `missing` with the reason `noData` for an image without bytes, and, where the gaps are more than
    /// `maximumGap` bytes together, `unsuitable` with `dataOutsideFlash` (the first gap that is too much leads to
    /// 0x10000000 or above, where microcontrollers have configuration words, RAM and peripherals) or `gapTooLarge`.
    public func flattened(gapFill: UInt8 = 0xFF, maximumGap: Int = 0x1_0000) throws(PackageError) -> Segment {
        guard var whole = segments.first else {
            throw PackageError(.missing, reason: "noData", message: "the file holds no data")
        }
        var gaps = 0
        for (previous, next) in zip(segments, segments.dropFirst()) {
            gaps += Int(next.address) - previous.end
            guard gaps <= maximumGap else {
                throw Self.tooLarge(from: previous.end, to: next.address, whole, maximumGap)
            }
        }
        whole.bytes.reserveCapacity(count + gaps)
        for next in segments.dropFirst() {
            whole.bytes.append(contentsOf: repeatElement(gapFill, count: Int(next.address) - whole.end))
            whole.bytes.append(contentsOf: next.bytes)
        }
        return whole
    }

    private static func tooLarge(
        from end: Int, to address: UInt32, _ first: Segment, _ maximumGap: Int
    ) -> PackageError {
        let outside: UInt32 = 0x1000_0000
        let text =
            "\(Int(address) - end) bytes behind the data that ends at 0x\(String(end, radix: 16, uppercase: true))"
        let cure = "export the HEX with the firmware alone"
        if first.address < outside, address >= outside {
            return PackageError(
                .unsuitable, reason: "dataOutsideFlash",
                message: "data outside flash at 0x\(address.hexadecimal), \(text); \(cure)")
        }
        return PackageError(
            .unsuitable, reason: "gapTooLarge",
            message: """
                the data at 0x\(address.hexadecimal) lies \(text), and gaps of at most \(maximumGap) bytes together are \
                filled; \(cure)
                """)
    }
}
