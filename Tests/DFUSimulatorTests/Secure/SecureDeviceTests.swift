import DFUPackage
import DFUProtocol
import DFUSimulator
import DFUTransport
import TestSupport
import Testing

@Suite struct SecureDeviceTests {
    private func bench(_ change: (inout SecureDevice.Settings) -> Void = { _ in }, memory: SecureMemory? = nil)
        -> SecureBench
    {
        var settings = SecureDevice.Settings()
        change(&settings)
        return SecureBench(SecureDevice(settings, memory: memory))
    }

    private func loader(_ change: (inout SecureDevice.Settings) -> Void = { _ in }) -> SecureBench {
        bench {
            $0.startsInBootloader = true
            change(&$0)
        }
    }

    // MARK: The application

    @Test func anApplicationEntersTheBootloaderAtTheNextAddress() {
        var bench = bench()
        #expect(bench.device.address == "C0:FF:EE:00:00:50")
        #expect(bench.request([0x01]) == [[0x20, 0x01, 0x01]])
        #expect(
            bench.did == [
                .disconnect(after: .milliseconds(100)),
                .reboot(after: .milliseconds(100), offAir: .milliseconds(500)),
            ])
        bench.restart()
        #expect(bench.device.isInBootloader)
        #expect(bench.device.address == "C0:FF:EE:00:00:51")
        #expect(
            bench.device.advertisements == [
                DeviceAdvertisement(
                    address: "C0:FF:EE:00:00:51", name: "DfuTarg", services: [BluetoothUUID(short: 0xFE59)])
            ])
        #expect(bench.device.services.map(\.uuid) == [BluetoothUUID(short: 0xFE59)])
        #expect(bench.device.services[0].characteristics.map(\.uuid) == [.packet, .controlPoint])
    }

    @Test func theLastOctetWrapsWithoutACarry() {
        var bench = bench { $0.address = "C0:FF:EE:00:00:FF" }
        bench.request([0x01])
        bench.restart()
        #expect(bench.device.address == "C0:FF:EE:00:00:00")
    }

    @Test func theNameIsAdvertisedOnce() {
        var bench = bench()
        #expect(bench.request([0x02, 3] + Array("Uni".utf8)) == [[0x20, 0x02, 0x01]])
        #expect(bench.request([0x02, 3] + Array("Duo".utf8)) == [[0x20, 0x02, 0x04]])
        bench.request([0x01])
        bench.restart()
        #expect(bench.device.advertisements.map(\.name) == ["Uni"])
        bench.device.powerCycled()
        #expect(!bench.device.isInBootloader)
        bench.connect()
        bench.request([0x01])
        bench.restart()
        #expect(bench.device.advertisements.map(\.name) == ["DfuTarg"])
    }

    @Test(arguments: [[0x02], [0x02, 0], [0x02, 2, 0x41], [0x02, 1, 0x41, 0x42], [0x02, 1, 0xFF]] as [[UInt8]])
    func aNameThatIsNoneIsRefused(_ request: [UInt8]) {
        var bench = bench()
        #expect(bench.request(request) == [[0x20, 0x02, 0x05]])
    }

    @Test func aBondedApplicationKeepsItsAddress() {
        var bench = bench { $0.entry = .bonded }
        #expect(bench.device.services[0].characteristics.map(\.uuid) == [.bondedButtonless])
        #expect(bench.request([0x02, 1, 0x41]) == [[0x20, 0x02, 0x02]])
        #expect(bench.request([0x01]) == [[0x20, 0x01, 0x01]])
        bench.restart()
        #expect(bench.device.isInBootloader)
        #expect(bench.device.address == "C0:FF:EE:00:00:50")
    }

    @Test func withoutABondABondedApplicationRefuses() {
        var bench = bench {
            $0.entry = .bonded
            $0.isBonded = false
        }
        #expect(bench.request([0x01]) == [[0x20, 0x01, 0x07]])
        #expect(bench.did.isEmpty)
    }

    @Test func theExperimentalServiceNotifies() {
        var bench = bench { $0.entry = .sdk12 }
        #expect(bench.device.services[0].uuid == .experimentalButtonless)
        #expect(bench.device.services[0].characteristics[0].properties == [.write, .notify])
        #expect(bench.request([0x01]) == [[0x20, 0x01, 0x01]])
    }

    @Test func aPlainApplicationHasNoWayIn() {
        let bench = bench { $0.entry = .none }
        #expect(bench.device.services.map(\.uuid) == [BluetoothUUID(short: 0x180A)])
    }

    @Test func requestsWantASubscriptionAndALength() {
        var device = SecureDevice()
        device.connected()
        #expect(
            device.answer(.write([0x01], to: .buttonless)).outcome == .error(AttributeErrorCode(rawValue: 0xFD)))
        _ = device.answer(.subscribe(.buttonless))
        let long = [UInt8](repeating: 0x41, count: 23)
        #expect(device.answer(.write(long, to: .buttonless)).outcome == .error(AttributeErrorCode(rawValue: 0x0D)))
        #expect(device.answer(.write([0x01], to: .buttonless)).outcome == .success([]))
    }

    @Test func aCommandToTheControlPointIsNotHeard() {
        var bench = loader()
        #expect(bench.device.written([0x03], to: .controlPoint).isEmpty)
        #expect(bench.request([0x03]).count == 1)
    }

    @Test func theVersionIsTheSettingsUntilAnotherOneIsInstalled() {
        var bench = bench { $0.version = "1.0.0" }
        #expect(bench.device.read(BluetoothUUID(short: 0x2A26)) == Array("1.0.0".utf8))
        bench.request([0x01])
        bench.restart()
        #expect(bench.device.read(BluetoothUUID(short: 0x2A26)) == nil)
        #expect(bench.install(SampleImage()) == [[0x60, 0x04, 0x01]])
        bench.restart()
        #expect(bench.device.read(BluetoothUUID(short: 0x2A26)) == Array("2".utf8))
    }

    // MARK: Installing

    @Test func anApplicationIsInstalledAndRun() {
        var bench = loader()
        #expect(bench.install(SampleImage()) == [[0x60, 0x04, 0x01]])
        #expect(bench.did.last == .reboot(after: .milliseconds(100), offAir: .milliseconds(2500)))
        bench.restart()
        #expect(!bench.device.isInBootloader)
        #expect(bench.device.memory.application == .init(version: 2, firmware: SampleImage().firmware))
        #expect(bench.device.memory.image == SampleImage().firmware)
    }

    @Test func theOldApplicationRunsWhenTheNewOneIsDamaged() {
        var bench = loader()
        var image = SampleImage()
        let initPacket = image.initPacket
        image.firmware[7] ^= 1
        _ = bench.object(.command, initPacket)
        _ = bench.object(.data, Array(image.firmware[..<4096]))
        #expect(bench.object(.data, Array(image.firmware[4096...])) == [[0x60, 0x04, 0x0B, 0x0C]])
        bench.restart()
        #expect(!bench.device.isInBootloader)
        #expect(bench.device.memory.application == .init(version: 1))
    }

    @Test func inASingleBankTheOldApplicationIsGoneWithTheInitPacket() {
        var bench = loader { $0.bootloader.isSingleBank = true }
        _ = bench.object(.command, SampleImage().initPacket)
        #expect(bench.device.memory.application == nil)
        bench.device.powerCycled()
        #expect(bench.device.isInBootloader)
    }

    @Test func aBootloaderIsFollowedByAWaitForTheApplication() {
        var bench = loader()
        #expect(bench.install(SampleImage(type: 2, sizes: (0, 5000))) == [[0x60, 0x04, 0x01]])
        bench.device.rebooted()
        #expect(bench.device.isInBootloader)
        #expect(bench.device.memory.bootloaderVersion == 2)
        guard case .wake(let token, after: .seconds(10))? = bench.device.started().first else {
            Issue.record("it waits 10 s")
            return
        }
        #expect(bench.device.woken(token) == [.reboot(after: .zero, offAir: .milliseconds(500))])
        bench.device.rebooted()
        #expect(!bench.device.isInBootloader)
    }

    @Test func aSoftDeviceSaysItsIDAndTakesTheApplicationAlong() {
        var bench = loader()
        var image = SampleImage(type: 3, sizes: (0x2200, 5000), firmware: [UInt8](repeating: 7, count: 0x2200 + 5000))
        image.firmware[0x200C] = 0x23
        image.firmware[0x200D] = 0x01
        #expect(bench.install(image) == [[0x60, 0x04, 0x01]])
        bench.restart()
        #expect(bench.device.memory.softdevice == 0x0123)
        #expect(bench.device.memory.application == nil)
        #expect(bench.device.isInBootloader)
        #expect(bench.install(SampleImage(softdevice: 0x0123)) == [[0x60, 0x04, 0x01]])
        bench.restart()
        #expect(!bench.device.isInBootloader)
    }

    // MARK: Time

    @Test func withoutWorkTheBootloaderRestartsAfterTwoMinutes() {
        var bench = loader()
        guard case .wake(_, after: .seconds(120))? = bench.did.last else {
            Issue.record("it waits two minutes")
            return
        }
        bench.wake()
        #expect(bench.did.last == .reboot(after: .zero, offAir: .milliseconds(500)))
        bench.restart()
        #expect(!bench.device.isInBootloader)
    }

    @Test func anInitPacketBeginsTheWaitAnew() {
        var bench = loader()
        guard case .wake(let old, _)? = bench.did.last else {
            Issue.record("it waits two minutes")
            return
        }
        bench.request(SecureDFU.Request.create(.command, size: 10).encoded)
        #expect(bench.device.woken(old).isEmpty)
        #expect(bench.did.count == 2)
    }

    @Test func packetsBeyondTheFlashsQueueAreLost() {
        var bench = loader { $0.bootloader.eraseTime = .milliseconds(85) }
        _ = bench.object(.command, SampleImage().initPacket)
        bench.request(SecureDFU.Request.create(.data, size: 4096).encoded)
        for _ in 0..<17 { bench.send([UInt8](repeating: 0x5A, count: 240)) }
        guard case .checksum(let reception)? = bench.request([0x03]).first.flatMap(SecureDFU.Response.init) else {
            Issue.record("a checksum")
            return
        }
        #expect(reception.offset == 15 * 240)
    }

    @Test func executeWaitsForTheFlash() {
        var bench = loader { $0.bootloader.eraseTime = .milliseconds(85) }
        let image = SampleImage(firmware: [UInt8](repeating: 1, count: 200))
        _ = bench.object(.command, image.initPacket)
        bench.request(SecureDFU.Request.create(.data, size: 200).encoded)
        bench.send(image.firmware)
        #expect(bench.request([0x04]).isEmpty)
        let heard = bench.heard.count
        bench.wake(after: .milliseconds(85))
        #expect(bench.heard.count == heard)
        bench.wake(after: .zero)
        #expect(bench.heard.last == [0x60, 0x04, 0x01])
    }
}
