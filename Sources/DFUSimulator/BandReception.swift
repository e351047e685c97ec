public import DFUProtocol

/// An image that a band receives, in order and without gaps.
public struct BandReception: Sendable, Hashable, Codable {
    /// Bytes of the whole image.
    public let size: Int
    /// The announced CRC-32 of the whole image.
    public let crc32: UInt32
    /// Bytes of a block, the last one's excepted.
    public let blockSize: Int
    /// The version that the latest `start` announced.
    public internal(set) var version: BlockAck.Version
    /// The blocks so far.
    @Base64 public private(set) var bytes: [UInt8] = []

    init(_ announcement: BlockAck.Request.Announcement) {
        size = Int(announcement.size)
        crc32 = announcement.crc32
        blockSize = Int(announcement.blockSize)
        version = announcement.version
    }

    /// The blocks of the whole image.
    public var blockCount: Int { blocks(size) }

    /// The first block that is missing; the block count where all are there.
    public var next: Int { blocks(bytes.count) }

    private func blocks(_ size: Int) -> Int {
        (size + blockSize - 1) / blockSize
    }

    func isSame(as announcement: BlockAck.Request.Announcement) -> Bool {
        size == Int(announcement.size) && crc32 == announcement.crc32 && blockSize == Int(announcement.blockSize)
    }

    /// What a block measures; 0 or less where the image has no such block.
    func length(ofBlock index: Int) -> Int {
        min(blockSize, size - index * blockSize)
    }

    /// Takes a block: the next one, or one again that is there.
    mutating func keep(_ block: [UInt8], at index: Int) {
        let start = index * blockSize
        bytes.replaceSubrange(start..<min(start + block.count, bytes.count), with: block)
    }
}
