extension BlockAck {
    /// What is sent.
    public struct Image: Sendable, Hashable {
        /// The image's bytes.
        public let bytes: [UInt8]
        /// Their CRC-32.
        public let crc32: UInt32
        /// The version that `start` announces; `.any` skips the device's version check.
        public let version: Version

        /// An image of these bytes.
        public init(bytes: [UInt8], version: Version) {
            self.bytes = bytes
            self.crc32 = CRC32.checksum(bytes)
            self.version = version
        }

        /// Zeros in place of an image whose bytes are not at hand: only their number and CRC-32 are known.
        package init(standInOf size: Int, crc32: UInt32, version: Version) {
            bytes = [UInt8](repeating: 0, count: size)
            self.crc32 = crc32
            self.version = version
        }

        /// How many blocks of `blockSize` bytes the image has, the last one perhaps shorter.
        ///
        /// The protocol can carry 1…65 535 (`Parameters.problem(with:)`).
        public func blockCount(blockSize: Int) -> Int {
            bytes.count.dividedRoundingUp(by: blockSize)
        }

        /// What `start` says of it.
        package func announcement(by parameters: Parameters) -> Request.Announcement {
            Request.Announcement(
                size: UInt32(bytes.count), crc32: crc32, version: version, blockSize: UInt16(parameters.blockSize))
        }

        /// The bytes of block `index`, from 0.
        func block(_ index: Int, size: Int) -> ArraySlice<UInt8> {
            bytes[(index * size)..<min((index + 1) * size, bytes.count)]
        }
    }
}

extension Int {
    /// The quotient, rounded up: how many pieces of `size` hold this many.
    func dividedRoundingUp(by size: Int) -> Int {
        (self + size - 1) / size
    }
}
