import DFUKit
import DFUSimulator
import TestSupport

/// One update of one simulated band in a world of its own, and what it left behind.
struct SimulatedUpdate {
    let result: Result<UpdateReport, UpdateError>
    let band: Band
    let events: [SimulatedEvent]
    let progress: [UpdateProgress]
    let warnings: [UpdateWarning]
    let log: [String]
    /// What was written down of it.
    let capture: String
    /// How many packets the host has sent.
    let sentPackets: Int
    let duration: Duration
    /// The calls of BlueZ's methods, where it went by BlueZ.
    let calls: [DBusMessage]

    /// - Parameters:
    ///   - way: Over the bus time is real: the radio is quick there, a band's own pauses are a twentieth, and the limits
    ///     of its profile ten times as long, so that a busy machine is not taken for a silent device. In the lab all is
    ///     as it would be on a bench.
    ///   - profile: In place of the band's, taken as it is.
    ///   - device: Whom to update, in place of the band.
    ///   - adjust: What is asked for.
    ///   - scene: What the bus is like.
    ///   - during: Called with each snapshot, and what may be done to the update then.
    init(
        over way: Way = .direct, of settings: Band.Settings = Band.Settings(), memory: Band.Memory? = nil,
        faults: [Fault] = [], to package: Package, profile: DeviceProfile? = nil, device: String? = nil,
        checkpoints: CheckpointStore? = nil, radio: RadioModel = RadioModel(), in scene: BlueZScene = BlueZScene(),
        adjust: (inout UpdateOptions) -> Void = { _ in },
        during: (@Sendable (UpdateProgress, UpdateScript.Intervention) -> Void)? = nil
    ) async throws {
        var options = UpdateOptions()
        adjust(&options)
        var script = UpdateScript(
            device: device ?? settings.address, package: package, profile: profile ?? settings.profile,
            options: options, checkpoints: checkpoints, during: during)
        let end: UpdateScript.End
        switch way {
        case .direct:
            end = await script.run(FaultyBand(Band(settings, memory: memory), faults: FaultScript(faults)), radio)
        case .bus:
            if profile == nil { script.profile.blockAck.limits = script.profile.blockAck.limits.patient }
            var settings = settings
            settings.rebootDelay /= 20
            settings.rebootTime /= 20
            let band = FaultyBand(Band(settings, memory: memory), faults: FaultScript(faults))
            end = try await script.run(band, radio.quick, in: scene)
        case .radio:
            end = try await script.runInLab(
                FaultyBand(Band(settings, memory: memory), faults: FaultScript(faults)), radio)
        }
        guard var left = end.device as? FaultyBand else {
            preconditionFailure("the device is the one that was put there")
        }
        // What a reboot that is still to come makes of it.
        if left.band.memory.accepted != nil { left.rebooted() }
        result = end.result
        duration = end.duration
        events = end.events
        calls = end.calls
        band = left.band
        (progress, warnings, log) = script.told.withLock { ($0.progress, $0.warnings, $0.log) }
        (capture, sentPackets) = script.told.withLock { told in
            (told.capture.map { $0 + "\n" }.joined(), told.sentPackets)
        }
    }

    /// The error that it ended with.
    var error: UpdateError? {
        guard case .failure(let error) = result else { return nil }
        return error
    }

    /// The report of a good end.
    var report: UpdateReport? { try? result.get() }

    /// Everything that the host wrote, as the band got it.
    var written: [[UInt8]] {
        events.compactMap { event in
            guard case .written(let bytes, _) = event.kind else { return nil }
            return bytes
        }
    }
}

extension BlockAck.Parameters.Limits {
    /// Ten times as long.
    fileprivate var patient: Self {
        var limits = self
        for limit in [\Self.battery, \.setTime, \.start, \.blockEnd, \.complete, \.reconnect] {
            limits[keyPath: limit] *= 10
        }
        return limits
    }
}

extension Package {
    /// A .bin whose name carries its version and CRC-32.
    static func bin(_ bytes: [UInt8], version: String = "1.1.0") -> Package {
        Package(reading: bytes, named: "band_v\(version)_\(Checksum.crc32(bytes).hexadecimal).bin")
    }
}
