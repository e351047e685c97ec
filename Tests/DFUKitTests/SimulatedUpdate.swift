import DFUKit
import DFUSimulator
import TestSupport

/// One update of one simulated band in a virtual time of its own, and what it left behind.
struct SimulatedUpdate {
    let result: Result<UpdateReport, UpdateError>
    let band: Band
    let events: [SimulatedEvent]
    let progress: [UpdateProgress]
    let warnings: [UpdateWarning]
    let log: [String]
    let duration: Duration

    /// - Parameters:
    ///   - adjust: What is asked for.
    ///   - during: Called with each snapshot, and what may be done to the update then.
    init(
        of settings: Band.Settings = Band.Settings(), memory: Band.Memory? = nil, faults: [Fault] = [],
        to package: Package, profile: DeviceProfile? = nil, checkpoints: CheckpointStore? = nil,
        radio: RadioModel = RadioModel(), adjust: (inout UpdateOptions) -> Void = { _ in },
        during: (@Sendable (UpdateProgress, Intervention) -> Void)? = nil
    ) async {
        let time = VirtualTime()
        let record = Locked<[SimulatedEvent]>([])
        let device = FaultyBand(Band(settings, memory: memory), faults: FaultScript(faults))
        let transport = SimulatedTransport([device], radio: radio, time: .virtual(time)) { event, _ in
            record.withLock { $0.append(event) }
        }
        var options = UpdateOptions()
        adjust(&options)
        let updater = Updater(
            transport: transport, profile: profile ?? settings.profile, options: options, checkpoints: checkpoints,
            clock: time, localTime: { BlockAck.PackedTime(year: 2026, month: 5, day: 4, hour: 3, minute: 2) })
        let told = Locked<(progress: [UpdateProgress], warnings: [UpdateWarning], log: [String])>(([], [], []))
        let task = Locked<Task<Result<UpdateReport, UpdateError>, Never>?>(nil)
        let intervention = Intervention(
            cancel: { task.withLock { $0 }?.cancel() }, loseLink: { transport.loseLink(to: settings.address) })
        let observer = UpdateObserver(
            progress: { snapshot in
                told.withLock { $0.progress.append(snapshot) }
                during?(snapshot, intervention)
            },
            warning: { warning in told.withLock { $0.warnings.append(warning) } },
            log: { line in told.withLock { $0.log.append(line) } })
        // All of it inside, where time stands still until the next wait: outside, the world goes on meanwhile.
        let (result, left, events, duration) = await time.run {
            let started = Task(executorPreference: time) { () -> Result<UpdateReport, UpdateError> in
                do throws(UpdateError) {
                    return .success(try await updater.update(settings.address, with: package, observer: observer))
                } catch {
                    return .failure(error)
                }
            }
            task.withLock { $0 = started }
            let result = await started.value
            task.withLock { $0 = nil }
            let end = (events: record.withLock { $0 }, duration: time.now.sinceStart)
            // A band that accepted the image reboots into it.
            try? await time.sleep(for: .seconds(60))
            return (result, transport.device(settings.address), end.events, end.duration)
        }
        guard let left = left as? FaultyBand else {
            preconditionFailure("the device is the one that was put there")
        }
        self.result = result
        self.events = events
        self.duration = duration
        band = left.band
        (progress, warnings, log) = told.withLock { $0 }
    }

    /// What a test may do to an update that is under way.
    struct Intervention: Sendable {
        let cancel: @Sendable () -> Void
        let loseLink: @Sendable () -> Void
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

extension Package {
    /// A .bin whose name carries its version and CRC-32.
    static func bin(_ bytes: [UInt8], version: String = "1.1.0") -> Package {
        Package(reading: bytes, named: "band_v\(version)_\(Checksum.crc32(bytes).hexadecimal).bin")
    }
}
