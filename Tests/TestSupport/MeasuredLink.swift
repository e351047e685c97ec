public import DFUSimulator

/// A link to measure transfers on: a radio, a band that uses it to the full, and the bound that both have.
public struct MeasuredLink: Sendable {
    /// How it is called.
    public let name: String
    /// What the connection can carry.
    public let radio: RadioModel
    /// The longest frame that the band takes.
    public let packetLimit: UInt8
    /// The shortest time for a transfer.
    public let bound: BlockAckBound

    /// Packets of 20 bytes, and long packets at both speeds.
    public static let all = [
        MeasuredLink(
            name: "1M, MTU 23", radio: .bluetooth40, packetLimit: 20,
            bound: BlockAckBound(events: .bluetooth40, packetSize: 20)),
        MeasuredLink(
            name: "1M, MTU 247", radio: .bluetooth42, packetLimit: 244,
            bound: BlockAckBound(events: .bluetooth42, packetSize: 244)),
        MeasuredLink(
            name: "2M, MTU 247", radio: .bluetooth50, packetLimit: 244,
            bound: BlockAckBound(events: .bluetooth50, packetSize: 244)),
    ]
}
