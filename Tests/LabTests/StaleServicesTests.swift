import DFUKit
import DFUProtocol
import DFUSimulator
import DFUTransport
import TestSupport
import Testing

/// A device that has another table of services at the same address than BlueZ remembers.
@Suite(.lab) struct StaleServicesTests {
    private let band = Band()
    /// What BlueZ never heard a name of.
    private let nameless = Band(at: "03")

    /// Lets BlueZ learn what the device was before, runs `body` with a device that has its own services, and gives the
    /// transport.
    private func run(
        isNamed: Bool = true, isPaired: Bool = false, _ body: (BlueZTransport, EmulatedRadio) async throws -> Void
    ) async throws {
        let band = isNamed ? band : nameless
        var advertised = AdvertisedDevice(JumpingBand(band), name: isNamed ? "Band" : nil)
        advertised.pairing = DevicePairing(of: [])
        try await Lab.run([advertised]) { air in
            let transport = try await BlueZTransport()
            let before = try await transport.connect(to: band.address, timeout: .seconds(20))
            let beforeCommands = await commands(before)
            #expect(beforeCommands == [JumpingBand.other])
            if isPaired {
                let peripheral = try #require(before as? any PairablePeripheral)
                try await peripheral.pair(PairingDialogue(.noInputNoOutput) { _ in .yes })
            }
            let link = try await before.openLink([
                .command: EndpointBinding(
                    service: DeviceProfile.band.service, characteristic: JumpingBand.other, use: .writeWithoutResponse)
            ])
            try await link.write([1], to: .command)
            await air.untilDisconnected(band.address)
            await before.disconnect()
            try await body(transport, air)
        }
    }

    /// What can be written to in the band's service.
    private func commands(_ peripheral: any Peripheral) async -> [BluetoothUUID] {
        await peripheral.services.filter { $0.uuid == DeviceProfile.band.service }.flatMap(\.characteristics)
            .filter { $0.properties.contains(.writeWithoutResponse) }.map(\.uuid)
    }

    @Test("BLZ-09 the table stays as it was until it is forgotten") func staysUntilForgotten() async throws {
        try await run { transport, air in
            let stale = try await transport.connect(to: band.address, timeout: .seconds(20))
            let staleCommands = await commands(stale)
            #expect(staleCommands == [JumpingBand.other])
            #expect(try await transport.forgetServices(of: band.address) == .forgotten)
            await air.untilDisconnected(band.address)
            let anew = try await transport.connect(to: band.address, timeout: .seconds(20))
            let anewCommands = await commands(anew)
            #expect(anewCommands == [DeviceProfile.band.command])
            await anew.disconnect()
        }
    }

    @Test("BLZ-09 the table of a paired device stays, and so do its keys") func staysWithKeys() async throws {
        try await run(isPaired: true) { transport, _ in
            let stale = try await transport.connect(to: band.address, timeout: .seconds(20))
            let staleCommands = await commands(stale)
            #expect(staleCommands == [JumpingBand.other])
            #expect(try await transport.forgetServices(of: band.address) == .keptWithPairing)
            #expect(await (stale as? any PairablePeripheral)?.isPaired == true)
            await stale.disconnect()
        }
    }

    @Test("BLZ-09 an update forgets a stale table, once, and ends well") func update() async throws {
        let image = Firmware.bytes(2000)
        let package = Package(
            reading: image, named: "band_v1.1.0_\(Checksum.crc32(image).hexadecimal).bin")
        try await run { transport, air in
            let report = try await Updater(transport: transport).update(band.address, with: package)
            #expect(report.verdict == .running(version: "1.1.0"))
            #expect((await air.device(band.address) as? JumpingBand)?.band.memory.image == image)
        }
    }

    @Test("BLZ-09 the table of a device without a name outlives its being forgotten: 76") func updateWithoutAName()
        async throws
    {
        let file = try ImageFile(2000)
        try await run(isNamed: false) { _, air in
            let outcome = try await Guest.dfu("flash", file.path, "--device", nameless.address)
            #expect(outcome.status == 76)
            #expect(outcome.errors.hasSuffix("; a device with other UUIDs needs --profile"))
            #expect((await air.device(nameless.address) as? JumpingBand)?.band.memory.image != file.bytes)
        }
    }

    @Test("BLZ-09 an update of a paired device keeps the keys, and says what helps") func updateOfPaired() async throws
    {
        let file = try ImageFile(2000)
        try await run(isPaired: true) { transport, _ in
            let outcome = try await Guest.dfu("flash", file.path, "--device", band.address)
            #expect(outcome.status == 76)
            #expect(
                outcome.errors.hasSuffix(
                    "; what is remembered of a paired device may be out of date: dfu forget \(band.address), then pair it "
                        + "again"))
            #expect(try await transport.scan(for: .zero).contains { $0.address == band.address && $0.isBonded })
        }
    }
}

/// A band that has another command characteristic, at the same handles, until it is written to there.
private struct JumpingBand: SimulatedDevice {
    static let other = BluetoothUUID(short: 0xFF12)

    private(set) var band: Band
    private var hasJumped = false

    init(_ band: Band) { self.band = band }

    var address: String { band.address }

    var services: [GATTService] {
        guard !hasJumped, var service = band.services.first else { return band.services }
        for index in service.characteristics.indices
        where service.characteristics[index].properties.contains(.writeWithoutResponse) {
            service.characteristics[index].uuid = Self.other
        }
        return [service] + band.services.dropFirst()
    }

    mutating func connected() { band.connected() }
    mutating func disconnected() { band.disconnected() }
    mutating func written(_ bytes: [UInt8], to characteristic: BluetoothUUID) -> [DeviceAction] {
        characteristic == Self.other
            ? [.reboot(after: .zero, offAir: .seconds(1))] : band.written(bytes, to: characteristic)
    }
    func read(_ characteristic: BluetoothUUID) -> [UInt8]? { band.read(characteristic) }
    mutating func rebooted() {
        hasJumped = true
        band.rebooted()
    }
}
