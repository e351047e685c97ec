import DFUProtocol
import DFUTransport
import Testing

@testable import DFUSimulator

@Suite struct FaultyBandTests {
    private static let question: [UInt8] = [0x1B, 0x99, 0x01, 0x4B]
    private static let eighty: [UInt8] = [0x56, 0x7B, 0x08, 0x27]
    private let command = DeviceProfile.band.command

    private func band(_ faults: Fault...) -> FaultyBand {
        FaultyBand(Band(), faults: FaultScript(faults))
    }

    private func level(_ bytes: [UInt8] = eighty, after delay: Duration = .zero) -> DeviceAction {
        .notify(bytes, from: DeviceProfile.band.reply, after: delay)
    }

    /// What the band does when it is asked three times.
    private func answers(_ band: inout FaultyBand) -> [[DeviceAction]] {
        (0..<3).map { _ in band.written(Self.question, to: command) }
    }

    @Test func withoutFaultsItIsTheBand() {
        var band = band()
        #expect(answers(&band) == [[level()], [level()], [level()]])
        #expect(band.services == Band().services)
        #expect(band.address == Band().address)
        #expect(band.read(BluetoothUUID(short: 0x2A26)) == Array("1.0.0".utf8))
        #expect(band.received(packets: 1000) == [])
    }

    @Test(
        "a fault befalls the packet that it names, and no other",
        arguments: [
            (.drop(FaultPlace(.frame, 2)), []),
            (.drop(FaultPlace(.reply, 2)), []),
            (.drop(FaultPlace(.frame, 2, of: .battery)), []),
            (.damage(FaultPlace(.reply, 2), byte: nil), [[0x56, 0x7B, 0x08, 0xD8]]),
            (.damage(FaultPlace(.reply, 2), byte: 0), [[0xA9, 0x7B, 0x08, 0x27]]),
            (.damage(FaultPlace(.frame, 2), byte: 2), [[0x56, 0x99, 0x03, 0x0E]]),
            (.double(FaultPlace(.frame, 2), after: .zero), [eighty, eighty]),
            (.double(FaultPlace(.reply, 2), after: .zero), [eighty, eighty]),
            (.status(FaultPlace(.frame, 2, of: .battery), .busy), [[0x56, 0x99, 0x0B, 0x06]]),
            (.drop(FaultPlace(.frame, 2, of: .start)), [eighty]),
        ] as [(Fault, [[UInt8]])])
    func one(fault: Fault, second: [[UInt8]]) {
        var band = band(fault)
        #expect(answers(&band) == [[level()], second.map { level($0) }, [level()]])
    }

    @Test func severalInARow() {
        var band = band(.drop(FaultPlace(.frame, 2, count: 2)))
        #expect(answers(&band) == [[level()], [], []])
        #expect(answers(&band) == [[level()], [level()], [level()]])
    }

    @Test func forEver() {
        var band = band(.drop(FaultPlace(.reply, 2, count: .max)))
        #expect(answers(&band) == [[level()], [], []])
        #expect(answers(&band) == [[], [], []])
    }

    @Test func aLateAnswerIsOnlyLate() {
        var band = band(.delay(FaultPlace(.reply, 1), by: .seconds(8)))
        #expect(answers(&band) == [[level(after: .seconds(8))], [level()], [level()]])
    }

    @Test func aLateFrameArrivesWhenItIsWoken() {
        var band = band(.delay(FaultPlace(.frame, 1), by: .seconds(8)))
        #expect(band.written(Self.question, to: command) == [.wake(token: 1, after: .seconds(8))])
        #expect(band.woken(1) == [level()])
        #expect(band.woken(1) == [])
    }

    @Test func aLateFrameIsLostWithTheLink() {
        var band = band(.delay(FaultPlace(.frame, 1), by: .seconds(8)))
        _ = band.written(Self.question, to: command)
        band.disconnected()
        #expect(band.woken(1) == [])
    }

    @Test func swappedPacketsTradePlaces() {
        var band = band(.swap(FaultPlace(.frame, 1)), .battery(tenths: 3))
        #expect(band.written(Self.question, to: command) == [])
        let time = BlockAck.Request.setTime(.init(rawValue: 1)).encoded(by: BlockAck.Parameters())
        let actions = band.written(time, to: command)
        #expect(actions == [level([0x56, 0x9A, 0x00, 0x10]), level([0x56, 0x7B, 0x03, 0x2C])])
    }

    @Test func aHeldPacketIsLostWithTheLink() {
        var band = band(.swap(FaultPlace(.frame, 1)))
        _ = band.written(Self.question, to: command)
        band.disconnected()
        #expect(band.written(Self.question, to: command) == [level()])
    }

    @Test func theLinkIsLost() {
        var atFrame = band(.disconnect(FaultPlace(.frame, 2), after: .milliseconds(5)))
        #expect(answers(&atFrame) == [[level()], [.disconnect(after: .milliseconds(5))], [level()]])
        var atReply = band(.disconnect(FaultPlace(.reply, 2), after: .zero))
        #expect(answers(&atReply) == [[level()], [.disconnect(after: .zero)], [level()]])
        var atByte = band(.disconnectAtByte(5))
        #expect(answers(&atByte) == [[level()], [.disconnect(after: .zero)], [level()]])
        var atLastByte = band(.disconnectAtByte(4))
        #expect(answers(&atLastByte) == [[.disconnect(after: .zero)], [level()], [level()]])
    }

    @Test func theLinkIsLostOverTooManyPackets() {
        var band = band(.disconnectOverPackets(8))
        #expect(band.received(packets: 8) == [])
        #expect(band.received(packets: 9) == [.disconnect(after: .zero)])
    }

    @Test func silenceEndsWhenItIsWoken() {
        var band = band(.silence(FaultPlace(.frame, 2), lasting: .seconds(3)))
        #expect(answers(&band) == [[level()], [.wake(token: 0, after: .seconds(3))], []])
        #expect(band.woken(0) == [])
        #expect(answers(&band) == [[level()], [level()], [level()]])
    }

    @Test func silenceMayLastForEver() {
        var band = band(.silence(FaultPlace(.frame, 2), lasting: nil))
        #expect(answers(&band) == [[level()], [], []])
    }

    @Test(
        "a reboot treats the blocks as the fault says, and the next one as the band does",
        arguments: [
            (true, false), (false, true), (nil, true), (nil, false),
        ] as [(Bool?, Bool)])
    func reboot(fault: Bool?, settings keepsBlocks: Bool) {
        var settings = Band.Settings()
        settings.keepsBlocks = keepsBlocks
        var band = FaultyBand(
            Band(settings),
            faults: FaultScript([.reboot(FaultPlace(.frame, 2), keepsBlocks: fault, offAir: .seconds(1))]))
        let start = BlockAck.Request.start(.init(size: 10, crc32: 1, version: .init(2, 0, 0), blockSize: 10))
        _ = band.written(start.encoded(by: BlockAck.Parameters()), to: command)
        #expect(band.written(Self.question, to: command) == [.reboot(after: .zero, offAir: .seconds(1))])
        band.disconnected()
        band.rebooted()
        #expect((band.band.memory.reception != nil) == (fault ?? keepsBlocks))
        _ = band.written(start.encoded(by: BlockAck.Parameters()), to: command)
        band.rebooted()
        #expect((band.band.memory.reception != nil) == keepsBlocks)
    }

    @Test func aCutFrameIsSeenCut() {
        var band = band(.truncate(length: 3))
        #expect(band.written(Self.question, to: command) == [level([0x56, 0x99, 0x03, 0x0E])])
    }

    @Test func whatIsWrongWithTheBandItself() {
        var empty = band(.battery(tenths: 2), .oldVersion)
        #expect(answers(&empty)[0] == [level([0x56, 0x7B, 0x02, 0x2D])])
        #expect(empty.band.settings.keepsOldVersion)
        var unknowing = band(.battery(tenths: nil))
        #expect(answers(&unknowing)[0] == [level([0x56, 0x99, 0x01, 0x10])])
    }
}
