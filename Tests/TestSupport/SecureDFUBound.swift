/// The shortest time that a transfer by Secure DFU can take on a link, by the packet formats alone.
///
/// No answer leaves in the event that carried its question: a request takes an event, and its answer the next. The packets
/// of an object take the events that they fill, and one more for the device's word that all arrived, which has to be
/// awaited before `execute`. An object's erasing and writing begin with `create`, and `execute` is answered when they are
/// done.
public struct SecureDFUBound: Sendable {
    /// What goes into a connection event.
    public var events: ConnectionEvents
    /// The longest packet: words of 4 bytes.
    public var packetSize: Int
    /// Bytes of the firmware in an object.
    public var objectSize = 4096
    /// The microseconds that the flash takes to erase an object's page, and to write a packet.
    public var eraseTime = 0, writeTime = 0

    private static let request = 2

    private func packets(of length: Int) -> [Int] {
        let rest = length % packetSize
        return [Int](repeating: packetSize, count: length / packetSize) + (rest > 0 ? [rest] : [])
    }

    /// The connection events of an object, from `create` to the answer to `execute`.
    private func objectEvents(_ length: Int, erase: Int, write: Int) -> Int {
        let packets = packets(of: length)
        let air = Self.request + events.count(for: packets) + 1 + Self.request
        let flash = erase + packets.count * write
        return max(air, (flash + events.interval - 1) / events.interval + 1)
    }

    /// The microseconds from the first `select` to the answer to the last `execute`.
    public func time(initPacket: Int, firmware: Int) -> Int {
        let rest = firmware % objectSize
        let whole = firmware / objectSize * objectEvents(objectSize, erase: eraseTime, write: writeTime)
        let last = rest > 0 ? objectEvents(rest, erase: eraseTime, write: writeTime) : 0
        return (2 * Self.request + objectEvents(initPacket, erase: 0, write: 0) + whole + last) * events.interval
    }
}
