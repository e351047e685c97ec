import DFUKit
import DFUSimulator
import DFUTransport
private import FoundationEssentials

/// A simulated band as its ID describes it, with the files that it is kept in.
struct SimulatedBand: TargetDevice {
    let world: VirtualTime?
    private let id: SimulatedDeviceID
    private let air: SimulatedTransport
    private let storage: BandStorage?

    var device: String { id.device }
    var address: String { id.device }
    var transport: any Transport { air }

    /// Makes the band; its files are read and written here, so that a wrong one stops the command before anything begins.
    init(_ id: SimulatedDeviceID, profile: DeviceProfile) throws(Failure) {
        self.id = id
        var settings = Band.Settings()
        settings.address = id.device
        settings.profile = profile
        if let version = id.version { settings.version = try Self.version(version) }
        if let battery = id.battery { settings.batteryTenths = UInt8(battery / 10) }
        if let mtu = id.mtu { settings.packetLimit = UInt8(min(mtu - 3, 244)) }
        storage = id.stateFile.map { BandStorage(path: $0) }
        let memory = try storage?.load()
        var faults = FaultScript()
        if let file = id.faultsFile { faults = try Self.faults(file) }
        world = id.time == .virtual ? VirtualTime() : nil
        let time = world.map { SimulatedTime.virtual($0) } ?? .real
        // An earlier command may have been killed before the band's reboot.
        let device = Self.settled(FaultyBand(Band(settings, memory: memory), faults: faults))
        try Self.keep(device.band.memory, storage, imageFile: id.imageFile)
        air = SimulatedTransport([device], radio: Self.radio(id), time: time) { [storage] _, device in
            guard let band = (device as? FaultyBand)?.band else { return }
            storage?.keep(band.memory)
        }
    }

    /// Writes what the band ended with.
    func finish() throws(Failure) {
        guard let device = air.device(address) as? FaultyBand else {
            preconditionFailure("the device is the one that was put there")
        }
        try Self.keep(Self.settled(device).band.memory, storage, imageFile: id.imageFile)
    }

    /// The band when it is left to itself: one that has accepted an image reboots into it.
    private static func settled(_ device: FaultyBand) -> FaultyBand {
        var device = device
        if device.band.memory.accepted != nil { device.rebooted() }
        return device
    }

    private static func keep(
        _ memory: Band.Memory, _ storage: BandStorage?, imageFile path: String?
    ) throws(Failure) {
        try storage?.save(memory)
        guard let path else { return }
        do {
            // In place: a device node or a link that stands there is written to, and not replaced.
            try Data(memory.image).write(to: URL(filePath: path))
        } catch {
            throw Failure(.output, subject: path, "the band's image cannot be written there")
        }
    }

    private static func version(_ text: String) throws(Failure) -> BlockAck.Version {
        guard let bytes = try? FirmwareVersion(text)?.bytes() else {
            throw .usage("sim: the version '\(text)' is not three numbers from 0 to 255, as 1.0.0")
        }
        return BlockAck.Version(bytes[0], bytes[1], bytes[2])
    }

    private static func faults(_ path: String) throws(Failure) -> FaultScript {
        let bytes = try InputFile.read(path)
        do throws(FaultScriptError) {
            return try FaultScript(json: bytes)
        } catch {
            throw Failure(.config, subject: path, error.message)
        }
    }

    private static func radio(_ id: SimulatedDeviceID) -> RadioModel {
        var radio = RadioModel()
        if let mtu = id.mtu { radio.mtu = mtu }
        if let interval = id.interval { radio.interval = interval }
        switch id.phy {
        case .le2M: radio.phy = .le2M
        case .le1M, nil: radio.phy = .le1M
        }
        if id.dataLengthExtension == .on { radio.dataLength = 251 }
        return radio
    }
}

/// The file of what a band keeps without power, so that it outlives the command.
private final class BandStorage: Sendable {
    private let path: String
    private let last = Locked<Band.Memory?>(nil)

    init(path: String) {
        self.path = path
    }

    /// What an earlier band kept, or nil where there is no file yet.
    func load() throws(Failure) -> Band.Memory? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        let bytes = try InputFile.read(path, limit: 1 << 26)
        do {
            return try JSONDecoder().decode(Band.Memory.self, from: Data(bytes))
        } catch {
            throw Failure(.config, subject: path, "this is not what a simulated band keeps; remove it, or name another")
        }
    }

    /// Writes it whole, in place of what was there.
    func save(_ memory: Band.Memory) throws(Failure) {
        do {
            try JSONEncoder().encode(memory).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw Failure(.output, subject: path, "the band's state cannot be written there")
        }
    }

    /// Writes it where it has changed. A failure here shows at the end, when it is written once more.
    func keep(_ memory: Band.Memory) {
        let isNew = last.withLock { last in
            defer { last = memory }
            return last != memory
        }
        if isNew { try? save(memory) }
    }
}
