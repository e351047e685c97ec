internal import DFUPackage
internal import DFUProtocol
internal import DFUTransport

/// One device's update by Nordic's Secure DFU, from the open connection to the look whether the application runs.
///
/// Used by one task from beginning to end.
final class SecureUpdate {
    static let protocolName = "secure"

    private let session: DeviceSession
    private let modes: DeviceModes
    private let parts: [SecurePart]
    private let parameters: SecureDFU.Parameters
    /// The most bytes of the part that the device has acknowledged so far.
    private var acknowledgedBytes = 0

    private var options: UpdateOptions { session.updater.options }

    init(_ session: DeviceSession, _ parts: [SecurePart]) {
        self.session = session
        self.parts = parts
        var parameters = SecureDFU.Parameters()
        if let interval = session.updater.options.receiptInterval {
            parameters.receipts = interval == 0 ? .none : .adaptive(limit: interval)
        }
        self.parameters = parameters
        session.rules = Self.rules
        session.protocolName = Self.protocolName
        modes = DeviceModes(session)
    }

    /// What Secure DFU makes of the way to a device.
    static var rules: DeviceSession.Rules { DeviceSession.Rules(unit: "object", dialect: SecureDialect()) }

    /// Updates the device that is connected and shows `found`.
    func run(_ found: DetectedProtocol) async throws(UpdateError) -> UpdateReport {
        let preflight = Preflight(package: session.package, profile: session.updater.profile, options: options)
        for warning in preflight.warnings { session.observer.warning?(warning) }
        for part in parts { session.log("to be sent: \(part.description)") }
        session.teller.setTotal(parts.reduce(0) { $0 + $1.byteCount }, parts: parts.count)
        if case .secureApplication = found {
            session.teller.enter(.check)
            await session.noteVersionBefore()
        }
        try await modes.reachBootloader(from: found)
        return report(try await sendAll())
    }

    private func report(_ verdict: UpdateReport.Verdict) -> UpdateReport {
        guard let last = parts.last else { preconditionFailure("a package has a part") }
        return session.report(
            verdict, bytes: parts.reduce(0) { $0 + $1.byteCount },
            version: last.packet.firmwareVersion.map { "\($0)" }, crc32: Checksum.crc32(last.part.firmware))
    }
}

// MARK: The parts

extension SecureUpdate {
    private enum End {
        case installed
        /// The device has it already, or a newer one.
        case present
        /// It may be installed: the last answer never came.
        case unanswered
    }

    /// Sends the parts in their order, over as many links and restarts as it takes.
    private func sendAll() async throws(UpdateError) -> UpdateReport.Verdict {
        var place = 0
        var bytesBefore = 0
        while true {
            let part = parts[place]
            session.teller.begin(part: place + 1, after: bytesBefore)
            try await openLink()
            let end = try await send(part, isFollowed: place + 1 < parts.count)
            guard place + 1 < parts.count else {
                if let verdict = try await confirm(part, end) { return verdict }
                // It is in its bootloader again, which says where to go on.
                continue
            }
            switch end {
            case .installed, .present:
                place += 1
                bytesBefore += part.byteCount
                acknowledgedBytes = 0
            case .unanswered:
                session.log("no answer to the last command: asking for the same part again tells whether it is there")
                try session.noteLoss(gained: false)
            }
            if end != .present { try await modes.reachBootloaderAgain() }
        }
    }

    /// Opens the bootloader's endpoints, where they are not open.
    private func openLink() async throws(UpdateError) {
        guard session.link == nil else { return }
        try await session.openLink(phase: .discover) { services throws(TransportError) in
            try DetectedProtocol.bootloaderBindings(in: services)
        } reconnect: { () throws(UpdateError) in
            // A bootloader that has done its part is heard for a moment before it leaves.
            try await self.modes.reachBootloaderAgain()
        }
    }

    /// Sends one part.
    private func send(_ part: SecurePart, isFollowed: Bool) async throws(UpdateError) -> End {
        do throws(UpdateError) {
            return switch try await transfer(part) {
            case .installed: .installed
            case .unanswered: .unanswered
            }
        } catch {
            guard isFollowed, part.isSystem, error.reason == "versionNotNewer" else {
                throw SecureRefusal.explained(error, of: part)
            }
            session.log(
                "the \(part.part.role.words) of the package (version \(part.firmwareVersion)) is on the device, or a "
                    + "newer one: going on with the next part")
            return .present
        }
    }

    private func transfer(_ part: SecurePart) async throws(UpdateError) -> SecureDFU.Transfer.Outcome {
        try await session.persist { link in
            let limit = min(link.maximumWriteLength, self.options.maximumPacketLength ?? .max)
            return SecureDFU.Transfer(
                part.image, by: self.parameters, maximumWriteLength: limit, learnt: self.session.checkpoint.secure)
        } after: { transfer in
            self.session.retries += transfer.statistics.objectsResent + transfer.statistics.requestsRepeated
            self.session.checkpoint.secure = transfer.learnt
            self.session.saveCheckpoint()
            // What the device lost and got again is no gain: it could lose it for ever.
            defer { self.acknowledgedBytes = max(self.acknowledgedBytes, transfer.progress.bytes) }
            return transfer.progress.bytes > self.acknowledgedBytes
        } reopen: { () throws(UpdateError) in
            // It may have gone back into its application meanwhile.
            try await self.modes.reachBootloaderAgain()
            try await self.openLink()
        }
    }
}

// MARK: After the last byte

extension SecureUpdate {
    /// How long a device that has accepted all may take to drop the link.
    private static let resetLimit = Duration.seconds(10)

    /// Looks what became of the last part; nil where the device is in its bootloader, and has not taken it.
    private func confirm(_ part: SecurePart, _ end: End) async throws(UpdateError) -> UpdateReport.Verdict? {
        session.deviceState = .unknown
        if end == .unanswered { session.log("no answer to the last command: looking for the application") }
        if end == .installed, options.verification == .never {
            return .accepted(because: "whether it runs was not looked at")
        }
        if part.isSystem, end != .unanswered {
            guard options.verification == .always else {
                return .accepted(
                    because: "a \(part.part.role.words) has no version to read, so whether it runs was not seen")
            }
            throw session.unverified(
                "the device accepted the \(part.part.role.words), and whether it runs cannot be seen from here")
        }
        if end == .installed, session.link != nil {
            session.teller.enter(.activate)
            _ = try await session.run(Disconnection(limit: Self.resetLimit))
        }
        await session.disconnect()
        switch (try await modes.lookForApplication(), end) {
        case (.running(let version?), .installed):
            // A version that did not change proves nothing, unless it is the package's.
            guard version == session.versionBefore, version != part.firmwareVersion else {
                return .running(version: version)
            }
            return try unproven("the device accepted it, and its application runs with version \(version), as before")
        case (.running(nil), .installed): return .started
        case (.running(let version?), _) where session.versionBefore != nil && version != session.versionBefore:
            session.teller.accepted()
            return .running(version: version)
        case (.running(let version?), _) where session.versionBefore != nil:
            throw session.unverified(
                "all was sent, but the last answer was lost, and its application runs with version \(version), as before; "
                    + "run the same command again")
        case (.running, _):
            return try unproven(
                "its last answer was lost, and its application runs again, which may be the one from before")
        case (.expected, _):
            return try unproven(
                "something is on the air at \(session.address), where its application is to be expected, and was not asked"
            )
        case (.bootloader, .installed):
            session.deviceState = .bootloader
            throw session.unverified(
                "the device accepted it, but is in its bootloader again; run the same command again")
        case (.bootloader, _):
            session.deviceState = .bootloader
            try session.noteLoss(gained: false)
            return nil
        case (.gone, _):
            throw session.unverified(
                (end == .installed ? "the device accepted it, but" : "all was sent, but the last answer was lost, and")
                    + " its application was not heard within \(options.returnLimit); look at it, and wake it up")
        }
    }

    /// A good end without a proof, where none was asked for.
    private func unproven(_ reason: String) throws(UpdateError) -> UpdateReport.Verdict {
        guard options.verification != .always else { throw session.unverified(reason) }
        return .accepted(because: reason)
    }
}
