import Testing

@testable import DFUSimulator

@Suite struct RadioQueuesTests {
    private typealias Queues = RadioQueues<Int, String>

    private func queues(_ radio: RadioModel, writes: Int, of length: Int) -> Queues {
        var queues = Queues(radio: radio)
        for number in 0..<writes { queues.send(number, attributeLength: 3 + length) }
        return queues
    }

    @Test(arguments: [
        (RadioModel.bluetooth40, 11, 29_300), (.bluetooth42, 3, 97_600), (.bluetooth50, 5, 162_700),
        (RadioModel(phy: .le2M), 15, 40_000),
    ])
    func aStreamOfCommandsCarries(_ radio: RadioModel, _ packetsInEvent: Int, _ bytesInSecond: Double) {
        var queues = queues(radio, writes: 20_000, of: radio.maximumWriteLength)
        let events = 1000
        let passed = (0..<events).map { _ in queues.passEvent() }
        #expect(passed.allSatisfy { $0.hostPackets == packetsInEvent && $0.duration <= radio.interval })
        let writes = passed.map(\.toDevice.count).reduce(0, +)
        let rate = Double(writes * radio.maximumWriteLength) / (radio.interval * events / .seconds(1))
        #expect(abs(rate / bytesInSecond - 1) < 0.01)
    }

    @Test func aWriteOverTheDataLengthTakesSeveralPackets() {
        // 244 + 3 + 4 bytes are nine packets of 27 and one of 8.
        var queues = queues(RadioModel(mtu: 247), writes: 2, of: 244)
        let first = queues.passEvent()
        #expect(first.toDevice == [0])
        #expect(first.hostPackets == 11)
        #expect(first.duration == .microseconds(6608 + 676))
        let second = queues.passEvent()
        #expect(second.toDevice == [1])
        #expect(second.hostPackets == 9)
        #expect(queues.isEmpty)
    }

    @Test func theNumberOfPacketsMayBeLimited() {
        var queues = queues(RadioModel(packetsPerEvent: 4), writes: 9, of: 20)
        #expect(queues.passEvent().toDevice == [0, 1, 2, 3])
        #expect(queues.passEvent().toDevice == [4, 5, 6, 7])
        #expect(queues.passEvent().toDevice == [8])
    }

    @Test func bothSidesShareAnExchange() {
        var queues = queues(.bluetooth40, writes: 20, of: 20)
        for answer in ["a", "b"] { queues.answer(answer, attributeLength: 3 + 20) }
        let event = queues.passEvent()
        // Two exchanges of 296 + 296 + 300 µs, then 676 µs each.
        #expect(event.toHost == ["a", "b"])
        #expect(event.toDevice == Array(0..<10))
        #expect(event.duration == .microseconds(2 * 892 + 8 * 676))
    }

    @Test func thePacketThatIsTooLongForAnyEventGoesAlone() {
        let radio = RadioModel(interval: .milliseconds(1), dataLength: 251, mtu: 247, supervisionTimeout: .seconds(1))
        var queues = queues(radio, writes: 2, of: 244)
        #expect(queues.passEvent().toDevice == [0])
        #expect(queues.passEvent().toDevice == [1])
    }
}
