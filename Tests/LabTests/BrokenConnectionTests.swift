import DFUSimulator
import DFUTransport
import TestSupport
import Testing

/// Connections that end while BlueZ is still at making them.
@Suite(.lab) struct BrokenConnectionTests {
    private let band = Band()

    @Test("BLZ-23 the device has lost the keys: 76 after three rounds, the bond stays, and forgetting it helps")
    func keysLostThere() async throws {
        let file = try ImageFile(3000)
        var device = AdvertisedDevice(band)
        device.pairing = DevicePairing()
        try await Lab.run([device]) { air in
            #expect(try await Guest.dfu("pair", band.address).status == 0)
            await air.untilDisconnected(band.address)
            await air.forgetBonds(of: band.address)
            let refused = try await Guest.dfu("flash", file.path, "--device", band.address)
            #expect(refused == Guest.failed(76, "dfu: \(band.address): connect: the stored pairing no longer fits; remove it (dfu forget \(band.address)) and pair again"))
            let known = try await BlueZDaemon.open().tree.devices()
            #expect(known.contains { $0.address == band.address && $0.isBonded })
            #expect(try await Guest.dfu("forget", band.address).status == 0)
            #expect(try await Guest.dfu("pair", band.address).status == 0)
            #expect(try await Guest.dfu("flash", file.path, "--device", band.address).status == 0)
            #expect((await air.device(band.address) as? Band)?.memory.image == file.bytes)
        }
    }

    @Test("BLZ-11 the first two connections are lost before the services are resolved") func lostAtFirst() async throws {
        let file = try ImageFile(3000)
        let air = Locked<EmulatedRadio?>(nil)
        let left = Locked(2)
        let observer: EmulatedRadio.Observer = { event, device in
            guard event.kind == .connected else { return }
            let isLost = left.withLock { left in
                left -= 1
                return left >= 0
            }
            if isLost { air.withLock { $0 }?.loseLink(to: device.address) }
        }
        try await Lab.run([AdvertisedDevice(band)], observer: observer) { radio in
            air.withLock { $0 = radio }
            let outcome = try await Guest.dfu("flash", file.path, "--device", band.address)
            #expect(outcome == Guest.updated(band.address))
            #expect((await radio.device(band.address) as? Band)?.memory.image == file.bytes)
            #expect(left.withLock { $0 } == -2, "one for the update, and one for the version")
            air.withLock { $0 = nil }
        }
    }
}
