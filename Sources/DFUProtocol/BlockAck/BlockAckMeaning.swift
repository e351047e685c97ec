// What frames mean, in words for people.

extension BlockAck.Request: CustomStringConvertible {
    /// `block header 1: 2048 bytes, CRC-32 810A8FF9`. Blocks are counted from 1.
    package var description: String {
        let name = command.words
        return switch self {
        case .battery, .abort: name
        case .setTime(let time): "\(name) \(time.rawValue.hexadecimal)"
        case .start(let image):
            "\(name): \(image.size) bytes, CRC-32 \(image.crc32.hexadecimal), "
                + (image.version == .any ? "any version" : "version \(image.version)")
                + ", blocks of \(image.blockSize) bytes"
        case .blockHeader(let index, let length, let crc32):
            "\(name) \(Int(index) + 1): \(length) bytes, CRC-32 \(crc32.hexadecimal)"
        case .data(let sequence, let bytes): "\(name) \(sequence): \(bytes.count) bytes"
        case .blockEnd(let index): "\(name) \(Int(index) + 1)"
        case .complete(let crc32): "\(name): CRC-32 \(crc32.hexadecimal)"
        }
    }
}

extension BlockAck.Reply: CustomStringConvertible {
    /// `block end 3: packets missing (status 08), the first is 17`. Blocks are counted from 1, packets from 0.
    package var description: String {
        let name = command.words
        switch self {
        case .battery(let tenths): return "\(name): \(BlockAck.BatteryLevel(tenths: tenths))"
        case .started(let next, let packetLimit):
            let limit = packetLimit == 0 ? "" : ", packets of at most \(packetLimit) bytes"
            return "\(name): goes on at block \(Int(next) + 1)\(limit)"
        case .block(let status, let index, let firstMissing):
            let block = index.map { " \(Int($0) + 1)" } ?? ""
            let missing = firstMissing.flatMap { $0 == 0xFFFF ? nil : ", the first is \($0)" } ?? ""
            return "\(name)\(block): \(status == .ok ? status.meaning : status.description)\(missing)"
        case .status(let status, _):
            return "\(name): \(status == .ok ? status.meaning : status.description)"
        }
    }
}

extension BlockAck.BatteryLevel: CustomStringConvertible {
    /// `80 %` or `unknown`.
    public var description: String {
        switch self {
        case .percent(let percent): "\(percent) %"
        case .unknown: "unknown"
        }
    }
}

extension BlockAck.Command {
    fileprivate var words: String {
        switch self {
        case .battery: "battery"
        case .setTime: "set time"
        case .start: "start"
        case .blockHeader: "block header"
        case .data: "data"
        case .blockEnd: "block end"
        case .complete: "complete"
        case .abort: "abort"
        }
    }
}
