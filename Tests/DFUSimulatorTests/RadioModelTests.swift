import Testing

@testable import DFUSimulator

@Suite struct RadioModelTests {
    @Test(arguments: [
        (RadioModel.PHY.le1M, 27, 676), (.le1M, 251, 2468), (.le2M, 27, 496), (.le2M, 251, 1392), (.le1M, 0, 460),
    ])
    func aPacketAndItsEmptyAnswerTake(_ phy: RadioModel.PHY, _ payload: Int, _ microseconds: Int) {
        let radio = RadioModel(phy: phy, dataLength: 251, mtu: 247)
        #expect(radio.exchangeTime(host: payload, device: 0) == .microseconds(microseconds))
        #expect(radio.exchangeTime(host: 0, device: payload) == .microseconds(microseconds))
    }

    @Test(arguments: [(23, 20), (247, 244), (515, 512), (517, 512)])
    func aWriteCarries(_ mtu: Int, _ length: Int) {
        #expect(RadioModel(mtu: mtu).maximumWriteLength == length)
    }
}
