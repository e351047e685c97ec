/// Bytes that look like firmware.
public enum Firmware {
    /// `count` bytes without a period, the same each time, so that a lost or swapped packet always shows.
    public static func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var state = seed
        return (0..<count).map { _ in
            // SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
            return UInt8(truncatingIfNeeded: value ^ value >> 31)
        }
    }
}
