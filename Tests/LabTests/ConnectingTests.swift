import DFUKit
import DFUProtocol
import DFUSimulator
import DFUTransport
import TestSupport
import Testing

/// Finding devices and connecting to them, while others do the same.
@Suite(.lab) struct ConnectingTests {
    private let band = Band()
    private let other = Band(at: "02")
    private let image = Firmware.bytes(3000)

    /// An update of the band, which is to end well.
    private func update(sourceLocation: SourceLocation = #_sourceLocation) async throws -> UpdateReport {
        let package = Package(
            reading: image, named: "band_v1.1.0_\(Checksum.crc32(image).hexadecimal).bin")
        let transport = try await BlueZTransport()
        let report = try await Updater(transport: transport).update(band.address, with: package)
        #expect(report.verdict == .running(version: "1.1.0"), sourceLocation: sourceLocation)
        return report
    }

    private func memory(of air: EmulatedRadio) async -> [UInt8]? {
        (await air.device(band.address) as? Band)?.memory.image
    }

    private var connectedAlready: String {
        "dfu: \(band.address): warning: it is connected already, by another program or an earlier run: that connection is "
            + "used, and ended after the update"
    }

    // MARK: What BlueZ knows

    @Test("BLZ-25 a device that BlueZ has forgotten since it was heard is looked for again")
    func forgotten() async throws {
        try await Lab.run([AdvertisedDevice(band)]) { _ in
            let transport = try await BlueZTransport()
            let address = band.address
            let heard = try await transport.scan(for: .seconds(10)) { devices in
                devices.contains { $0.address == address && $0.isHeard }
            }
            #expect(heard.contains { $0.address == address })
            let daemon = try await BlueZDaemon.open()
            #expect(try await daemon.wait(.seconds(60)) { $0.devices().allSatisfy { $0.address != address } } != nil)
            let peripheral = try await transport.connect(to: address, timeout: .seconds(10))
            #expect(await peripheral.services.contains { $0.uuid == DeviceProfile.band.service })
            await peripheral.disconnect()
        }
    }

    @Test("BLZ-24 a device has the name that it advertises now, not the one that BlueZ read from it earlier")
    func renamed() async throws {
        try await Lab.run([AdvertisedDevice(band, name: "Watch")]) { air in
            let transport = try await BlueZTransport()
            let address = band.address
            try await transport.connect(to: address, timeout: .seconds(10)).disconnect()
            await air.untilDisconnected(address)
            try await air.change(address) { $0.name = "DfuTarg" }
            let devices = try await transport.scan(for: .seconds(10)) { devices in
                devices.contains { $0.address == address && $0.name == "DfuTarg" }
            }
            #expect(devices.first { $0.address == address }?.name == "DfuTarg")
        }
    }

    @Test("a device that comes back at another address is found there, and at the old one no more")
    func movedAway() async throws {
        let moving = MovingBand(band, to: other.address)
        try await Lab.forget(other.address)
        try await Lab.run([AdvertisedDevice(moving)]) { air in
            let transport = try await BlueZTransport()
            let peripheral = try await transport.connect(to: band.address, timeout: .seconds(10))
            let link = try await peripheral.openLink(DeviceProfile.band.bindings(in: await peripheral.services))
            try await link.write(MovingBand.move, to: .command)
            await air.untilDisconnected(band.address)
            await peripheral.disconnect()
            let moved = try await transport.connect(to: other.address, timeout: .seconds(20))
            #expect(
                try await moved.read(BluetoothUUID(short: 0x2A26), of: BluetoothUUID(short: 0x180A))
                    == Array("1.0.0".utf8))
            await moved.disconnect()
            let error = await #expect(throws: TransportError.self) {
                try await transport.connect(to: band.address, timeout: .seconds(9))
            }
            #expect(error?.code == .notFound)
        }
    }

    // MARK: Devices that go

    @Test("BLZ-03 a device that stops advertising is given up by BlueZ, or by us before")
    func goesAway() async throws {
        try await Lab.run([AdvertisedDevice(band)]) { air in
            let transport = try await BlueZTransport()
            let address = band.address
            try await OtherProgram().hear(address)
            try await air.change(address) { $0.isInRange = false }
            let late = await #expect(throws: TransportError.self) {
                try await transport.connect(to: address, timeout: .seconds(100))
            }
            #expect(late == TransportError(.connectFailed, message: "le-connection-abort-by-local"))
            let early = await #expect(throws: TransportError.self) {
                try await transport.connect(to: address, timeout: .seconds(20))
            }
            #expect(early?.code == .connectFailed)
            // The attempt that was given up is over: nobody connects to the device when it comes back.
            try await air.change(address) { $0.isInRange = true }
            let devices = try await transport.scan(for: .seconds(10))
            #expect(devices.first { $0.address == address }?.isHeard == true)
            #expect(devices.first { $0.address == address }?.isConnected == false)
        }
    }

    // MARK: Other programs

    @Test("BLZ-07 another program is connecting to the device, whose connection is used then")
    func rival() async throws {
        try await Lab.run([AdvertisedDevice(band)]) { air in
            let transport = try await BlueZTransport()
            let address = band.address
            let rival = try await OtherProgram()
            try await rival.hear(address)
            try await air.change(address) { $0.isInRange = false }
            async let theirs = rival.call("Connect", device: address)
            let error = await #expect(throws: TransportError.self) {
                try await transport.connect(to: address, timeout: .seconds(15))
            }
            #expect(error == TransportError(.connectFailed, message: "another attempt is going on"))
            try await air.change(address) { $0.isInRange = true }
            _ = try await theirs
            #expect(try await transport.connect(to: address, timeout: .seconds(15)).wasConnected)
            _ = try await update()
        }
    }

    @Test("BLZ-07 another program connects in vain to another device all the time")
    func rivalElsewhere() async throws {
        try await Lab.run([AdvertisedDevice(band), AdvertisedDevice(other)]) { air in
            let rival = try await OtherProgram()
            try await rival.hear(other.address)
            try await air.change(other.address) { $0.isInRange = false }
            let theirs = Task { [other] in
                while !Task.isCancelled { _ = try? await rival.call("Connect", device: other.address) }
            }
            _ = try await update()
            #expect(await memory(of: air) == image)
            theirs.cancel()
            _ = try? await rival.call("Disconnect", device: other.address)
            await theirs.value
        }
    }

    @Test("BLZ-06 another program scans all the time") func scanOfAnother() async throws {
        try await Lab.run([AdvertisedDevice(band)]) { air in
            let other = try await OtherProgram()
            try await other.call("StartDiscovery")
            _ = try await update()
            #expect(await memory(of: air) == image)
            try await other.call("StopDiscovery")
        }
    }

    @Test("bleak scans, and reads from another device all the time") func bleakBeside() async throws {
        try await Lab.run([AdvertisedDevice(band), AdvertisedDevice(other)]) { air in
            let script = """
                device = await BleakScanner.find_device_by_address('\(other.address)')
                client = BleakClient(device)
                await client.connect()
                await BleakScanner().start()
                async def read():
                    while True: await client.read_gatt_char('00002a26-0000-1000-8000-00805f9b34fb')
                reading = asyncio.create_task(read())
                """
            try await Guest.withBleak(script) { _ = try await update() }
            #expect(await memory(of: air) == image)
        }
    }

    @Test("BLZ-16 a device that another program has connected is updated over that connection, and it is said")
    func connectedByAnother() async throws {
        try await Lab.run([AdvertisedDevice(band)]) { air in
            let other = try await OtherProgram()
            try await other.hear(band.address)
            try await other.call("Connect", device: band.address)
            let file = try ImageFile(3000)
            let outcome = try await Guest.dfu("flash", file.path, "--device", band.address)
            #expect(outcome == Guest.updated(band.address, saying: connectedAlready))
            #expect(await memory(of: air) == file.bytes)
        }
    }

    @Test("BLZ-16 bleak has the device, and listens to it") func bleakListens() async throws {
        try await Lab.run([AdvertisedDevice(band)]) { air in
            let script = """
                client = BleakClient(await BleakScanner.find_device_by_address('\(band.address)'))
                await client.connect()
                await client.start_notify('0000ff01-0000-1000-8000-00805f9b34fb', lambda *_: None)
                """
            let file = try ImageFile(3000)
            let outcome = try await Guest.withBleak(script) {
                try await Guest.dfu("flash", file.path, "--device", band.address)
            }
            #expect(outcome == Guest.updated(band.address, saying: connectedAlready))
            #expect(await memory(of: air) == file.bytes)
        }
    }
}

/// A band that comes back at another address when it is told to.
private struct MovingBand: SimulatedDevice {
    static let move: [UInt8] = [0xFF]

    private var band: Band
    private let next: String

    init(_ band: Band, to next: String) {
        self.band = band
        self.next = next
    }

    var address: String { band.address }
    var services: [GATTService] { band.services }

    mutating func connected() { band.connected() }
    mutating func disconnected() { band.disconnected() }
    mutating func written(_ bytes: [UInt8], to characteristic: BluetoothUUID) -> [DeviceAction] {
        bytes == Self.move ? [.reboot(after: .zero, offAir: .seconds(1))] : band.written(bytes, to: characteristic)
    }
    func read(_ characteristic: BluetoothUUID) -> [UInt8]? { band.read(characteristic) }
    mutating func rebooted() {
        band.settings.address = next
        band.rebooted()
    }
}
