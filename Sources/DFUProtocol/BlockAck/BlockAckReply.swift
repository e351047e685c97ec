extension BlockAck {
    /// An answer of the device.
    package enum Reply: Sendable, Hashable {
        /// The battery in tenths of full; above 10 it is unknown.
        case battery(tenths: UInt8)
        /// `start` was accepted: go on at block `next`, with frames of at most `packetLimit` bytes (0: not said).
        case started(next: UInt16, packetLimit: UInt8)
        /// A verdict on a block. A refusal may leave out the block, or the first missing packet (`FFFF`: none).
        case block(Status, index: UInt16?, firstMissing: UInt16?)
        /// A bare verdict on a command: all that `setTime`, `complete` and `abort` ever get, a refused `start`, and a
        /// battery question that the device does not answer with a level.
        case status(Status, of: Command)

        /// Which command it answers.
        package var command: Command {
            switch self {
            case .battery: .battery
            case .started: .start
            case .block: .blockEnd
            case .status(_, let command): command
            }
        }

        /// The verdict in it.
        package var status: Status {
            switch self {
            case .battery, .started: .ok
            case .block(let status, _, _), .status(let status, _): status
            }
        }

        /// The packet's bytes.
        package func encoded(by parameters: Parameters) -> [UInt8] {
            frame(by: parameters).encoded(from: .device, by: parameters)
        }

        private func frame(by parameters: Parameters) -> Frame {
            let opcodes = parameters.opcodes
            switch self {
            case .battery(let tenths):
                return Frame(opcode: opcodes.batteryReply, payload: [tenths])
            case .started(let next, let packetLimit):
                let payload = [Status.ok.rawValue] + parameters.bytes(of: next) + [packetLimit]
                return Frame(opcode: opcodes.start, payload: payload)
            case .block(let status, let index, let firstMissing):
                let numbers = [index, firstMissing].compactMap(\.self).flatMap(parameters.bytes)
                return Frame(opcode: opcodes.blockEnd, payload: [status.rawValue] + numbers)
            case .status(let status, let command):
                return Frame(opcode: opcodes[command], payload: [status.rawValue])
            }
        }

        /// The reply that a frame of the device holds; nil where its opcode is none, or its length does not fit.
        ///
        /// A refusal may end after its status, and bytes behind those known are ignored.
        package init?(_ frame: Frame, by parameters: Parameters) {
            guard let first = frame.payload.first else { return nil }
            let opcodes = parameters.opcodes
            let payload = frame.payload[...]
            let status = Status(rawValue: first)
            func number(at offset: Int) -> UInt16? {
                payload.count < offset + 2
                    ? nil : parameters.integer(UInt16.self, from: payload[offset..<(offset + 2)])
            }
            switch frame.opcode {
            case opcodes.batteryReply:
                self = .battery(tenths: first)
            case opcodes.start where status == .ok:
                guard payload.count >= 4, let next = number(at: 1) else { return nil }
                self = .started(next: next, packetLimit: payload[3])
            case opcodes.blockEnd:
                let (index, firstMissing) = (number(at: 1), number(at: 3))
                guard status != .ok || firstMissing != nil else { return nil }
                self = .block(status, index: index, firstMissing: firstMissing)
            default:
                let answered: [Command] = [.battery, .setTime, .start, .complete, .abort]
                guard let command = answered.first(where: { opcodes[$0] == frame.opcode }) else { return nil }
                self = .status(status, of: command)
            }
        }
    }
}
