/// The shortest time that a block-ack transfer can take on a link, by the packet formats alone.
///
/// A block takes the connection events that its frames fill, and one more for the device's answer; `start` and `complete`
/// take an event and the answer's.
public struct BlockAckBound: Sendable {
    /// What goes into a connection event.
    public var events: ConnectionEvents
    /// The longest frame.
    public var packetSize: Int
    /// Bytes of the image in a block.
    public var blockSize = 2048

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

    /// The microseconds that an image of `size` bytes takes, from `start` to the answer to `complete`.
    public func time(for size: Int) -> Int {
        let whole = size / blockSize * blockTime
        let rest = size % blockSize
        let last = rest > 0 ? (events.count(for: frames(of: rest)) + 1) * events.interval : 0
        return (2 + 2) * events.interval + whole + last
    }

    /// The microseconds that a whole block takes.
    public var blockTime: Int { (events.count(for: frames(of: blockSize)) + 1) * events.interval }
}
