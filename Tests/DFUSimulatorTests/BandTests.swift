import DFUProtocol
import DFUTransport
import Testing

@testable import DFUSimulator

/// "What the device does", rule by rule.
@Suite struct BandTests {
    private static let parameters = BlockAck.Parameters()
    private static let image: [UInt8] = (0..<150).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
    private static let blockSize: UInt16 = 64

    private func band(_ change: (inout Band.Settings) -> Void = { _ in }) -> Band {
        var settings = Band.Settings()
        change(&settings)
        var band = Band(settings)
        band.connected()
        return band
    }

    private static func announcement(
        size: UInt32 = 150, crc32: UInt32 = CRC32.checksum(image), version: BlockAck.Version = .init(1, 2, 0),
        blockSize: UInt16 = blockSize
    ) -> BlockAck.Request {
        .start(.init(size: size, crc32: crc32, version: version, blockSize: blockSize))
    }

    /// What the band does when a request comes.
    private func tell(_ band: inout Band, _ request: BlockAck.Request) -> [DeviceAction] {
        band.written(request.encoded(by: Self.parameters), to: band.settings.profile.command)
    }

    private func answer(_ reply: BlockAck.Reply, after delay: Duration = .zero) -> [DeviceAction] {
        [.notify(reply.encoded(by: Self.parameters), from: DeviceProfile.band.reply, after: delay)]
    }

    private func started(_ next: UInt16) -> [DeviceAction] {
        answer(.started(next: next, packetLimit: 20))
    }

    private func judged(_ status: BlockAck.Status, _ index: UInt16, missing: UInt16 = 0xFFFF) -> [DeviceAction] {
        answer(.block(status, index: index, firstMissing: missing))
    }

    private static func bytes(ofBlock index: Int) -> ArraySlice<UInt8> {
        image[(index * 64)..<min(index * 64 + 64, 150)]
    }

    /// Sends a block's header and data, the packets in `order` (all of them if not said).
    private func send(_ band: inout Band, _ index: Int, order: [Int]? = nil, crc32: UInt32? = nil) {
        let bytes = Array(Self.bytes(ofBlock: index))
        let header = BlockAck.Request.blockHeader(
            index: UInt16(index), length: UInt16(bytes.count), crc32: crc32 ?? CRC32.checksum(bytes))
        #expect(tell(&band, header) == [])
        for packet in order ?? Array(0..<((bytes.count + 15) / 16)) {
            let piece = Array(bytes[(packet * 16)..<min(packet * 16 + 16, bytes.count)])
            #expect(tell(&band, .data(sequence: UInt8(packet), bytes: piece)) == [])
        }
    }

    /// A band that holds the image's first blocks.
    private func holding(_ blocks: Int, _ change: (inout Band.Settings) -> Void = { _ in }) -> Band {
        var band = band(change)
        #expect(tell(&band, Self.announcement()) == started(0))
        for index in 0..<blocks {
            send(&band, index)
            #expect(tell(&band, .blockEnd(index: UInt16(index))) == judged(.ok, UInt16(index)))
        }
        return band
    }

    // MARK: Damaged frames

    @Test(
        "damaged commands are answered 03 on their op; damaged header and data are dropped",
        arguments: [
            (.battery, true), (.setTime(.init(rawValue: 1)), true), (announcement(), true),
            (.blockHeader(index: 0, length: 64, crc32: 1), false), (.data(sequence: 0, bytes: [1]), false),
            (.blockEnd(index: 0), true), (.complete(crc32: 1), true), (.abort, true),
        ] as [(BlockAck.Request, Bool)])
    func damaged(request: BlockAck.Request, isAnswered: Bool) {
        var band = band()
        var bytes = request.encoded(by: Self.parameters)
        bytes[bytes.count - 1] ^= 0x10
        let actions = band.written(bytes, to: band.settings.profile.command)
        let opcode = Self.parameters.opcodes[request.command]
        let bare = BlockAck.Frame(opcode: opcode, payload: [0x03]).encoded(from: .device, by: Self.parameters)
        #expect(actions == (isAnswered ? [.notify(bare, from: DeviceProfile.band.reply, after: .zero)] : []))
    }

    @Test func whatIsNoFrameIsDropped() {
        var band = band()
        for bytes: [UInt8] in [
            [], [0x1B], [0x56, 0x99, 0x01, 0x10], [0x1B, 0x99, 0x01, 0x01, 0x4A], [0x1B, 0xEE, 0x01],
        ] {
            #expect(band.written(bytes, to: band.settings.profile.command) == [])
        }
        #expect(band.written([0x1B, 0x99, 0x01, 0x4B], to: band.settings.profile.reply) == [])
    }

    @Test func anUnknownCommandIsAnswered01() {
        var band = band()
        let actions = band.written([0x1B, 0xE5, 0x00], to: band.settings.profile.command)
        #expect(actions == [.notify([0x56, 0xE5, 0x01, 0xC4], from: DeviceProfile.band.reply, after: .zero)])
    }

    // MARK: Start

    @Test(
        "start keeps the blocks of the same image only",
        arguments: [
            (announcement(), 2), (announcement(size: 151), 0), (announcement(crc32: 1), 0),
            (announcement(blockSize: 65), 0), (announcement(version: .init(1, 3, 0)), 2),
            (announcement(version: .any), 2),
        ] as [(BlockAck.Request, UInt16)])
    func start(request: BlockAck.Request, next: UInt16) {
        var band = holding(2)
        #expect(tell(&band, request) == started(next))
        #expect(tell(&band, Self.announcement()) == started(request == Self.announcement() || next == 2 ? 2 : 0))
    }

    @Test func startDropsTheBlockThatIsBeingReceived() {
        var band = holding(1)
        send(&band, 1)
        #expect(tell(&band, Self.announcement()) == started(1))
        #expect(tell(&band, .blockEnd(index: 1)) == judged(.packetsMissing, 1, missing: 0))
    }

    @Test(
        "start is refused",
        arguments: [
            (announcement(size: 1 << 20 + 1), .imageTooLarge), (announcement(size: 0), .imageTooLarge),
            (announcement(size: 70_000, blockSize: 1), .imageTooLarge), (announcement(blockSize: 0), .imageTooLarge),
            (announcement(version: .init(1, 0, 0)), .versionNotNewer),
            (announcement(version: .init(0, 9, 9)), .versionNotNewer),
        ] as [(BlockAck.Request, BlockAck.Status)])
    func refused(request: BlockAck.Request, status: BlockAck.Status) {
        var band = holding(1)
        #expect(tell(&band, request) == answer(.status(status, of: .start)))
        #expect(tell(&band, Self.announcement()) == started(1), "a refused start leaves the blocks alone")
    }

    @Test func theLargestImageFits() {
        var band = band()
        #expect(tell(&band, Self.announcement(size: 1 << 20, blockSize: 2048)) == started(0))
    }

    @Test func anEmptyBatteryRefuses() {
        var band = band { $0.batteryTenths = 0 }
        #expect(tell(&band, Self.announcement()) == answer(.status(.batteryTooLow, of: .start)))
    }

    @Test func onlyANewImageIsErasedFor() {
        var band = band { $0.eraseTime = .seconds(7) }
        let reply = BlockAck.Reply.started(next: 0, packetLimit: 20)
        #expect(tell(&band, Self.announcement()) == answer(reply, after: .seconds(7)))
        #expect(tell(&band, Self.announcement()) == answer(reply))
    }

    // MARK: Blocks

    @Test func aBlockIsKeptInAnyOrderOfItsPackets() {
        var band = holding(0)
        send(&band, 0, order: [3, 1, 0, 2, 1])
        #expect(tell(&band, .blockEnd(index: 0)) == judged(.ok, 0))
        #expect(band.memory.reception?.bytes == Array(Self.bytes(ofBlock: 0)))
    }

    @Test func ofTheSamePacketTheLaterCounts() {
        var band = holding(0)
        send(&band, 0)
        _ = tell(&band, .data(sequence: 1, bytes: Array(repeating: 0, count: 16)))
        #expect(tell(&band, .blockEnd(index: 0)) == judged(.blockMismatch, 0))
        _ = tell(&band, .data(sequence: 1, bytes: Array(Self.bytes(ofBlock: 0)[16..<32])))
        #expect(tell(&band, .blockEnd(index: 0)) == judged(.ok, 0))
    }

    @Test(
        "the first missing packet is named",
        arguments: [
            ([0, 1, 2], 3), ([1, 2, 3], 0), ([0, 3], 1), ([], 0), ([0, 1, 3], 2),
        ] as [([Int], UInt16)])
    func missing(order: [Int], first: UInt16) {
        var band = holding(0)
        send(&band, 0, order: order)
        #expect(tell(&band, .blockEnd(index: 0)) == judged(.packetsMissing, 0, missing: first))
    }

    @Test func aWrongCRCIsAMismatch() {
        var band = holding(0)
        send(&band, 0, crc32: 1)
        #expect(tell(&band, .blockEnd(index: 0)) == judged(.blockMismatch, 0))
        #expect(band.memory.reception?.next == 0)
    }

    @Test func aHeaderEmptiesTheBlockThatIsOpen() {
        var band = holding(0)
        send(&band, 0, order: [0, 1])
        send(&band, 0, order: [2, 3])
        #expect(tell(&band, .blockEnd(index: 0)) == judged(.packetsMissing, 0, missing: 0))
    }

    @Test func aBlockMayBeReceivedAgain() {
        var band = holding(2)
        send(&band, 0)
        #expect(tell(&band, .blockEnd(index: 0)) == judged(.ok, 0))
        #expect(band.memory.reception?.next == 2)
        #expect(band.memory.reception?.bytes == Array(Self.image[..<128]))
    }

    @Test func theEndsOfBlocksThatAreNotOpen() {
        var band = holding(1)
        #expect(tell(&band, .blockEnd(index: 0)) == judged(.ok, 0), "it is there")
        #expect(tell(&band, .blockEnd(index: 1)) == judged(.packetsMissing, 1, missing: 0), "its header never came")
        #expect(tell(&band, .blockEnd(index: 2)) == judged(.wrongState, 2), "it is not its turn")
    }

    @Test func aHeaderThatIsNotDueIsIgnored() {
        var band = holding(1)
        send(&band, 2)
        #expect(tell(&band, .blockEnd(index: 1)) == judged(.packetsMissing, 1, missing: 0))
        send(&band, 1)
        _ = tell(&band, .blockHeader(index: 2, length: 22, crc32: 0))
        #expect(tell(&band, .blockEnd(index: 1)) == judged(.ok, 1), "the open block is left alone")
    }

    @Test func aHeaderThatMeasuresOtherwiseIsIgnored() {
        var band = holding(1)
        _ = tell(&band, .blockHeader(index: 1, length: 63, crc32: 0))
        #expect(tell(&band, .blockEnd(index: 1)) == judged(.packetsMissing, 1, missing: 0))
    }

    @Test func anIdleBandTakesNoBlocks() {
        var band = band()
        send(&band, 0)
        #expect(tell(&band, .blockEnd(index: 0)) == judged(.wrongState, 0))
        #expect(tell(&band, .complete(crc32: 0)) == answer(.status(.wrongState, of: .complete)))
    }

    @Test func thereIsNoBlockBehindTheLast() {
        var band = holding(3)
        #expect(tell(&band, .blockEnd(index: 3)) == judged(.wrongState, 3))
    }

    @Test func theFlashTakesItsTime() {
        var band = band { $0.flashTime = .milliseconds(90) }
        _ = tell(&band, Self.announcement())
        send(&band, 0)
        let reply = BlockAck.Reply.block(.ok, index: 0, firstMissing: 0xFFFF)
        #expect(tell(&band, .blockEnd(index: 0)) == answer(reply, after: .milliseconds(90)))
    }

    // MARK: Complete and abort

    @Test func anImageIsAcceptedAndRunsAfterTheReboot() {
        var band = holding(3)
        let crc32 = CRC32.checksum(Self.image)
        let accepted = answer(.status(.ok, of: .complete))
        #expect(
            tell(&band, .complete(crc32: crc32))
                == accepted + [.reboot(after: .milliseconds(100), offAir: .seconds(2))])
        #expect(tell(&band, .complete(crc32: crc32)) == accepted, "once more, but one reboot is enough")
        #expect(tell(&band, .abort) == answer(.status(.wrongState, of: .abort)), "too late")
        #expect(band.memory.version == BlockAck.Version(1, 0, 0))
        band.disconnected()
        band.rebooted()
        #expect(band.memory.version == BlockAck.Version(1, 2, 0))
        #expect(band.memory.image == Self.image)
        #expect(band.memory.reception == nil)
        #expect(tell(&band, Self.announcement()) == answer(.status(.versionNotNewer, of: .start)))
    }

    @Test func completeWithMissingBlocksIsTheWrongState() {
        var band = holding(2)
        #expect(
            tell(&band, .complete(crc32: CRC32.checksum(Self.image))) == answer(.status(.wrongState, of: .complete)))
        #expect(tell(&band, Self.announcement()) == started(2))
    }

    @Test func aWrongImageCRCForgetsAll() {
        var band = holding(3)
        #expect(tell(&band, .complete(crc32: 1)) == answer(.status(.imageMismatch, of: .complete)))
        #expect(tell(&band, Self.announcement()) == started(0))
    }

    @Test func anAnnouncedCRCThatTheBytesDoNotHaveForgetsAll() {
        var band = band()
        _ = tell(&band, Self.announcement(crc32: 1))
        for index in 0..<3 {
            send(&band, index)
            _ = tell(&band, .blockEnd(index: UInt16(index)))
        }
        #expect(tell(&band, .complete(crc32: 1)) == answer(.status(.imageMismatch, of: .complete)))
        #expect(band.memory.reception == nil)
    }

    @Test func abortForgetsAll() {
        var band = holding(2)
        #expect(tell(&band, .abort) == answer(.status(.ok, of: .abort)))
        #expect(tell(&band, .blockEnd(index: 2)) == judged(.wrongState, 2))
        #expect(tell(&band, Self.announcement()) == started(0))
        #expect(tell(&band, .abort) == answer(.status(.ok, of: .abort)))
    }

    // MARK: What it keeps

    @Test func aLostLinkKeepsTheBlocksAndDropsTheOpenOne() {
        var band = holding(1)
        send(&band, 1)
        band.disconnected()
        band.connected()
        #expect(tell(&band, .blockEnd(index: 1)) == judged(.packetsMissing, 1, missing: 0))
        #expect(tell(&band, Self.announcement()) == started(1))
    }

    @Test("a reboot keeps the blocks or not, and a start is needed", arguments: [true, false])
    func reboot(keepsBlocks: Bool) {
        var band = holding(2) { $0.keepsBlocks = keepsBlocks }
        _ = tell(&band, .setTime(.init(rawValue: 0x8E69_CF20)))
        #expect(band.clock == .init(rawValue: 0x8E69_CF20))
        band.disconnected()
        band.rebooted()
        band.connected()
        #expect(band.clock == nil)
        #expect(tell(&band, .blockEnd(index: 2)) == judged(.wrongState, 2))
        #expect(tell(&band, Self.announcement()) == started(keepsBlocks ? 2 : 0))
    }

    @Test func aBandMayKeepItsOldVersion() {
        var band = holding(3) { $0.keepsOldVersion = true }
        _ = tell(&band, .complete(crc32: CRC32.checksum(Self.image)))
        band.rebooted()
        #expect(band.memory.version == BlockAck.Version(1, 0, 0))
        #expect(band.memory.image.isEmpty)
    }

    @Test func anyVersionIsNotKept() {
        var band = band()
        _ = tell(&band, Self.announcement(version: .any))
        for index in 0..<3 {
            send(&band, index)
            _ = tell(&band, .blockEnd(index: UInt16(index)))
        }
        _ = tell(&band, .complete(crc32: CRC32.checksum(Self.image)))
        band.rebooted()
        #expect(band.memory.image == Self.image)
        #expect(band.memory.version == BlockAck.Version(1, 0, 0))
        #expect(tell(&band, Self.announcement()) == started(0), "a later update is not refused")
    }

    // MARK: Questions, and what it shows

    @Test func theBatteryIsToldInTenths() {
        var band = band()
        #expect(tell(&band, .battery) == answer(.battery(tenths: 8)))
        band.settings.batteryTenths = nil
        #expect(tell(&band, .battery) == answer(.status(.unsupportedCommand, of: .battery)))
    }

    @Test func aBandWithoutAClockSaysSo() {
        var band = band { $0.knowsTime = false }
        #expect(
            tell(&band, .setTime(.init(rawValue: 1))) == answer(.status(.unsupportedCommand, of: .setTime)))
        #expect(band.clock == nil)
    }

    @Test func itsServices() throws {
        let band = band()
        let bindings = try DeviceProfile.band.bindings(in: band.services)
        #expect(bindings[.command]?.use == .writeWithoutResponse)
        #expect(bindings[.reply]?.use == .notify)
        #expect(band.read(BluetoothUUID(short: 0x2A26)) == Array("1.0.0".utf8))
        #expect(band.read(band.settings.profile.command) == nil)
    }

    @Test func oneCharacteristicMayDoBothRoles() throws {
        let band = band {
            $0.profile.reply = $0.profile.command
            $0.commandProperties = .write
            $0.showsVersion = false
        }
        #expect(
            band.services
                == [
                    GATTService(
                        uuid: BluetoothUUID(short: 0xFEE0),
                        characteristics: [
                            GATTCharacteristic(uuid: BluetoothUUID(short: 0xFF02), properties: [.write, .notify])
                        ])
                ])
        #expect(try band.settings.profile.bindings(in: band.services)[.command]?.use == .write)
        #expect(band.read(BluetoothUUID(short: 0x2A26)) == nil)
    }
}
