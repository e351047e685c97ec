import DFUKit
import DFUPackage
import DFUProtocol
import DFUSimulator
import DFUTransport

/// `dfu flash` at work: the package, then one device after the other.
struct FlashRun: Sendable {
    private let flash: Flash
    private let session: Session
    private let style: DeviceReporter.Style
    private let elapsed: @Sendable () -> Duration

    init(_ flash: Flash, _ session: Session) {
        self.flash = flash
        self.session = session
        style = flash.output.style(for: session.terminal)
        let start = ContinuousClock.now
        elapsed = { start.duration(to: .now) }
    }

    func run() async throws(Failure) -> ExitStatus {
        if let file = flash.output.logFile { try session.console.openLog(file) }
        if style.json { session.console.result(JSONLine(.start(version: Version.current)).text) }
        let package: Package
        let bands: [SimulatedBand]
        let profile: DeviceProfile
        do throws(Failure) {
            profile = try self.profile()
            package = try self.package()
            try preflight(package, profile)
            bands = try simulatedBands(profile)
        } catch {
            // Programs find a result for each device, whatever was wrong; people want to hear it once.
            if style.json { flash.devices.forEach { notBegun($0, error) } }
            return try wholeRun([error.status], failing: error)
        }
        var statuses: [ExitStatus] = []
        for (id, band) in zip(flash.devices, bands) {
            if let stopped = session.interruption() {
                let failure = Failure(stopped, subject: id.device, "stopped before this device's turn")
                notBegun(id, failure)
                session.console.report(failure.line)
                statuses.append(stopped)
            } else {
                statuses.append(await update(id, band, package, profile))
            }
        }
        return try wholeRun(statuses)
    }

    // MARK: One device

    private func update(
        _ id: DeviceID, _ band: SimulatedBand, _ package: Package, _ profile: DeviceProfile
    ) async -> ExitStatus {
        let reporter = DeviceReporter(
            device: JSONLine.Device(device: id.device, id: id.text, address: id.device), console: session.console,
            style: style, now: elapsed)
        let acknowledged = Locked(UpdateProgress(phase: .connect))
        var observer = UpdateObserver(
            progress: { snapshot in
                acknowledged.withLock { $0 = snapshot }
                reporter.progress(snapshot)
            },
            warning: { reporter.warning(reason: $0.reason, $0.message) },
            log: { reporter.log($0) })
        if style.verbosity >= 2 || session.console.hasLogFile { observer.packet = { reporter.packet($0) } }
        let updater = updater(over: band, profile)
        let begin = elapsed()
        var result: JSONLine.Result
        do throws(UpdateError) {
            result = JSONLine.Result(try await Self.run(updater, id.device, package, observer, in: band))
            do throws(Failure) {
                try band.finish()
            } catch {
                result.status = error.status
                result.message = "\(result.message); \(error.subject ?? ""): \(error.message)"
            }
        } catch {
            result = JSONLine.Result(error, interruption: session.interruption())
            if error.code == .timeout, let limit = flash.connection.timeout {
                // The library knows only what was left of it for this device.
                result.message = "the limit of \(limit) for the whole command passed; allow more time, or try again"
            }
            result.bytes = acknowledged.withLock(\.bytes)
            try? band.finish()
        }
        result.seconds = (elapsed() - begin) / .seconds(1)
        result.isSimulated = true
        reporter.end(result)
        return result.status
    }

    private static func run(
        _ updater: Updater, _ device: String, _ package: Package, _ observer: UpdateObserver, in band: SimulatedBand
    ) async throws(UpdateError) -> UpdateReport {
        guard let world = band.world else { return try await updater.update(device, with: package, observer: observer) }
        return try await world.run { () async throws(UpdateError) -> UpdateReport in
            try await updater.update(device, with: package, observer: observer)
        }
    }

    /// The result of a device whose update was not begun.
    private func notBegun(_ id: DeviceID, _ failure: Failure) {
        guard style.json else { return }
        var result = JSONLine.Result(status: failure.status, message: failure.message(about: id.device))
        result.deviceState = UpdateError.DeviceState.asBefore.rawValue
        result.reason = failure.reason
        result.phase = failure.phase
        result.isSimulated = true
        let device = JSONLine.Device(device: id.device, id: id.text)
        session.console.result(JSONLine(.result(result), device: device).text)
    }

    // MARK: All of them

    /// Tells how the whole run ended, where it is about several devices.
    private func wholeRun(_ statuses: [ExitStatus], failing failure: Failure? = nil) throws(Failure) -> ExitStatus {
        let status: ExitStatus =
            if let interruption = session.interruption() {
                interruption
            } else if let failure {
                failure.status
            } else if statuses.count == 1 {
                statuses[0]
            } else {
                statuses.allSatisfy { $0 == .ok } ? .ok : .partial
            }
        if style.json, flash.devices.count > 1 {
            let done = failure == nil ? statuses.count { $0 == .ok } : 0
            let result = JSONLine.Result(
                status: status, reason: failure?.reason,
                message: failure?.message(about: nil) ?? "\(done) of \(flash.devices.count) devices updated")
            session.console.result(JSONLine(.result(result)).text)
        }
        if let failure { throw failure }
        return status
    }

    // MARK: What is asked for

    private func profile() throws(Failure) -> DeviceProfile {
        guard let path = flash.profile else { return .band }
        let bytes = try InputFile.read(path)
        do throws(DeviceProfileError) {
            return try DeviceProfile(json: bytes)
        } catch {
            throw Failure(.config, subject: path, error.problems.joined(separator: "; "))
        }
    }

    private func package() throws(Failure) -> Package {
        do throws(PackageError) {
            return try Package.open(flash.package)
        } catch {
            throw Failure(error)
        }
    }

    private func preflight(_ package: Package, _ profile: DeviceProfile) throws(Failure) {
        do throws(UpdateError) {
            try Updater.preflight(package, profile: profile, options: updateOptions)
        } catch {
            let isNamed = error.message.contains(package.fileName)
            throw Failure(
                ExitStatus(error.code), subject: isNamed ? nil : flash.package, phase: error.phase,
                reason: error.reason, error.message)
        }
    }

    private func simulatedBands(_ profile: DeviceProfile) throws(Failure) -> [SimulatedBand] {
        var bands: [SimulatedBand] = []
        for id in flash.devices {
            guard case .simulated(let simulated) = id.kind else { throw .notYet("a device on the air") }
            bands.append(try SimulatedBand(simulated, profile: profile))
        }
        return bands
    }

    private func updater(over band: SimulatedBand, _ profile: DeviceProfile) -> Updater {
        var options = updateOptions
        if let limit = flash.connection.timeout { options.timeLimit = max(limit - elapsed(), .milliseconds(1)) }
        return Updater(
            transport: band.transport, profile: profile, options: options,
            checkpoints: StateFolder(environment: session.environment).checkpoints, clock: band.time.clock)
    }

    private var updateOptions: UpdateOptions {
        var options = UpdateOptions()
        options.method = flash.method == .blockAck ? .blockAck : .automatic
        options.applicationOnly = flash.only == .application
        options.firmwareVersion = flash.firmwareVersion
        options.statedCRC = flash.ignoresCRC ? .none : flash.crc.map { .value($0) } ?? .fileName
        options.gap = flash.gap
        options.maximumPacketLength = flash.mtu.map { $0 - 3 }
        options.allowDowngrade = flash.allowDowngrade
        options.skippedChecks = Set(flash.skippedChecks.map(\.check))
        options.verification =
            switch flash.verify {
            case nil: .whereItCan
            case true?: .always
            case false?: .never
            }
        options.connectRetries = flash.connection.connectRetries
        return options
    }
}
