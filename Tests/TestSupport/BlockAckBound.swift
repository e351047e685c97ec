/// The shortest time that a block-ack transfer can take on a link, by the packet formats alone.
///
/// It shares no code with the simulated radio, which it judges: numbers of bytes and microseconds, added up. A block
/// takes the connection events that its frames fill, and one more for the device's answer; `start` and `complete` take an
/// event and the answer's.
public struct BlockAckBound: Sendable {
    /// From one connection event to the next.
    public var interval = 7500
    /// The time of a byte on the air: 8 at 1M, 4 at 2M.
    public var byteTime: Int
    /// Bytes before the access address: 1 at 1M, 2 at 2M.
    public var preamble: Int
    /// The longest payload of a link-layer packet.
    public var dataLength: Int
    /// The longest frame.
    public var packetSize: Int
    /// Bytes of the image in a block.
    public var blockSize = 2048

    /// 1M, 27 bytes in a link-layer packet, 20 in a write: Bluetooth 4.0.
    public static let bluetooth40 = BlockAckBound(byteTime: 8, preamble: 1, dataLength: 27, packetSize: 20)
    /// 1M, 251 bytes in a link-layer packet, 244 in a write.
    public static let bluetooth42 = BlockAckBound(byteTime: 8, preamble: 1, dataLength: 251, packetSize: 244)
    /// 2M, 251 bytes in a link-layer packet, 244 in a write.
    public static let bluetooth50 = BlockAckBound(byteTime: 4, preamble: 2, dataLength: 251, packetSize: 244)

    /// The lengths of the frames of a block.
    func frames(of blockLength: Int) -> [Int] {
        let header = 2 + 2 + 2 + 4 + 1
        let overhead = 2 + 1 + 1
        let end = 2 + 2 + 1
        let length = packetSize - overhead
        var frames = [header] + [Int](repeating: packetSize, count: blockLength / length)
        if blockLength % length > 0 { frames.append(blockLength % length + overhead) }
        return frames + [end]
    }

    /// How many connection events frames of these lengths fill, when they are all there at the first.
    func events(for frames: [Int]) -> Int {
        var events = 1
        var busy = 0
        for frame in frames {
            var rest = frame + 3 + 4
            while rest > 0 {
                let payload = min(rest, dataLength)
                rest -= payload
                // Preamble, access address, header, checksum; an empty packet comes back; 150 µs behind each.
                let time = (2 * (preamble + 4 + 2 + 3) + payload) * byteTime + 300
                if busy + time > interval {
                    events += 1
                    busy = 0
                }
                busy += time
            }
        }
        return events
    }

    /// The microseconds that an image of `size` bytes takes, from `start` to the answer to `complete`.
    public func time(for size: Int) -> Int {
        let whole = size / blockSize * blockTime
        let rest = size % blockSize
        let last = rest > 0 ? (events(for: frames(of: rest)) + 1) * interval : 0
        return (2 + 2) * interval + whole + last
    }

    /// The microseconds that a whole block takes.
    public var blockTime: Int { (events(for: frames(of: blockSize)) + 1) * interval }
}
