public import DFUProtocol

/// What stands between a host and a band and lets a script's faults happen: a value that knows no clock.
public struct FaultInjector: Sendable {
    /// What becomes of a packet.
    public enum Effect: Sendable, Equatable {
        /// It arrives, or another in its place, `after` some time.
        case deliver([UInt8], after: Duration)
        /// The band answers with these bytes, and does not see the packet.
        case answer([UInt8])
        /// It is lost, and more with it.
        case fail(Failure)
    }

    /// What ends more than one packet.
    public enum Failure: Sendable, Equatable {
        /// The link is lost `after` some time.
        case disconnect(after: Duration)
        /// From now on nothing arrives, for a time or, with nil, for ever.
        case silence(lasting: Duration?)
        /// The band reboots.
        case reboot(keepsBlocks: Bool?, offAir: Duration)
    }

    private let faults: [Fault]
    private let parameters: BlockAck.Parameters
    private var frames = PacketCount()
    private var replies = PacketCount()
    private var bytes = 0
    /// A packet of each side that lets the next one pass.
    private var heldFrame: [UInt8]?
    private var heldReply: [UInt8]?

    /// An injector for a band that speaks by these parameters.
    public init(_ script: FaultScript, parameters: BlockAck.Parameters) {
        faults = script.faults
        self.parameters = parameters
    }

    /// What becomes of a packet that the host has written.
    public mutating func hostFrame(_ packet: [UInt8]) -> [Effect] {
        let command = command(of: packet) { parameters.opcodes[$0] }
        let place = frames.count(command)
        let before = bytes
        bytes += packet.count
        for case .disconnectAtByte(let byte) in faults where before < byte && byte <= bytes {
            return [.fail(.disconnect(after: .zero))]
        }
        var packet = packet
        for case .truncate(let length) in faults { packet = Array(packet.prefix(length)) }
        return pass(packet, of: .frame, at: place, held: \.heldFrame)
    }

    /// What becomes of a packet that the band has sent.
    public mutating func deviceFrame(_ packet: [UInt8]) -> [Effect] {
        let command =
            command(of: packet) { parameters.opcodes.reply(to: $0) }
            ?? command(of: packet) { parameters.opcodes[$0] }
        let place = replies.count(command)
        return pass(packet, of: .reply, at: place, held: \.heldReply)
    }

    /// Whether the link is lost when a connection event has brought this many packets.
    public func received(packets: Int) -> Failure? {
        for case .disconnectOverPackets(let most) in faults where packets > most {
            return .disconnect(after: .zero)
        }
        return nil
    }

    /// The link is gone, and with it the packets that were on their way.
    public mutating func disconnected() {
        heldFrame = nil
        heldReply = nil
    }

    private func command(of packet: [UInt8], opcode: (BlockAck.Command) -> UInt8) -> BlockAck.Command? {
        guard packet.count > 1 else { return nil }
        return BlockAck.Command.allCases.first { opcode($0) == packet[1] }
    }

    private mutating func pass(
        _ original: [UInt8], of side: FaultPlace.Side, at place: PacketCount.Place,
        held: WritableKeyPath<FaultInjector, [UInt8]?>
    ) -> [Effect] {
        var packet = original
        var delay = Duration.zero
        var second: Duration?
        var isHeld = false
        for fault in faults {
            switch fault {
            case .drop(let at) where place.isAt(at, side):
                return []
            case .disconnect(let at, let after) where place.isAt(at, side):
                return [.fail(.disconnect(after: after))]
            case .silence(let at, let duration) where place.isAt(at, side):
                return [.fail(.silence(lasting: duration))]
            case .reboot(let at, let keepsBlocks, let offAir) where place.isAt(at, side):
                return [.fail(.reboot(keepsBlocks: keepsBlocks, offAir: offAir))]
            case .status(let at, let status) where place.isAt(at, side):
                guard let command = place.command else { continue }
                return [.answer(BlockAck.Reply.status(status, of: command).encoded(by: parameters))]
            case .damage(let at, let byte) where place.isAt(at, side):
                let index = byte ?? packet.count - 1
                if packet.indices.contains(index) { packet[index] ^= 0xFF }
            case .double(let at, let after) where place.isAt(at, side):
                second = after
            case .delay(let at, let by) where place.isAt(at, side):
                delay += by
            case .swap(let at) where place.isAt(at, side):
                isHeld = true
            case .drop, .disconnect, .silence, .reboot, .status, .damage, .double, .delay, .swap, .disconnectAtByte,
                .disconnectOverPackets, .truncate, .battery, .oldVersion:
                continue
            }
        }
        if isHeld, self[keyPath: held] == nil {
            self[keyPath: held] = packet
            return []
        }
        var effects = [Effect.deliver(packet, after: delay)]
        if let second { effects.append(.deliver(packet, after: delay + second)) }
        if let late = self[keyPath: held] {
            self[keyPath: held] = nil
            effects.append(.deliver(late, after: delay))
        }
        return effects
    }
}

/// How many packets of one side there were.
private struct PacketCount: Sendable {
    /// A packet's place among the others.
    struct Place {
        var number: Int
        var command: BlockAck.Command?
        var numberOfCommand: Int

        func isAt(_ place: FaultPlace, _ side: FaultPlace.Side) -> Bool {
            guard place.side == side else { return false }
            guard let wanted = place.command else { return place.numbers.contains(number) }
            return wanted == command && place.numbers.contains(numberOfCommand)
        }
    }

    private var total = 0
    private var ofCommand: [BlockAck.Command: Int] = [:]

    mutating func count(_ command: BlockAck.Command?) -> Place {
        total += 1
        if let command { ofCommand[command, default: 0] += 1 }
        return Place(number: total, command: command, numberOfCommand: command.flatMap { ofCommand[$0] } ?? 0)
    }
}
