extension BlockAck {
    /// An image's version, as `start` announces it.
    public struct Version: Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
        /// The first number.
        public var major: UInt8
        /// The second number.
        public var minor: UInt8
        /// The third number.
        public var patch: UInt8

        /// The version `major.minor.patch`.
        public init(_ major: UInt8, _ minor: UInt8, _ patch: UInt8) {
            self.major = major
            self.minor = minor
            self.patch = patch
        }

        /// `FF FF FF`: the device skips its version check. No version of an image.
        public static let any = Version(0xFF, 0xFF, 0xFF)

        /// By the first number, then the second, then the third.
        public static func < (left: Version, right: Version) -> Bool {
            (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
        }

        /// `1.4.2`.
        public var description: String {
            "\(major).\(minor).\(patch)"
        }
    }
}
