import DFUKit
import DFUProtocol
import DFUSimulator
import DFUTransport
import TestSupport

/// One update of one simulated device by Secure DFU in a world of its own, and what it left behind.
struct SecureRun {
    let result: Result<UpdateReport, UpdateError>
    /// The device afterwards.
    let device: AlteredDevice
    let events: [SimulatedEvent]
    let progress: [UpdateProgress]
    let warnings: [UpdateWarning]
    let log: [String]
    let capture: String
    let duration: Duration
    /// The calls of BlueZ's methods, where it went by BlueZ.
    let calls: [DBusMessage]

    /// - Parameters:
    ///   - way: Over the bus time is real, and the device's starts take a twentieth. Its last answer
    ///     has as long as ever, so that a busy machine does not lose it.
    ///   - asked: Whom to update, in place of where the device is.
    ///   - alter: What the device does otherwise than it should.
    init(
        over way: Way = .direct, of settings: SecureDevice.Settings = SecureDevice.Settings(),
        memory: SecureMemory? = nil, to package: Package, asked: String? = nil, at address: String? = nil,
        checkpoints: CheckpointStore? = nil, in scene: BlueZScene = BlueZScene(),
        alter: (inout AlteredDevice) -> Void = { _ in }, adjust: (inout UpdateOptions) -> Void = { _ in },
        during: (@Sendable (UpdateProgress, UpdateScript.Intervention) -> Void)? = nil
    ) async throws {
        var options = UpdateOptions()
        adjust(&options)
        var settings = settings
        if way != .direct {
            settings.startTime /= 20
            settings.installTime /= 20
        }
        var device = AlteredDevice(settings, memory: memory)
        alter(&device)
        let script = UpdateScript(
            device: asked ?? device.address, address: address, package: package, profile: .band, options: options,
            checkpoints: checkpoints, during: during)
        let end =
            switch way {
            case .direct: await script.run(device, RadioModel(dataLength: 251, mtu: 247))
            case .bus: try await script.run(device, RadioModel(mtu: 247).quick, in: scene)
            case .radio: try await script.runInLab(device, RadioModel(mtu: 247))
            }
        guard let left = end.device as? AlteredDevice else {
            preconditionFailure("the device is the one that was put there")
        }
        self.device = left
        result = end.result
        events = end.events
        duration = end.duration
        calls = end.calls
        (progress, warnings, log) = script.told.withLock { ($0.progress, $0.warnings, $0.log) }
        capture = script.told.withLock { $0.capture.map { $0 + "\n" }.joined() }
    }

    /// The error that it ended with.
    var error: UpdateError? {
        guard case .failure(let error) = result else { return nil }
        return error
    }

    /// The report of a good end.
    var report: UpdateReport? { try? result.get() }

    /// What the host wrote to a characteristic, as the device got it.
    func written(to characteristic: BluetoothUUID) -> [[UInt8]] {
        events.compactMap { event in
            guard case .written(let bytes, let place) = event.kind, place == characteristic else { return nil }
            return bytes
        }
    }

    /// All that the host wrote.
    var writes: Int {
        events.count { event in
            if case .written = event.kind { true } else { false }
        }
    }

    /// The stages, each once in a row.
    var phases: [Phase] {
        var phases: [Phase] = []
        for snapshot in progress where snapshot.phase != phases.last { phases.append(snapshot.phase) }
        return phases
    }

    /// The firmware of the application that the device holds.
    var application: [UInt8]? { device.device.memory.application?.firmware }
}
