extension BlockAck {
    /// What a host can tell a device, without its payload.
    package enum Command: String, Sendable, Hashable, Codable, CaseIterable {
        case battery
        case setTime
        case start
        case blockHeader
        case data
        case blockEnd
        case complete
        case abort
    }
}

extension BlockAck.Parameters.Opcodes {
    /// The first byte of a command.
    package subscript(command: BlockAck.Command) -> UInt8 {
        switch command {
        case .battery: battery
        case .setTime: setTime
        case .start: start
        case .blockHeader: blockHeader
        case .data: data
        case .blockEnd: blockEnd
        case .complete: complete
        case .abort: abort
        }
    }

    /// The first byte of the device's answer to a command that it answers.
    package func reply(to command: BlockAck.Command) -> UInt8 {
        command == .battery ? batteryReply : self[command]
    }
}

extension BlockAck.Parameters.Limits {
    /// How long the answer to a command may take; zero for those that are not answered.
    subscript(command: BlockAck.Command) -> Duration {
        switch command {
        case .battery: battery
        case .setTime: setTime
        case .start: start
        case .blockHeader, .data: .zero
        case .blockEnd: blockEnd
        case .complete: complete
        case .abort: abort
        }
    }
}
