import DFUKit
import DFUPackage
import DFUProtocol
import DFUSimulator
import DFUTransport

/// `dfu flash` at work: the package, then each device in its turn, several at once where that is asked for.
struct FlashRun: Sendable {
    /// A device that is reached, or why it is not.
    private typealias Target = Result<any TargetDevice, Failure>

    private let flash: Flash
    private let session: Session
    private let style: DeviceReporter.Style
    private let time: RunTime

    init(_ flash: Flash, _ session: Session) {
        self.flash = flash
        self.session = session
        style = flash.output.style(for: session.terminal)
        time = RunTime(limit: flash.connection.timeout)
    }

    func run() async throws(Failure) -> ExitStatus {
        if let file = flash.output.logFile { try session.console.openLog(file) }
        guard !flash.devices.isEmpty else { throw await deviceFinder.missingDevice() }
        if style.json { session.console.result(JSONLine(.start(version: Version.current)).text) }
        let summary: RunSummary
        do throws(Failure) {
            let profile = try DeviceProfile.load(flash.profile)
            let package = try package()
            let options = try flash.updateOptions()
            try preflight(package, profile, options)
            let captures = try captures()
            let targets = try await targets(profile, captures)
            summary = await updateAll(targets, with: package, profile, options, captures)
        } catch {
            tell(error)
            throw error
        }
        tell(summary)
        return summary.status
    }

    // MARK: The devices

    /// All devices, as many at once as there may be, begun in the order of the command line.
    private func updateAll(
        _ targets: [Target], with package: Package, _ profile: DeviceProfile, _ options: UpdateOptions,
        _ captures: [CaptureFile]
    ) async -> RunSummary {
        await withTaskGroup(of: (place: Int, entry: RunSummary.Entry).self) { group in
            var entries: [Int: RunSummary.Entry] = [:]
            for (place, target) in targets.enumerated() {
                if place >= flash.jobs, let ended = await group.next() { entries[ended.place] = ended.entry }
                let capture = captures.isEmpty ? nil : captures[place]
                var options = options
                options.otherDevices = Self.places(of: targets, without: place)
                group.addTask { [options] in
                    (place, await update(target, at: place, with: package, profile, options, capture))
                }
            }
            for await ended in group { entries[ended.place] = ended.entry }
            return RunSummary(
                entries: entries.sorted { $0.key < $1.key }.map(\.value), interruption: session.interruption())
        }
    }

    /// The addresses that are other devices' than the one at this place.
    private static func places(of targets: [Target], without place: Int) -> Set<String> {
        var places: Set<String> = []
        for (other, target) in targets.enumerated() where other != place {
            guard case .success(let target) = target else { continue }
            places.formUnion([target.device, target.address])
        }
        return places
    }

    private func update(
        _ target: Target, at place: Int, with package: Package, _ profile: DeviceProfile, _ options: UpdateOptions,
        _ capture: CaptureFile?
    ) async -> RunSummary.Entry {
        let id = flash.devices[place]
        var device = JSONLine.Device(id)
        var reporter: DeviceReporter {
            DeviceReporter(device: device, at: place, console: session.console, style: style) { time.elapsed }
        }
        let result: JSONLine.Result
        do throws(Failure) {
            let target = try target.get()
            device.device = target.device
            try checkTurn(of: target.device)
            device.address = target.address
            let update = DeviceUpdate(
                target: target, package: package, profile: profile, options: options,
                checkpoints: StateFolder(environment: session.environment).checkpoints, time: time,
                reporter: reporter, capture: capture, interruption: session.interruption)
            result = await update.run()
        } catch {
            result = JSONLine.Result(notBegun: device, error)
            await noteNotBegun(error, in: capture, reporter)
            reporter.end(result)
        }
        return RunSummary.Entry(device: device, result: result)
    }

    /// Writes down why an update was not begun, without the file that it may be about.
    private func noteNotBegun(_ failure: Failure, in capture: CaptureFile?, _ reporter: DeviceReporter) async {
        guard let capture else { return }
        let recorder = capture.recorder { reporter.warning(reason: $0, $1) }
        await capture.end(recorder, failure.status, because: failure.message)
    }

    /// Refuses a turn that comes too late.
    private func checkTurn(of device: String) throws(Failure) {
        if let stopped = session.interruption() {
            throw Failure(stopped, subject: device, reason: "notBegun", "stopped before this device's turn")
        }
        if let limit = time.limit, time.left == .zero {
            throw Failure(
                .link, subject: device, reason: "timeLimit",
                "the limit of \(limit) for the whole command passed before this device's turn; allow more time, or try "
                    + "again")
        }
    }

    // MARK: How it ended

    /// Tells programs of each device that nothing was begun, whatever was wrong; people hear it once.
    private func tell(_ failure: Failure) {
        guard style.json else { return }
        for id in flash.devices {
            let device = JSONLine.Device(id)
            let result = JSONLine.Result(notBegun: device, failure)
            session.console.result(JSONLine(.result(result), device: device).text)
        }
        guard flash.devices.count > 1 else { return }
        let result = JSONLine.Result(
            status: failure.status, reason: failure.reason, message: failure.message(about: nil))
        session.console.result(JSONLine(.result(result)).text)
    }

    /// Tells how the whole run ended, where it is about several devices.
    private func tell(_ summary: RunSummary) {
        guard flash.devices.count > 1 else { return }
        if style.json {
            let result = JSONLine.Result(status: summary.status, message: summary.title)
            session.console.result(JSONLine(.result(result)).text)
        } else {
            summary.lines.forEach { session.console.result($0) }
        }
    }

    // MARK: What is asked for

    /// The files that the updates are written down in: one for each device, or none.
    private func captures() throws(Failure) -> [CaptureFile] {
        guard let pattern = flash.connection.capture else { return [] }
        var files: [CaptureFile] = []
        for name in CaptureName.names(pattern, for: flash.devices) { files.append(try CaptureFile(name)) }
        return files
    }

    private func package() throws(Failure) -> Package {
        do throws(PackageError) {
            return try Package.open(flash.package)
        } catch {
            throw Failure(error)
        }
    }

    private func preflight(
        _ package: Package, _ profile: DeviceProfile, _ options: UpdateOptions
    ) throws(Failure) {
        do throws(UpdateError) {
            try Updater.preflight(package, profile: profile, options: options)
        } catch {
            let isNamed = error.message.contains(package.fileName)
            throw Failure(
                ExitStatus(error.code), subject: isNamed ? nil : flash.package, phase: error.phase,
                reason: error.reason, error.message)
        }
    }

    /// The devices in the order of the command line; what stops the whole command stands in all captures.
    private func targets(_ profile: DeviceProfile, _ captures: [CaptureFile]) async throws(Failure) -> [Target] {
        do throws(Failure) {
            return try await targets(profile)
        } catch {
            for (place, capture) in captures.enumerated() {
                let id = flash.devices[place]
                await noteNotBegun(error, in: capture, reporter(for: id, at: place))
            }
            throw error
        }
    }

    /// The devices in the order of the command line. One that is not there fails alone, in its turn.
    private func targets(_ profile: DeviceProfile) async throws(Failure) -> [Target] {
        var found = try await devicesOnAir()[...]
        var targets: [Target] = []
        for id in flash.devices {
            switch id.kind {
            case .simulated(let simulated): targets.append(.success(try SimulatedTarget(simulated, profile: profile)))
            case .onAir:
                guard let target = found.popFirst() else {
                    preconditionFailure("one of the devices was not looked for")
                }
                targets.append(target)
            }
        }
        return targets
    }

    /// Those that are on the air, found by one scan for all of them.
    private func devicesOnAir() async throws(Failure) -> [Target] {
        let ids = flash.devices.filter { !$0.isSimulated }
        guard !ids.isEmpty else { return [] }
        let finder = deviceFinder
        let transport = try await finder.transport()
        let places = flash.devices.indices.filter { !flash.devices[$0].isSimulated }
        for place in places { reporter(for: flash.devices[place], at: place).progress(UpdateProgress(phase: .scan)) }
        defer { for place in places { session.console.hideLine(at: place) } }
        return try await finder.find(ids, over: transport).map { finding in
            finding.map { AirDevice(device: $0.device, address: $0.address, transport: transport) }
        }
    }

    private var deviceFinder: DeviceFinder {
        DeviceFinder(options: flash.connection, session: session, left: { time.left }) { line in
            session.console.log(line.printable, isShown: style.verbosity >= 1)
        }
    }

    private func reporter(for id: DeviceID, at place: Int) -> DeviceReporter {
        DeviceReporter(device: JSONLine.Device(id), at: place, console: session.console, style: style) { time.elapsed }
    }
}

/// A device in range of an adapter.
private struct AirDevice: TargetDevice {
    let device: String
    let address: String
    let transport: any Transport
    let world: VirtualTime? = nil

    func finish() {}
}
