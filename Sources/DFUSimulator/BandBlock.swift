import DFUProtocol

/// A block on its way to a band.
struct BandBlock: Sendable, Hashable {
    /// The "first missing packet" of a block that misses none.
    static let noneMissing: UInt16 = 0xFFFF

    let index: Int
    let length: Int
    let crc32: UInt32
    private var packets: [UInt8: [UInt8]] = [:]

    init(index: Int, length: Int, crc32: UInt32) {
        self.index = index
        self.length = length
        self.crc32 = crc32
    }

    /// Takes a packet; of the same sequence number the later counts.
    mutating func add(_ bytes: [UInt8], sequence: UInt8) {
        packets[sequence] = bytes
    }

    /// The packets' bytes up to the first gap.
    var bytes: [UInt8] {
        (0..<firstGap).flatMap { packets[UInt8($0)] ?? [] }
    }

    private var firstGap: Int {
        (0...255).first { packets[UInt8($0)] == nil } ?? 256
    }

    /// What its end is answered with, and the first missing packet.
    var verdict: (BlockAck.Status, missing: UInt16) {
        let bytes = bytes
        if bytes.count < length { return (.packetsMissing, UInt16(firstGap)) }
        if packets.count > firstGap || bytes.count > length || CRC32.checksum(bytes) != crc32 {
            return (.blockMismatch, Self.noneMissing)
        }
        return (.ok, Self.noneMissing)
    }
}
