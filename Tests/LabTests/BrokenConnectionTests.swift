import DFUSimulator
import DFUTransport
import TestSupport
import Testing

/// Connections that end while BlueZ is still at making them.
@Suite(.lab) struct BrokenConnectionTests {
    private let band = Band()

    /// Runs `body` with the band, whose next connections are broken as soon as they are made.
    private func breaking(
        _ count: Int, _ pairing: DevicePairing? = nil,
        by trouble: @escaping @Sendable (EmulatedRadio, String) -> Void,
        _ body: (EmulatedRadio, Locked<Int>) async throws -> Void
    ) async throws {
        let air = Locked<EmulatedRadio?>(nil)
        let left = Locked(0)
        let observer: EmulatedRadio.Observer = { event, device in
            guard event.kind == .connected else { return }
            let isBroken = left.withLock { left in
                left -= 1
                return left >= 0
            }
            if isBroken, let air = air.withLock(\.self) { trouble(air, device.address) }
        }
        var device = AdvertisedDevice(band)
        device.pairing = pairing
        try await Lab.run([device], observer: observer) { radio in
            air.withLock { $0 = radio }
            if pairing != nil {
                #expect(try await Guest.dfu("pair", band.address).status == 0)
                await radio.untilDisconnected(band.address)
            }
            left.withLock { $0 = count }
            try await body(radio, left)
            air.withLock { $0 = nil }
        }
    }

    @Test("BLZ-03 the device ends the first two connections while BlueZ makes them", arguments: [nil, DevicePairing()])
    func abortedAtFirst(_ pairing: DevicePairing?) async throws {
        let file = try ImageFile(3000)
        try await breaking(2, pairing, by: { $0.disconnect($1) }) { air, left in
            let outcome = try await Guest.dfu("flash", file.path, "--device", band.address)
            #expect(outcome == Guest.updated(band.address))
            #expect((await air.device(band.address) as? Band)?.memory.image == file.bytes)
            #expect(left.withLock(\.self) == -2, "one for the update, and one for the version")
        }
    }

    @Test("BLZ-03 the device ends each connection while BlueZ makes it: 75 after five, in BlueZ's words")
    func abortedAlways() async throws {
        let file = try ImageFile(3000)
        try await breaking(100, by: { $0.disconnect($1) }) { _, left in
            let outcome = try await Guest.dfu("flash", file.path, "--device", band.address)
            #expect(
                outcome
                    == Guest.failed(
                        75,
                        "dfu: \(band.address): connect: connecting failed 5 times (le-connection-abort-by-local); "
                            + "bring it closer, and end other connections to it"))
            #expect(left.withLock(\.self) == 95)
        }
    }

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
            #expect(
                refused
                    == Guest.failed(
                        76,
                        "dfu: \(band.address): connect: the stored pairing no longer fits; remove it (dfu forget \(band.address)) and pair again"
                    ))
            let known = try await BlueZDaemon.open().tree.devices()
            #expect(known.contains { $0.address == band.address && $0.isBonded })
            #expect(try await Guest.dfu("forget", band.address).status == 0)
            #expect(try await Guest.dfu("pair", band.address).status == 0)
            #expect(try await Guest.dfu("flash", file.path, "--device", band.address).status == 0)
            #expect((await air.device(band.address) as? Band)?.memory.image == file.bytes)
        }
    }

    @Test("BLZ-11 the first two connections are lost before the services are resolved") func lostAtFirst() async throws
    {
        let file = try ImageFile(3000)
        try await breaking(2, by: { $0.loseLink(to: $1) }) { air, left in
            let outcome = try await Guest.dfu("flash", file.path, "--device", band.address)
            #expect(outcome == Guest.updated(band.address))
            #expect((await air.device(band.address) as? Band)?.memory.image == file.bytes)
            #expect(left.withLock(\.self) == -2, "one for the update, and one for the version")
        }
    }

    @Test("BLZ-17 the adapter is switched off while BlueZ makes a connection") func switchedOff() async throws {
        let other = try await OtherProgram()
        let isOff = Locked<Task<Void, any Error>?>(nil)
        let observer: EmulatedRadio.Observer = { event, _ in
            guard event.kind == .connected else { return }
            isOff.withLock { $0 = Task { try await other.setPowered(false) } }
        }
        try await Lab.run([AdvertisedDevice(band)], observer: observer) { _ in
            let transport = try await BlueZTransport()
            let address = band.address
            let off = TransportError(
                .environment, message: "the adapter hci0 was switched off (bluetoothctl power on)")
            await #expect(throws: off) { try await transport.connect(to: address, timeout: .seconds(30)) }
            try await isOff.withLock(\.self)?.value
            try await other.setPowered(true)
        }
        try await Guest.untilBluetoothdIsThere()
    }
}
