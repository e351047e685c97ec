import DFUProtocol
import Testing

/// Whatever a device says, a transfer ends.
@Suite struct SecureNoiseTests {
    private struct Dice {
        var state: UInt64

        mutating func roll(_ sides: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % sides
        }
    }

    private static let image = SecureSample.image(300, initPacket: 50)

    /// Something that a device may send, more likely one that fits.
    private static func answer(to request: [UInt8], _ dice: inout Dice) -> [UInt8] {
        let image = Self.image
        let code = UInt8(dice.roll(20) == 0 ? [2, 3, 4, 5, 8, 10, 11, 0, 255][dice.roll(9)] : 1)
        let opcode = dice.roll(20) == 0 ? UInt8(dice.roll(16)) : request[0]
        let bytes = dice.roll(2) == 0 ? image.firmware : image.initPacket
        let offsets = [0, 1, 4, 20, 40, 50, 63, 64, 65, 128, 299, 300, 301, 4096, Int(UInt32.max)]
        let offset = offsets[dice.roll(offsets.count)]
        let crc = dice.roll(10) == 0 ? 7 : CRC32.checksum(bytes.prefix(offset))
        let maximum = [0, 1, 3, 20, 64, 64, 64, 300, 4096, Int(UInt32.max)][dice.roll(10)]
        var answer = [0x60, opcode, code]
        if opcode == 6 { answer += little(UInt32(maximum)) }
        if opcode == 6 || opcode == 3 { answer += little(UInt32(offset)) + little(crc) }
        if code == 11 { answer.append(UInt8(dice.roll(20))) }
        return dice.roll(60) == 0 ? Array(answer.prefix(dice.roll(answer.count))) : answer
    }

    @Test("any answers at any time", arguments: 0..<40) func noise(seed: Int) {
        for round in 0..<50 {
            var dice = Dice(state: UInt64(seed * 1000 + round))
            var parameters = SecureDFU.Parameters()
            parameters.receipts = [.none, .every(1), .every(3), .adaptive(limit: 10)][dice.roll(4)]
            parameters.tries = 1 + dice.roll(4)
            var transfer = SecureDFU.Transfer(
                Self.image, by: parameters, maximumWriteLength: [4, 20, 64][dice.roll(3)])
            var last: [UInt8] = [3]
            var steps = 0
            var isOver = false
            var progress = 0
            while !isOver {
                steps += 1
                guard steps < 20_000 else {
                    Issue.record("seed \(seed), round \(round) does not end")
                    return
                }
                switch transfer.next() {
                case .finish: isOver = true
                case .write(let bytes, let endpoint):
                    if endpoint == .controlPoint { last = bytes }
                    if dice.roll(10) == 0 {
                        transfer.receive(.notification(Self.answer(to: last, &dice), from: .controlPoint))
                    }
                    switch dice.roll(200) {
                    case 0: transfer.receive(.writeFailed(WriteFailure(attCode: 0x0E, message: "unlikely error")))
                    case 1: transfer.receive(.disconnected)
                    case 2:
                        transfer.receive(.abort)
                        transfer.receive(.written)
                    default: transfer.receive(.written)
                    }
                case .wait:
                    switch dice.roll(40) {
                    case 0: transfer.receive(.timeout)
                    case 1 where dice.roll(5) == 0: transfer.receive(.abort)
                    default:
                        let request: [UInt8] = dice.roll(3) == 0 ? [3] : last
                        transfer.receive(.notification(Self.answer(to: request, &dice), from: .controlPoint))
                    }
                }
                let told = transfer.progress
                #expect(told.bytes >= progress && told.bytes <= told.total)
                progress = told.bytes
            }
        }
    }
}
