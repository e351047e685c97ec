import DFUKit
import DFUSimulator
import DFUTransport
private import FoundationEssentials

/// What makes a simulated band by its ID, and keeps it in the files that the ID names.
final class BandKeeper: Sendable {
    /// The band, as it is at the beginning.
    let device: FaultyBand
    private let stateFile: String?
    private let imageFile: String?
    /// What is in the files; nil when the band is done with. Locked while they are written.
    private let kept: Locked<Band.Memory?>

    /// Makes the band; its files are read and written here.
    init(_ id: SimulatedDeviceID, address: String, profile: DeviceProfile) throws(Failure) {
        var settings = Band.Settings()
        settings.address = address
        settings.profile = profile
        if let version = id.version { settings.version = try Self.version(version) }
        if let battery = id.battery { settings.batteryTenths = UInt8(battery / 10) }
        if let mtu = id.mtu { settings.packetLimit = UInt8(min(mtu - 3, 244)) }
        stateFile = id.stateFile
        imageFile = id.imageFile
        let memory = try id.stateFile.flatMap(Self.memory)
        var faults = FaultScript()
        if let file = id.faultsFile { faults = try Self.faults(file) }
        // An earlier command may have been killed before the band's reboot.
        device = Self.settled(FaultyBand(Band(settings, memory: memory), faults: faults))
        kept = Locked(device.band.memory)
        try save(device.band.memory)
        try saveImage(device.band.memory)
    }

    /// Writes what the band keeps now, where it has changed. A failure here shows at the end.
    func keep(_ device: any SimulatedDevice) {
        guard let memory = (device as? FaultyBand)?.band.memory else { return }
        kept.withLock { kept in
            guard let before = kept, memory != before else { return }
            try? save(memory)
            if memory.image != before.image { try? saveImage(memory) }
            kept = memory
        }
    }

    /// Writes what the band ended with. What becomes of it from now on is not kept.
    func finish(_ device: (any SimulatedDevice)?) throws(Failure) {
        guard let device = device as? FaultyBand else {
            preconditionFailure("the device is the one that was put there")
        }
        kept.withLock { $0 = nil }
        let memory = Self.settled(device).band.memory
        try save(memory)
        try saveImage(memory)
    }

    /// The band when it is left to itself: one that has accepted an image reboots into it.
    private static func settled(_ device: FaultyBand) -> FaultyBand {
        var device = device
        if device.band.memory.accepted != nil { device.rebooted() }
        return device
    }

    // MARK: Files

    /// What an earlier band kept, or nil where there is no file yet.
    private static func memory(_ path: String) throws(Failure) -> Band.Memory? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        let bytes = try InputFile.read(path, limit: 1 << 26)
        do {
            return try JSONDecoder().decode(Band.Memory.self, from: Data(bytes))
        } catch {
            throw Failure(.config, subject: path, "this is not what a simulated band keeps; remove it, or name another")
        }
    }

    /// Writes the state whole, in place of what was there.
    private func save(_ memory: Band.Memory) throws(Failure) {
        guard let stateFile else { return }
        do {
            try JSONEncoder().encode(memory).write(to: URL(filePath: stateFile), options: .atomic)
        } catch {
            throw Failure(.output, subject: stateFile, "the band's state cannot be written there")
        }
    }

    private func saveImage(_ memory: Band.Memory) throws(Failure) {
        guard let imageFile else { return }
        do {
            // In place: a device node or a link that stands there is written to, and not replaced.
            try Data(memory.image).write(to: URL(filePath: imageFile))
        } catch {
            throw Failure(.output, subject: imageFile, "the band's image cannot be written there")
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
}
