public import DFUProtocol

/// One thing that goes wrong between a host and a band, or in the band.
public enum Fault: Sendable, Hashable {
    /// Packets never arrive.
    case drop(FaultPlace)
    /// A byte of each packet (nil: its last) arrives with all bits flipped.
    case damage(FaultPlace, byte: Int?)
    /// Packets arrive twice, the second time `after` the first.
    case double(FaultPlace, after: Duration)
    /// Packets arrive later.
    case delay(FaultPlace, by: Duration)
    /// Packets arrive behind the one that follows them.
    case swap(FaultPlace)
    /// The link is lost `after` a packet that does not arrive.
    case disconnect(FaultPlace, after: Duration)
    /// The link is lost with the packet in which the host has written this many bytes over all links.
    case disconnectAtByte(Int)
    /// The link is lost when a connection event brings more packets than this.
    case disconnectOverPackets(Int)
    /// From this packet on nothing arrives on either side, for a time or, with nil, for ever.
    case silence(FaultPlace, lasting: Duration?)
    /// The band reboots instead of taking a packet, and comes back when `offAir` has passed; nil for how it treats its
    /// blocks then: as its settings say.
    case reboot(FaultPlace, keepsBlocks: Bool?, offAir: Duration)
    /// The band answers a command with a status instead of carrying it out.
    case status(FaultPlace, BlockAck.Status)
    /// The band sees only the first bytes of each packet.
    case truncate(length: Int)
    /// The battery has this many tenths of full; nil where the band does not know the question.
    case battery(tenths: UInt8?)
    /// The band goes on with the old version after it has accepted a new one.
    case oldVersion
}

/// The packets that a fault befalls: of one side, perhaps only those of one command, by their number from 1.
///
/// Packets are counted over all links, each side's by itself.
public struct FaultPlace: Sendable, Hashable {
    /// Who sends the packets.
    public enum Side: String, Sendable, Hashable {
        /// The host.
        case frame
        /// The band.
        case reply
    }

    /// Who sends the packets.
    public var side: Side
    /// Only packets of this command, or answers to it.
    package var command: BlockAck.Command?
    /// The numbers, among the packets of that side or of that command.
    public var numbers: Range<Int>

    /// Packets by number.
    package init(_ side: Side, _ number: Int, of command: BlockAck.Command? = nil, count: Int = 1) {
        self.side = side
        self.command = command
        let (end, isTooMany) = number.addingReportingOverflow(count)
        numbers = number..<(isTooMany ? .max : end)
    }
}
