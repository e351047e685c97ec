internal import DFUPackage
internal import DFUProtocol
internal import DFUTransport

/// One device's update by block-ack, from connecting to the look whether the new firmware runs.
///
/// Used by one task from beginning to end.
final class BlockAckUpdate {
    static let protocolName = "block-ack"

    private let updater: Updater
    private let device: String
    private let package: Package
    private let observer: UpdateObserver
    private let transport: any Transport
    private let parameters: BlockAck.Parameters
    private let teller: ProgressTeller

    private var checkpoint: Checkpoint
    private var peripheral: (any Peripheral)?
    private var link: (any Link)?
    /// Held to the end: no other program is to get in while the device is away.
    private var reservation: DeviceReservation?
    private(set) var versionBefore: String?
    /// Whether the device has shown, or somebody vouches, that it speaks block-ack.
    private(set) var isProven = false
    /// Whether the device had a version to read when it was connected first.
    private var hasVersion = false
    private(set) var connections = 0
    private(set) var retries = 0
    /// The most bytes that the device has acknowledged so far.
    private var acknowledgedBytes = 0
    /// Losses of the link in a row, without a new block between them.
    private var losses = 0
    /// What the last write failed with for which this machine is the reason, not the device.
    private let machineFailure = Locked<TransportError?>(nil)
    /// Whether the device's services have been learnt anew.
    private var hasForgottenServices = false
    /// What a failure from here on leaves the device with.
    private var deviceState = UpdateError.DeviceState.asBefore

    init(updater: Updater, device: String, package: Package, observer: UpdateObserver) {
        self.updater = updater
        self.device = device
        self.package = package
        self.observer = observer
        teller = ProgressTeller(observer: observer)
        var profile = updater.profile
        if let gap = updater.options.gap { profile.blockAck.gap = gap }
        parameters = profile.blockAck
        if let recorder = observer.capture {
            transport = CapturingTransport(updater.transport, recorder: recorder, capturesPackets: false)
            recorder.measure(on: updater.clock)
            recorder.begin(device, package, profile: profile, options: updater.options)
        } else {
            transport = updater.transport
        }
        checkpoint =
            updater.checkpoints?.load(package: package.sha256.hexadecimal, device: device)
            ?? Checkpoint(package: package.sha256.hexadecimal, device: device)
    }

    func run() async throws(UpdateError) -> UpdateReport {
        try Updater.preflight(package, profile: updater.profile, options: updater.options)
        let preflight = Preflight(package: package, profile: updater.profile, options: updater.options)
        try await connect(phase: .connect)
        try await openLink(phase: .discover)
        // Whether the package can go by block-ack is no question before the device has turned out to be for it.
        let image = try preflight.blockAckImage()
        for warning in preflight.warnings { observer.warning?(warning) }
        try await proveIdentity()
        hasVersion = await versionLocation() != nil
        versionBefore = await readVersion()
        if checkpoint.completeWritten, let version = versionBefore, image.isVersion(version) {
            return finish(image, .ranAlready(version: version))
        }
        teller.setTotal(image.bytes.count)
        let verdict: UpdateReport.Verdict
        switch try await transfer(image) {
        case .accepted: verdict = try await confirm(image)
        case .unanswered: verdict = try await decide(image)
        }
        if updater.profile.setsTime { await setTime() }
        return finish(image, verdict)
    }

    private func finish(_ image: BlockAck.Image, _ verdict: UpdateReport.Verdict) -> UpdateReport {
        updater.checkpoints?.remove(device: device)
        return UpdateReport(
            protocolName: Self.protocolName, verdict: verdict, bytes: image.bytes.count,
            version: image.announcedVersion?.description,
            versionBefore: versionBefore, crc32: image.crc32, connections: connections, retries: retries)
    }

    func disconnect() async {
        await peripheral?.disconnect()
        peripheral = nil
        link = nil
    }
}

// MARK: Before the transfer

extension BlockAckUpdate {
    /// How long a service may be missing after all seemed to be resolved (bluez/bluez #1489: about a second).
    private static let lateServices = Duration.seconds(3)
    /// Between two tries to connect.
    private static let connectPause = Duration.milliseconds(300)

    private func reserve() async throws(UpdateError) {
        do throws(TransportError) {
            reservation = try await transport.reserve(device)
        } catch {
            throw failure(error)
        }
    }

    /// Connects, trying again where the device was heard.
    private func connect(phase: Phase) async throws(UpdateError) {
        teller.enter(phase)
        if reservation == nil { try await reserve() }
        let limit = phase == .reconnect ? parameters.limits.reconnect : updater.options.connectLimit
        var retriesLeft = updater.options.connectRetries
        while true {
            do throws(TransportError) {
                let peripheral = try await connectOnce(within: limit)
                if peripheral.wasConnected { noteForeignConnection() }
                return
            } catch {
                let isWorthATry = error.code == .connectFailed || error.code == .disconnected
                guard isWorthATry, retriesLeft > 0 else { throw connectFailure(error, phase) }
                retriesLeft -= 1
                log("connecting failed (\(error.message)); trying again, \(retriesLeft) more times at most")
                // What was in the way needs a moment to go.
                try? await updater.clock.sleep(for: Self.connectPause)
            }
        }
    }

    /// One try, with the connection parameters that the profile wants.
    private func connectOnce(within limit: Duration) async throws(TransportError) -> any Peripheral {
        let peripheral = try await transport.connect(
            to: device, asking: updater.profile.connection.parameters, timeout: limit)
        self.peripheral = peripheral
        connections += 1
        if let refusal = peripheral.unmetParameters { noteUnmetParameters(refusal) }
        return peripheral
    }

    private func connectFailure(_ error: TransportError, _ phase: Phase) -> UpdateError {
        let tries = updater.options.connectRetries + 1
        let count = tries == 1 ? "once" : "\(tries) times"
        return switch error.code {
        case .notFound where phase == .reconnect, .connectFailed where phase == .reconnect,
            .disconnected where phase == .reconnect:
            UpdateError(
                .linkLost, phase: phase, reason: "linkLost",
                message: "the link was lost, and it could not be reached again (\(error.message)); "
                    + "run the same command to go on", deviceState: deviceState, cause: error)
        case .connectFailed, .disconnected:
            UpdateError(
                .connectFailed, phase: phase, reason: "connectFailed",
                message:
                    "connecting failed \(count) (\(error.message)); bring it closer, and end other connections to it",
                deviceState: deviceState, cause: error)
        case .servicesUnresolved:
            UpdateError(error, phase: .discover, deviceState: deviceState)
        case .notFound, .timeout, .missing, .subscribeRefused, .attributeError, .environment, .permission, .cancelled,
            .bondMismatch:
            failure(error)
        }
    }

    /// Whoever named parameters is to know that they are not in force; others may look.
    private func noteUnmetParameters(_ refusal: String) {
        if case .parameters = updater.profile.connection {
            warn("connectionParametersNotSet", refusal)
        } else {
            log(refusal)
        }
    }

    private func noteForeignConnection() {
        warn(
            "connectedAlready",
            "it is connected already, by another program or an earlier run: that connection is used, and ended after the update"
        )
    }

    /// Subscribes; a link that is lost meanwhile is made again, and so is one whose services may be remembered wrongly.
    private func openLink(phase: Phase) async throws(UpdateError) {
        while true {
            guard let peripheral else { preconditionFailure("a link is opened on a connected device") }
            teller.enter(phase)
            do throws(TransportError) {
                link = try await peripheral.openLink(try await bindings(on: peripheral))
                return
            } catch {
                switch error.code {
                case .disconnected:
                    try noteLoss(gained: false)
                    await disconnect()
                    try await connect(phase: .reconnect)
                case .missing:
                    try await forgetServices(because: error)
                    await disconnect()
                    try await connect(phase: .connect)
                case .timeout:
                    throw UpdateError(
                        .silent, phase: phase, reason: "noAnswer",
                        message: "its subscription was not answered (\(error.message)); restart it, and try again",
                        deviceState: deviceState, cause: error)
                case .notFound, .connectFailed, .servicesUnresolved, .bondMismatch, .subscribeRefused, .attributeError,
                    .environment, .permission, .cancelled:
                    throw failure(error)
                }
            }
        }
    }

    /// Has the services learnt anew, once, where what is missing may be a memory of what the device was before.
    private func forgetServices(because error: TransportError) async throws(UpdateError) {
        var cure = "a device with other UUIDs needs --profile"
        if !hasForgottenServices {
            hasForgottenServices = true
            let memory: ServiceMemory
            do throws(TransportError) {
                memory = try await transport.forgetServices(of: device)
            } catch {
                throw failure(error)
            }
            switch memory {
            case .forgotten: return log("\(error.message): its services are looked for anew")
            case .keptWithPairing:
                cure =
                    "what is remembered of a paired device may be out of date: dfu forget \(device), then pair it again"
            case .none: break
            }
        }
        throw UpdateError(
            .refused, phase: .discover, reason: "noKnownService",
            message: "it offers no update that this tool knows (\(error.message)); \(cure)", cause: error)
    }

    /// Where the device has what the protocol needs; it may show it a moment after it is connected.
    private func bindings(on peripheral: any Peripheral) async throws(TransportError) -> [Endpoint: EndpointBinding] {
        let profile = updater.profile
        let services = await peripheral.services(within: Self.lateServices) { services in
            (try? profile.bindings(in: services)) != nil
        }
        return try profile.bindings(in: services)
    }

    /// Makes the link anew after it was lost.
    private func reopen() async throws(UpdateError) {
        await disconnect()
        try await connect(phase: .reconnect)
        try await openLink(phase: .reconnect)
    }

    /// Counts a loss of the link, and gives up after as many in a row as a block has tries.
    private func noteLoss(gained: Bool) throws(UpdateError) {
        losses = gained ? 1 : losses + 1
        guard losses >= parameters.tries else { return }
        throw UpdateError(
            .linkLost, phase: teller.phase, reason: "linkLost",
            message: "the link was lost\(losses == 1 ? "" : " \(losses) times in a row without a new block"); "
                + "bring the device closer and run the same command to go on", deviceState: deviceState)
    }

    /// Asks the battery question: the proof that this is a block-ack device, and the only frame written before it.
    private func proveIdentity() async throws(UpdateError) {
        guard updater.profile.identification == .battery else {
            isProven = true
            return
        }
        let level = try await persist { _ in BlockAck.BatteryQuery(by: self.parameters) }
        isProven = true
        let minimum = updater.profile.minimumBattery
        let waived = updater.options.skippedChecks.contains(.battery)
        switch level {
        case .percent(let percent) where percent >= minimum: log("battery at \(percent) %")
        case .percent(let percent):
            let message = "its battery is at \(percent) %, and an update wants \(minimum) %"
            guard waived else { throw unfit("batteryLow", message + "; charge it, or use --skip-check battery") }
            warn("batteryLow", message)
        case .unknown:
            let message = "it does not tell its battery level"
            guard waived else { throw unfit("batteryUnknown", message + "; --skip-check battery goes on without it") }
            warn("batteryUnknown", message)
        }
    }

    private func unfit(_ reason: String, _ message: String) -> UpdateError {
        UpdateError(.refused, phase: .check, reason: reason, message: message)
    }
}

// MARK: The transfer

extension BlockAckUpdate {
    /// Sends the image, over as many links as it takes.
    private func transfer(_ image: BlockAck.Image) async throws(UpdateError) -> BlockAck.Transfer.Outcome {
        try await persist { link in
            var limit = link.maximumWriteLength
            if let asked = self.updater.options.maximumPacketLength { limit = min(limit, asked) }
            return BlockAck.Transfer(
                image, by: self.parameters, maximumWriteLength: limit, learnt: self.checkpoint.learnt)
        } after: { transfer in
            self.retries += transfer.statistics.retries
            self.checkpoint.learnt = transfer.learnt
            self.checkpoint.completeWritten = transfer.phase == .verify
            self.saveCheckpoint()
            // Blocks that the device lost and got again are no gain: it could lose them for ever.
            defer { self.acknowledgedBytes = max(self.acknowledgedBytes, transfer.progress.bytes) }
            return transfer.progress.bytes > self.acknowledgedBytes
        }
    }

    private func saveCheckpoint() {
        do {
            try updater.checkpoints?.save(checkpoint)
        } catch {
            log("the checkpoint cannot be written; the device will say where to go on")
        }
    }
}

// MARK: After the last byte

extension BlockAckUpdate {
    /// How long a device that has accepted an image may take to drop the link; one that has not by then does not reboot.
    private static let rebootLimit = Duration.seconds(10)

    /// Looks whether the image that the device accepted runs.
    private func confirm(_ image: BlockAck.Image) async throws(UpdateError) -> UpdateReport.Verdict {
        deviceState = .unknown
        if updater.options.verification == .never { return .accepted(because: "whether it runs was not looked at") }
        guard let expected = image.announcedVersion else {
            return .accepted(because: "the device was asked to skip its version check, so versions are not compared")
        }
        guard hasVersion else {
            guard updater.options.verification == .always else {
                return .accepted(because: "it has no version to read, so whether it runs was not seen")
            }
            throw unverified("the device accepted it, but has no version to read: whether it runs was not seen")
        }
        switch try await look(for: image) {
        case .running(let version): return .running(version: version)
        case .other(let version):
            deviceState = .asBefore
            throw unverified(
                "the device accepted version \(expected), but runs \(version)"
                    + (versionBefore == version ? ", as before" : "")
                    + "; restart it and look at its version, or run the update again")
        case .gone:
            throw unverified(
                "the device accepted it, but did not come back within \(parameters.limits.reconnect); look at it, "
                    + "and wake it up")
        }
    }

    private enum Sighting {
        case running(version: String)
        case other(version: String)
        case gone
    }

    /// Waits for the reboot of a device that has accepted an image, and reads the version that runs then.
    private func look(for image: BlockAck.Image) async throws(UpdateError) -> Sighting {
        let elapsed = updater.clock.stopwatch()
        while true {
            if link != nil {
                teller.enter(.confirm)
                let wentDown = try await run(Disconnection(limit: Self.rebootLimit))
                if !wentDown, let version = await readVersion() {
                    return image.isVersion(version) ? .running(version: version) : .other(version: version)
                }
            }
            await disconnect()
            guard let version = try await versionAfterReboot() else { return .gone }
            if image.isVersion(version) { return .running(version: version) }
            // The link may have been lost just before the reboot: as long as that is possible, wait for it.
            guard elapsed() < parameters.limits.reconnect else { return .other(version: version) }
            try? await openLink(phase: .confirm)
        }
    }

    /// Finds out what became of an image whose verdict never came: the version decides, then one `start`.
    private func decide(_ image: BlockAck.Image) async throws(UpdateError) -> UpdateReport.Verdict {
        deviceState = .unknown
        log("no answer to the last command: looking at the version")
        if let version = try await newVersion(of: image) { return .running(version: version) }
        if peripheral == nil { try await connect(phase: .reconnect) }
        if link == nil { try await openLink(phase: .reconnect) }
        do throws(UpdateError) {
            switch try await run(BlockAck.Completion(of: image, by: parameters)) {
            case .accepted:
                teller.accepted()
                return try await confirm(image)
            }
        } catch {
            guard error.code == .unverified || error.code == .linkLost else { throw error }
            log(error.message)
        }
        if let version = try await newVersion(of: image) { return .running(version: version) }
        throw unverified(
            "all was sent, but the device never said whether it took it; look at the version that it shows")
    }

    /// The version that runs after a reboot, where it is the image's.
    private func newVersion(of image: BlockAck.Image) async throws(UpdateError) -> String? {
        guard image.announcedVersion != nil, hasVersion else { return nil }
        await disconnect()
        guard let version = try await versionAfterReboot() else {
            throw unverified(
                "all was sent, but the device gave no verdict and did not come back within "
                    + "\(parameters.limits.reconnect); look at it, and run the same command again")
        }
        guard image.isVersion(version) else { return nil }
        teller.accepted()
        return version
    }

    /// Waits for the device to come back, and reads its version; nil where it did not come back in its limit.
    private func versionAfterReboot() async throws(UpdateError) -> String? {
        let elapsed = updater.clock.stopwatch()
        var left = parameters.limits.reconnect
        teller.enter(.reconnect)
        while left > .zero {
            do throws(TransportError) {
                _ = try await connectOnce(within: left)
                teller.enter(.confirm)
                if let version = await readVersion() { return version }
            } catch {
                switch error.code {
                case .cancelled: throw failure(error)
                case .environment, .permission: throw unverified("the device accepted it, but \(error.message)")
                case .notFound, .connectFailed, .disconnected, .servicesUnresolved, .bondMismatch, .timeout, .missing,
                    .subscribeRefused, .attributeError:
                    log("not back yet (\(error.message))")
                }
            }
            await disconnect()
            // A failure at once must not spin.
            try? await updater.clock.sleep(for: .milliseconds(250))
            left = parameters.limits.reconnect - elapsed()
        }
        return nil
    }

    /// Sets the clock, which the reboot cleared; without it the update is still one.
    private func setTime() async {
        guard let time = updater.localTime() else {
            return warn("timeNotSet", "its clock could not be set: this machine's date does not fit its form")
        }
        do throws(UpdateError) {
            if peripheral == nil { try await connect(phase: .reconnect) }
            if link == nil { try await openLink(phase: .reconnect) }
            switch try await run(BlockAck.SetTime(time, by: parameters)) {
            case .set: log("the time is set")
            case .leftOut: log("the device has no clock to set")
            }
        } catch {
            warn("timeNotSet", "its clock could not be set (\(error.message))")
        }
    }

    private func unverified(_ message: String) -> UpdateError {
        UpdateError(.unverified, phase: teller.phase, message: message, deviceState: deviceState)
    }
}

// MARK: Versions

extension BlockAckUpdate {
    private func versionLocation() async -> (service: BluetoothUUID, characteristic: BluetoothUUID)? {
        guard let uuid = updater.profile.versionCharacteristic, let peripheral else { return nil }
        // A device that had one has one again, maybe a moment later.
        let services = await peripheral.services(within: hasVersion ? Self.lateServices : .zero) { services in
            services.contains { $0.canRead(uuid) }
        }
        return services.first { $0.canRead(uuid) }.map { ($0.uuid, uuid) }
    }

    /// The version that runs, where the device can tell.
    private func readVersion() async -> String? {
        guard let location = await versionLocation(), let peripheral else { return nil }
        do throws(TransportError) {
            let bytes = try await peripheral.read(location.characteristic, of: location.service)
            // Some devices end the text with a zero byte.
            return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        } catch {
            log("its version cannot be read (\(error.message))")
            return nil
        }
    }
}

// MARK: Running procedures, and telling about them

extension BlockAckUpdate {
    /// Runs a procedure on the link, and again over a new link as long as losing it can be repaired.
    private func persist<P: CapturedProcedure>(
        _ make: (any Link) -> P, after: (P) -> Bool = { _ in false }
    ) async throws(UpdateError) -> P.Outcome {
        while true {
            guard let link else { preconditionFailure("a procedure runs on an open link") }
            var procedure = make(link)
            let result = await drive(&procedure, over: link)
            let gained = after(procedure)
            switch result {
            case .success(let outcome): return outcome
            case .failure(let error):
                try throwMachineFailure()
                guard error.code == .linkLost else { throw failure(error) }
                try noteLoss(gained: gained)
                try await reopen()
            }
        }
    }

    /// Runs a procedure on the link once.
    private func run<P: CapturedProcedure>(_ procedure: P) async throws(UpdateError) -> P.Outcome {
        guard let link else { preconditionFailure("a procedure runs on an open link") }
        var procedure = procedure
        let result = await drive(&procedure, over: link)
        switch result {
        case .success(let outcome): return outcome
        case .failure(let error):
            try throwMachineFailure()
            throw failure(error)
        }
    }

    private func drive<P: CapturedProcedure>(
        _ procedure: inout P, over link: any Link
    ) async -> Result<P.Outcome, ProcedureError> {
        guard let recorder = observer.capture else {
            return await DFUKit.run(&procedure, over: link, clock: updater.clock, observer: procedureObserver)
        }
        var recording = recorder.recording(procedure, in: BlockAckDialect(parameters: parameters))
        defer { procedure = recording.procedure }
        return await DFUKit.run(&recording, over: link, clock: updater.clock, observer: procedureObserver)
    }

    /// What a procedure says of a device that could not be written to is not why it failed.
    private func throwMachineFailure() throws(UpdateError) {
        if let error = machineFailure.withLock({ $0.take() }) { throw failure(error) }
    }

    private var procedureObserver: ProcedureObserver {
        let teller = teller
        let machineFailure = machineFailure
        return ProcedureObserver(
            progress: { teller.advance($0, $1) }, log: observer.log, packet: observer.packet,
            writeFailure: { error in
                guard error.code == .environment || error.code == .permission else { return }
                machineFailure.withLock { $0 = error }
            })
    }

    private func log(_ line: String) {
        observer.capture?.remark(line)
        observer.log?(line)
    }

    private func warn(_ reason: String, _ message: String) {
        observer.capture?.remark(message)
        observer.warning?(UpdateWarning(reason: reason, message: message))
    }

    private func failure(_ error: TransportError) -> UpdateError {
        var failure = UpdateError(error, phase: teller.phase, deviceState: deviceState)
        if error.code == .cancelled {
            failure.message =
                deviceState == .asBefore
                ? "stopped; the device goes on with the firmware that it runs"
                : "stopped; the device has the whole image, and whether it runs was not looked at"
        }
        return failure
    }

    private func failure(_ error: ProcedureError) -> UpdateError {
        // Once the verdict was asked for, only the device's own no tells what it runs.
        let isUndecided = checkpoint.completeWritten && error.code != .refused
        return UpdateError(error, phase: teller.phase, deviceState: isUndecided ? .unknown : deviceState)
    }
}

extension GATTService {
    fileprivate func canRead(_ uuid: BluetoothUUID) -> Bool {
        characteristics.contains { $0.uuid == uuid && $0.properties.contains(.read) }
    }
}
