import DFUSimulator
import DFUTransport
private import FoundationEssentials

/// What keeps a simulated device in the files that its ID names.
protocol DeviceKeeping: Sendable {
    /// The device, as it is at the beginning.
    var device: any SimulatedDevice { get }

    /// Writes what the device keeps now, where it has changed. A failure here shows at the end.
    func keep(_ device: any SimulatedDevice)

    /// Writes what the device ended with. What becomes of it from now on is not kept.
    func finish(_ device: (any SimulatedDevice)?) throws(Failure)
}

/// A simulated device that can be kept.
protocol KeptDevice: SimulatedDevice {
    associatedtype Memory: Codable & Hashable & Sendable

    /// What it is called in messages.
    static var noun: String { get }
    /// What it keeps without power.
    var memory: Memory { get }
    /// The image that was installed last; empty where it is still the factory's.
    var image: [UInt8] { get }

    /// Does what it does when it is left to itself: one that has accepted an image restarts into it.
    mutating func settle()
}

extension FaultyBand: KeptDevice {
    static let noun = "band"
    var memory: Band.Memory { band.memory }
    var image: [UInt8] { band.memory.image }

    mutating func settle() {
        if band.memory.accepted != nil { rebooted() }
    }
}

extension FaultySecureDevice: KeptDevice {
    static let noun = "device"
    var memory: SecureMemory { device.memory }
    var image: [UInt8] { device.memory.image }

    mutating func settle() {
        if device.memory.hasAccepted { rebooted() }
    }
}

/// The keeper of one kind of device.
final class DeviceKeeper<Device: KeptDevice>: DeviceKeeping {
    let device: any SimulatedDevice
    private let stateFile: String?
    private let imageFile: String?
    /// What is in the files; nil when the device is done with. Locked while they are written.
    private let kept: Locked<(memory: Device.Memory, image: [UInt8])?>

    /// Writes what the device has at the beginning. An earlier command may have been killed before its restart.
    init(_ device: Device, by id: SimulatedDeviceID) throws(Failure) {
        var device = device
        device.settle()
        self.device = device
        stateFile = id.stateFile
        imageFile = id.imageFile
        kept = Locked((device.memory, device.image))
        try save(device.memory)
        try saveImage(device.image)
    }

    func keep(_ device: any SimulatedDevice) {
        guard let device = device as? Device else { return }
        let (memory, image) = (device.memory, device.image)
        kept.withLock { kept in
            guard let before = kept, memory != before.memory else { return }
            try? save(memory)
            if image != before.image { try? saveImage(image) }
            kept = (memory, image)
        }
    }

    func finish(_ device: (any SimulatedDevice)?) throws(Failure) {
        guard var device = device as? Device else {
            preconditionFailure("the device is the one that was put there")
        }
        kept.withLock { $0 = nil }
        device.settle()
        try save(device.memory)
        try saveImage(device.image)
    }

    // MARK: Files

    /// What an earlier device kept, or nil where there is no file yet.
    static func memory(_ path: String?) throws(Failure) -> Device.Memory? {
        guard let path, FileManager.default.fileExists(atPath: path) else { return nil }
        let bytes = try InputFile.read(path, limit: 1 << 26)
        do {
            return try JSONDecoder().decode(Device.Memory.self, from: Data(bytes))
        } catch {
            throw Failure(
                .config, subject: path,
                "this is not what a simulated \(Device.noun) keeps; remove it, or name another")
        }
    }

    /// Writes the state whole, in place of what was there.
    private func save(_ memory: Device.Memory) throws(Failure) {
        guard let stateFile else { return }
        do {
            try JSONEncoder().encode(memory).write(to: URL(filePath: stateFile), options: .atomic)
        } catch {
            throw Failure(.output, subject: stateFile, "the \(Device.noun)'s state cannot be written there")
        }
    }

    private func saveImage(_ image: [UInt8]) throws(Failure) {
        guard let imageFile else { return }
        do {
            // In place: a device node or a link that stands there is written to, and not replaced.
            try Data(image).write(to: URL(filePath: imageFile))
        } catch {
            throw Failure(.output, subject: imageFile, "the \(Device.noun)'s image cannot be written there")
        }
    }
}
