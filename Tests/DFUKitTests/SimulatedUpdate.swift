import DFUKit
import DFUSimulator
import Dispatch
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
        during: (@Sendable (UpdateProgress, Intervention) -> Void)? = nil
    ) async throws {
        var options = UpdateOptions()
        adjust(&options)
        var script = Script(
            device: device ?? settings.address, package: package, profile: profile ?? settings.profile,
            options: options, checkpoints: checkpoints, during: during)
        let end: Script.End
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
        guard let left = end.device as? FaultyBand else {
            preconditionFailure("the device is the one that was put there")
        }
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

    /// What a test may do to an update that is under way.
    struct Intervention: Sendable {
        let cancel: @Sendable () -> Void
        let loseLink: @Sendable () -> Void
        /// The bus, where it goes by BlueZ.
        var stage: BlueZStage?
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

/// What is special about the BlueZ that an update goes by.
struct BlueZScene {
    /// Its adapters.
    var adapters = [SimulatedAdapter()]
    /// How it behaves; the radio is the update's.
    var settings = BlueZSettings.quick
    /// The devices besides the band.
    var neighbours: [AdvertisedDevice] = []
    /// What is special about the band there.
    var advertise: (inout AdvertisedDevice) -> Void = { _ in }
    /// What the transport is to do.
    var options: (inout BlueZTransport.Options) -> Void = { _ in }
    /// What is done before the transport is opened.
    var prepare: (BlueZStage) async throws -> Void = { _ in }
}

/// What is to be done, whatever the way, and what is told meanwhile.
private struct Script: Sendable {
    struct Told {
        var progress: [UpdateProgress] = []
        var warnings: [UpdateWarning] = []
        var log: [String] = []
        var events: [SimulatedEvent] = []
        var capture: [String] = []
        var sentPackets = 0
    }

    struct End: Sendable {
        var result: Result<UpdateReport, UpdateError>
        var device: (any SimulatedDevice)?
        var events: [SimulatedEvent]
        var duration: Duration
        var calls: [DBusMessage] = []
    }

    var device: String
    var package: Package
    var profile: DeviceProfile
    var options: UpdateOptions
    var checkpoints: CheckpointStore?
    var during: (@Sendable (UpdateProgress, SimulatedUpdate.Intervention) -> Void)?
    let told = Locked(Told())
    private let task = Locked<Task<Result<UpdateReport, UpdateError>, Never>?>(nil)

    /// In virtual time.
    func run(_ band: FaultyBand, _ radio: RadioModel) async -> End {
        let time = VirtualTime()
        let transport = SimulatedTransport([band], radio: radio, time: .virtual(time), observer: note)
        // All of it inside, where time stands still until the next wait: outside, the world goes on meanwhile.
        return await time.run {
            let intervention = intervention { transport.loseLink(to: band.address) }
            let result = await update(over: transport, clock: time, on: time, intervention)
            let (events, duration) = (told.withLock { $0.events }, time.now.sinceStart)
            // A band that accepted the image reboots into it.
            try? await time.sleep(for: .seconds(60))
            return End(result: result, device: transport.device(band.address), events: events, duration: duration)
        }
    }

    /// In real time.
    func run(_ band: FaultyBand, _ radio: RadioModel, in scene: BlueZScene) async throws -> End {
        var settings = scene.settings
        settings.radio = radio
        var advertised = AdvertisedDevice(band)
        scene.advertise(&advertised)
        return try await BlueZStage.run(
            adapters: scene.adapters, devices: [advertised] + scene.neighbours, settings: settings, observer: note
        ) { stage in
            try await scene.prepare(stage)
            var intervention = intervention { stage.blueZ.loseLink(to: band.address) }
            intervention.stage = stage
            let start = ContinuousClock.now
            let (result, calls) = try await stage.noteCalls { [intervention] () -> Result<UpdateReport, UpdateError> in
                let transport: BlueZTransport
                do throws(TransportError) {
                    transport = try await stage.transport(scene.options)
                } catch {
                    return .failure(UpdateError(error, phase: .connect, deviceState: .asBefore))
                }
                return await update(over: transport, clock: ContinuousClock(), intervention)
            }
            let duration = start.duration(to: .now)
            var left = stage.blueZ.device(band.address) as? FaultyBand
            // What a reboot that is still to come makes of it.
            if left?.band.memory.accepted != nil { left?.rebooted() }
            return End(
                result: result, device: left, events: told.withLock { $0.events }, duration: duration, calls: calls)
        }
    }

    /// In the lab's guest.
    func runInLab(_ band: FaultyBand, _ radio: RadioModel) async throws -> End {
        try await Lab.run([AdvertisedDevice(band)], radio: radio, observer: note) { air in
            let intervention = intervention {
                let isLost = DispatchSemaphore(value: 0)
                air.loseLink(to: band.address) { isLost.signal() }
                isLost.wait()
            }
            let start = ContinuousClock.now
            let result: Result<UpdateReport, UpdateError>
            do throws(TransportError) {
                let transport = try await BlueZTransport()
                result = await update(over: transport, clock: ContinuousClock(), intervention)
            } catch {
                result = .failure(UpdateError(error, phase: .connect, deviceState: .asBefore))
            }
            let duration = start.duration(to: .now)
            // The host knows of the end before the device does.
            await air.untilDisconnected(band.address)
            var left = await air.device(band.address) as? FaultyBand
            // What a reboot that is still to come makes of it.
            if left?.band.memory.accepted != nil { left?.rebooted() }
            return End(result: result, device: left, events: told.withLock { $0.events }, duration: duration)
        }
    }

    private func intervention(_ loseLink: @escaping @Sendable () -> Void) -> SimulatedUpdate.Intervention {
        SimulatedUpdate.Intervention(cancel: { task.withLock { $0 }?.cancel() }, loseLink: loseLink)
    }

    private func update(
        over transport: any Transport, clock: any Clock<Duration>, on executor: (any TaskExecutor)? = nil,
        _ intervention: SimulatedUpdate.Intervention
    ) async -> Result<UpdateReport, UpdateError> {
        let updater = Updater(
            transport: transport, profile: profile, options: options, checkpoints: checkpoints, clock: clock,
            localTime: { BlockAck.PackedTime(year: 2026, month: 5, day: 4, hour: 3, minute: 2) })
        let observer = UpdateObserver(
            progress: { snapshot in
                told.withLock { $0.progress.append(snapshot) }
                during?(snapshot, intervention)
            },
            warning: { warning in told.withLock { $0.warnings.append(warning) } },
            log: { line in told.withLock { $0.log.append(line) } },
            packet: { packet in
                if case .written = packet { told.withLock { $0.sentPackets += 1 } }
            },
            capture: CaptureRecorder(program: "tests") { line in told.withLock { $0.capture.append(line) } })
        let started = task.withLock { task in
            let started = Task(executorPreference: executor) { () -> Result<UpdateReport, UpdateError> in
                do throws(UpdateError) {
                    return .success(try await updater.update(device, with: package, observer: observer))
                } catch {
                    return .failure(error)
                }
            }
            task = started
            return started
        }
        defer { task.withLock { $0 = nil } }
        return await started.value
    }

    private func note(_ event: SimulatedEvent, _ device: any SimulatedDevice) {
        told.withLock { $0.events.append(event) }
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
