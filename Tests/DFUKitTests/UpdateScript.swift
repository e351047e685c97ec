import DFUKit
import DFUSimulator
import Dispatch
import TestSupport

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
struct UpdateScript: Sendable {
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

    /// What a test may do to an update that is under way.
    struct Intervention: Sendable {
        let cancel: @Sendable () -> Void
        let loseLink: @Sendable () -> Void
        /// The bus, where it goes by BlueZ.
        var stage: BlueZStage?
    }

    var device: String
    /// Where it is, in place of that.
    var address: String?
    var package: Package
    var profile: DeviceProfile
    var options: UpdateOptions
    var checkpoints: CheckpointStore?
    var during: (@Sendable (UpdateProgress, Intervention) -> Void)?
    let told = Locked(Told())
    let task = Locked<Task<Result<UpdateReport, UpdateError>, Never>?>(nil)

    /// In virtual time.
    func run(_ device: any SimulatedDevice, _ radio: RadioModel) async -> End {
        let time = VirtualTime()
        let transport = SimulatedTransport([device], radio: radio, time: .virtual(time), observer: note)
        // All of it inside, where time stands still until the next wait: outside, the world goes on meanwhile.
        return await time.run {
            let intervention = intervention { transport.loseLink(to: device.address) }
            let result = await update(over: transport, clock: time, on: time, intervention)
            let (events, duration) = (told.withLock { $0.events }, time.now.sinceStart)
            // A device that accepted the image restarts into it.
            try? await time.sleep(for: .seconds(60))
            return End(result: result, device: transport.device(device.address), events: events, duration: duration)
        }
    }

    /// In real time.
    func run(_ device: any SimulatedDevice, _ radio: RadioModel, in scene: BlueZScene) async throws -> End {
        var settings = scene.settings
        settings.radio = radio
        var advertised = AdvertisedDevice(device)
        scene.advertise(&advertised)
        return try await BlueZStage.run(
            adapters: scene.adapters, devices: [advertised] + scene.neighbours, settings: settings, observer: note
        ) { stage in
            try await scene.prepare(stage)
            var intervention = intervention { stage.blueZ.loseLink(to: device.address) }
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
            return End(
                result: result, device: stage.blueZ.device(device.address), events: told.withLock { $0.events },
                duration: duration, calls: calls)
        }
    }

    /// In the lab's guest.
    func runInLab(_ device: any SimulatedDevice, _ radio: RadioModel) async throws -> End {
        try await Lab.run([AdvertisedDevice(device)], radio: radio, observer: note) { air in
            let intervention = intervention {
                let isLost = DispatchSemaphore(value: 0)
                air.loseLink(to: device.address) { isLost.signal() }
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
            await air.untilDisconnected(device.address)
            return End(
                result: result, device: await air.device(device.address), events: told.withLock { $0.events },
                duration: duration)
        }
    }

    private func intervention(_ loseLink: @escaping @Sendable () -> Void) -> Intervention {
        Intervention(cancel: { task.withLock { $0 }?.cancel() }, loseLink: loseLink)
    }

    private func update(
        over transport: any Transport, clock: any Clock<Duration>, on executor: (any TaskExecutor)? = nil,
        _ intervention: Intervention
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
                    return .success(try await updater.update(device, at: address, with: package, observer: observer))
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
