internal import DFUPackage
internal import DFUProtocol
internal import DFUTransport

/// One device's update by block-ack, from the open connection to the look whether the new firmware runs.
///
/// Used by one task from beginning to end.
final class BlockAckUpdate {
    static let protocolName = "block-ack"

    private let session: DeviceSession
    private let parameters: BlockAck.Parameters
    /// The most bytes that the device has acknowledged so far.
    private var acknowledgedBytes = 0

    private var profile: DeviceProfile { session.updater.profile }
    private var options: UpdateOptions { session.updater.options }
    private var teller: ProgressTeller { session.teller }

    init(_ session: DeviceSession) {
        self.session = session
        parameters = Self.parameters(of: session.updater)
        session.rules = Self.rules(of: session.updater)
        session.isUndecided = session.checkpoint.completeWritten
    }

    private static func parameters(of updater: Updater) -> BlockAck.Parameters {
        var parameters = updater.profile.blockAck
        if let gap = updater.options.gap { parameters.gap = gap }
        return parameters
    }

    /// What block-ack makes of the way to a device.
    static func rules(of updater: Updater) -> DeviceSession.Rules {
        let parameters = parameters(of: updater)
        return DeviceSession.Rules(
            tries: parameters.tries, unit: "block", reconnectLimit: parameters.limits.reconnect,
            dialect: BlockAckDialect(parameters: parameters))
    }

    func run() async throws(UpdateError) -> UpdateReport {
        let preflight = Preflight(package: session.package, profile: profile, options: options)
        let profile = profile
        try await session.openLink(phase: .discover) { services throws(TransportError) in
            try profile.bindings(in: services)
        }
        // Whether the package can go by block-ack is no question before the device has turned out to be for it.
        let image = try preflight.blockAckImage()
        for warning in preflight.warnings { session.observer.warning?(warning) }
        try await proveIdentity()
        await session.noteVersionBefore()
        if session.checkpoint.completeWritten, let version = session.versionBefore, image.isVersion(version) {
            return finish(image, .ranAlready(version: version))
        }
        teller.setTotal(image.bytes.count)
        let verdict: UpdateReport.Verdict
        switch try await transfer(image) {
        case .accepted: verdict = try await confirm(image)
        case .unanswered: verdict = try await decide(image)
        }
        if profile.setsTime { await setTime() }
        return finish(image, verdict)
    }

    private func finish(_ image: BlockAck.Image, _ verdict: UpdateReport.Verdict) -> UpdateReport {
        session.report(
            verdict, bytes: image.bytes.count, version: image.announcedVersion?.description, crc32: image.crc32)
    }
}

// MARK: Before the transfer

extension BlockAckUpdate {
    /// Asks the battery question: the proof that this is a block-ack device, and the only frame written before it.
    private func proveIdentity() async throws(UpdateError) {
        guard profile.identification == .battery else {
            session.protocolName = Self.protocolName
            return
        }
        let level = try await session.persist { _ in BlockAck.BatteryQuery(by: self.parameters) }
        session.protocolName = Self.protocolName
        let minimum = profile.minimumBattery
        let waived = options.skippedChecks.contains(.battery)
        switch level {
        case .percent(let percent) where percent >= minimum: session.log("battery at \(percent) %")
        case .percent(let percent):
            let message = "its battery is at \(percent) %, and an update wants \(minimum) %"
            guard waived else { throw unfit("batteryLow", message + "; charge it, or use --skip-check battery") }
            session.warn("batteryLow", message)
        case .unknown:
            let message = "it does not tell its battery level"
            guard waived else { throw unfit("batteryUnknown", message + "; --skip-check battery goes on without it") }
            session.warn("batteryUnknown", message)
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
        try await session.persist { link in
            var limit = link.maximumWriteLength
            if let asked = self.options.maximumPacketLength { limit = min(limit, asked) }
            return BlockAck.Transfer(
                image, by: self.parameters, maximumWriteLength: limit, learnt: self.session.checkpoint.blockAck)
        } after: { transfer in
            self.session.retries += transfer.statistics.retries
            self.session.checkpoint.blockAck = transfer.learnt
            self.session.checkpoint.completeWritten = transfer.phase == .verify
            self.session.isUndecided = self.session.checkpoint.completeWritten
            self.session.saveCheckpoint()
            // Blocks that the device lost and got again are no gain: it could lose them for ever.
            defer { self.acknowledgedBytes = max(self.acknowledgedBytes, transfer.progress.bytes) }
            return transfer.progress.bytes > self.acknowledgedBytes
        }
    }
}

// MARK: After the last byte

extension BlockAckUpdate {
    /// How long a device that has accepted an image may take to drop the link; one that has not by then does not reboot.
    private static let rebootLimit = Duration.seconds(10)

    /// Looks whether the image that the device accepted runs.
    private func confirm(_ image: BlockAck.Image) async throws(UpdateError) -> UpdateReport.Verdict {
        session.deviceState = .unknown
        if options.verification == .never { return .accepted(because: "whether it runs was not looked at") }
        guard let expected = image.announcedVersion else {
            return .accepted(because: "the device was asked to skip its version check, so versions are not compared")
        }
        guard session.hasVersion else {
            guard options.verification == .always else {
                return .accepted(because: "it has no version to read, so whether it runs was not seen")
            }
            throw session.unverified("the device accepted it, but has no version to read: whether it runs was not seen")
        }
        switch try await look(for: image) {
        case .running(let version): return .running(version: version)
        case .other(let version):
            session.deviceState = .asBefore
            throw session.unverified(
                "the device accepted version \(expected), but runs \(version)"
                    + (session.versionBefore == version ? ", as before" : "")
                    + "; restart it and look at its version, or run the update again")
        case .gone:
            throw session.unverified(
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
        let elapsed = session.updater.clock.stopwatch()
        while true {
            if session.link != nil {
                teller.enter(.confirm)
                let wentDown = try await session.run(Disconnection(limit: Self.rebootLimit))
                if !wentDown, let version = await session.readVersion() {
                    return image.isVersion(version) ? .running(version: version) : .other(version: version)
                }
            }
            await session.disconnect()
            guard let version = try await versionAfterReboot() else { return .gone }
            if image.isVersion(version) { return .running(version: version) }
            // The link may have been lost just before the reboot: as long as that is possible, wait for it.
            guard elapsed() < parameters.limits.reconnect else { return .other(version: version) }
            try? await session.openLinkAgain(phase: .confirm)
        }
    }

    /// Finds out what became of an image whose verdict never came: the version decides, then one `start`.
    private func decide(_ image: BlockAck.Image) async throws(UpdateError) -> UpdateReport.Verdict {
        session.deviceState = .unknown
        session.log("no answer to the last command: looking at the version")
        if let version = try await newVersion(of: image) { return .running(version: version) }
        if session.peripheral == nil { try await session.connect(phase: .reconnect) }
        if session.link == nil { try await session.openLinkAgain(phase: .reconnect) }
        do throws(UpdateError) {
            switch try await session.run(BlockAck.Completion(of: image, by: parameters)) {
            case .accepted:
                teller.accepted()
                return try await confirm(image)
            }
        } catch {
            guard error.code == .unverified || error.code == .linkLost else { throw error }
            session.log(error.message)
        }
        if let version = try await newVersion(of: image) { return .running(version: version) }
        throw session.unverified(
            "all was sent, but the device never said whether it took it; look at the version that it shows")
    }

    /// The version that runs after a reboot, where it is the image's.
    private func newVersion(of image: BlockAck.Image) async throws(UpdateError) -> String? {
        guard image.announcedVersion != nil, session.hasVersion else { return nil }
        await session.disconnect()
        guard let version = try await versionAfterReboot() else {
            throw session.unverified(
                "all was sent, but the device gave no verdict and did not come back within "
                    + "\(parameters.limits.reconnect); look at it, and run the same command again")
        }
        guard image.isVersion(version) else { return nil }
        teller.accepted()
        return version
    }

    /// Waits for the device to come back, and reads its version; nil where it did not come back in its limit.
    private func versionAfterReboot() async throws(UpdateError) -> String? {
        let elapsed = session.updater.clock.stopwatch()
        var left = parameters.limits.reconnect
        teller.enter(.reconnect)
        while left > .zero {
            do throws(TransportError) {
                try await session.connectOnce(within: left)
                teller.enter(.confirm)
                if let version = await session.readVersion() { return version }
            } catch {
                switch error.code {
                case .cancelled: throw session.failure(error)
                case .environment, .permission: throw session.unverified("the device accepted it, but \(error.message)")
                case .notFound, .connectFailed, .disconnected, .servicesUnresolved, .bondMismatch, .timeout, .missing,
                    .subscribeRefused, .attributeError:
                    session.log("not back yet (\(error.message))")
                }
            }
            await session.disconnect()
            // A failure at once must not spin.
            try? await session.updater.clock.sleep(for: .milliseconds(250))
            left = parameters.limits.reconnect - elapsed()
        }
        return nil
    }

    /// Sets the clock, which the reboot cleared; without it the update is still one.
    private func setTime() async {
        guard let time = session.updater.localTime() else {
            return session.warn("timeNotSet", "its clock could not be set: this machine's date does not fit its form")
        }
        do throws(UpdateError) {
            if session.peripheral == nil { try await session.connect(phase: .reconnect) }
            if session.link == nil { try await session.openLinkAgain(phase: .reconnect) }
            switch try await session.run(BlockAck.SetTime(time, by: parameters)) {
            case .set: session.log("the time is set")
            case .leftOut: session.log("the device has no clock to set")
            }
        } catch {
            session.warn("timeNotSet", "its clock could not be set (\(error.message))")
        }
    }
}
