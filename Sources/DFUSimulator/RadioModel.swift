/// What a connection's radio can carry.
///
/// Packets and times are those of Bluetooth Core 5.4, volume 6, part B, 2 and 4. No packet is lost on the air: the link
/// layer repeats it. What is modelled is how much goes into a connection event and that no answer leaves in the event
/// that brought its question.
public struct RadioModel: Sendable, Hashable {
    /// The physical layer.
    public enum PHY: String, Sendable, Hashable, Codable, CaseIterable {
        /// One megasymbol a second.
        case le1M = "1M"
        /// Two megasymbols a second.
        case le2M = "2M"
    }

    /// From one connection event to the next; 7.5 ms, the shortest, if not said otherwise.
    public var interval: Duration
    /// The physical layer.
    public var phy: PHY
    /// The longest payload of a link-layer packet: 27 to 251 bytes.
    public var dataLength: Int
    /// The longest attribute packet, its three bytes of header included: 23 to 517.
    public var mtu: Int
    /// The most packets that one side sends in a connection event; nil for as many as there is time for.
    public var packetsPerEvent: Int?
    /// The silence after which a link is lost; 420 ms, as Linux asks for.
    public var supervisionTimeout: Duration
    /// From one advertisement to the next of a device that waits for a host.
    public var advertisingInterval: Duration

    /// A radio; the defaults are the least that every device can.
    public init(
        interval: Duration = .microseconds(7500), phy: PHY = .le1M, dataLength: Int = 27, mtu: Int = 23,
        packetsPerEvent: Int? = nil, supervisionTimeout: Duration = .milliseconds(420),
        advertisingInterval: Duration = .milliseconds(100)
    ) {
        precondition(interval > .zero && supervisionTimeout > interval && advertisingInterval > .zero)
        precondition((27...251).contains(dataLength), "A data length is 27 to 251, not \(dataLength).")
        precondition((23...517).contains(mtu), "An MTU is 23 to 517, not \(mtu).")
        precondition(packetsPerEvent ?? 1 > 0)
        self.interval = interval
        self.phy = phy
        self.dataLength = dataLength
        self.mtu = mtu
        self.packetsPerEvent = packetsPerEvent
        self.supervisionTimeout = supervisionTimeout
        self.advertisingInterval = advertisingInterval
    }

    /// A link of Bluetooth 4.0: 20 bytes in a write, 29.3 kB/s.
    public static let bluetooth40 = RadioModel()
    /// A link of Bluetooth 4.2 with long packets: 244 bytes in a write, 97.6 kB/s.
    public static let bluetooth42 = RadioModel(dataLength: 251, mtu: 247)
    /// A link of Bluetooth 5.0 with long packets at 2M: 244 bytes in a write, 162.7 kB/s.
    public static let bluetooth50 = RadioModel(phy: .le2M, dataLength: 251, mtu: 247)

    /// The longest value that one write or notification carries.
    public var maximumWriteLength: Int { min(mtu - 3, 512) }

    /// The time that one packet of each side takes, with the pause behind each; 0 is an empty packet.
    func exchangeTime(host: Int, device: Int) -> Duration {
        airTime(host) + Self.interFrameSpace + airTime(device) + Self.interFrameSpace
    }

    private static let interFrameSpace = Duration.microseconds(150)

    private func airTime(_ payload: Int) -> Duration {
        let accessAddress = 4
        let header = 2
        let checksum = 3
        switch phy {
        case .le1M: return .microseconds(8 * (1 + accessAddress + header + payload + checksum))
        case .le2M: return .microseconds(4 * (2 + accessAddress + header + payload + checksum))
        }
    }
}
