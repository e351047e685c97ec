/// How many connection events packets fill, by the packet formats alone.
///
/// It shares no code with the simulated radio, which it judges: numbers of bytes and microseconds, added up.
public struct ConnectionEvents: Sendable {
    /// From one connection event to the next, in microseconds.
    public var interval = 7500
    /// The time of a byte on the air: 8 at 1M, 4 at 2M.
    public var byteTime: Int
    /// Bytes before the access address: 1 at 1M, 2 at 2M.
    public var preamble: Int
    /// The longest payload of a link-layer packet.
    public var dataLength: Int

    /// 1M, 27 bytes in a link-layer packet: Bluetooth 4.0.
    public static let bluetooth40 = ConnectionEvents(byteTime: 8, preamble: 1, dataLength: 27)
    /// 1M, 251 bytes in a link-layer packet.
    public static let bluetooth42 = ConnectionEvents(byteTime: 8, preamble: 1, dataLength: 251)
    /// 2M, 251 bytes in a link-layer packet.
    public static let bluetooth50 = ConnectionEvents(byteTime: 4, preamble: 2, dataLength: 251)

    /// The number for writes of these lengths, when they are all there at the first.
    func count(for writes: [Int]) -> Int {
        var events = 1
        var busy = 0
        for write in writes {
            var rest = write + 3 + 4
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
}
