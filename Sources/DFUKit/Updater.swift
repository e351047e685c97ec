public import DFUPackage
public import DFUProtocol
public import DFUTransport

/// Updates devices over a transport.
///
/// A value without state of its own: one updater serves any number of updates, one after the other or at once. What a
/// device keeps of an interrupted update it says itself when the next one asks.
public struct Updater: Sendable {
    /// How devices are reached.
    public var transport: any Transport
    /// What kind of device it is.
    public var profile: DeviceProfile
    /// What whoever asks decides.
    public var options: UpdateOptions
    /// Where interrupted updates leave what the device cannot tell; nil for nowhere.
    public var checkpoints: CheckpointStore?
    /// The time that limits and pauses are measured on.
    public var clock: any Clock<Duration>
    /// The local time, for devices whose clock is set; nil where it cannot be told.
    public var localTime: @Sendable () -> BlockAck.PackedTime?

    /// An updater over `transport`.
    public init(
        transport: any Transport, profile: DeviceProfile = .band, options: UpdateOptions = UpdateOptions(),
        checkpoints: CheckpointStore? = nil, clock: any Clock<Duration> = ContinuousClock(),
        localTime: @escaping @Sendable () -> BlockAck.PackedTime? = { .now() }
    ) {
        self.transport = transport
        self.profile = profile
        self.options = options
        self.checkpoints = checkpoints
        self.clock = clock
        self.localTime = localTime
    }

    /// Refuses what can be judged without a device: a package at fault and, where `options` name the protocol, one that
    /// does not go by it. `update` does so too.
    public static func preflight(
        _ package: Package, profile: DeviceProfile, options: UpdateOptions
    ) throws(UpdateError) {
        let preflight = Preflight(package: package, profile: profile, options: options)
        try preflight.checkPackage()
        switch options.method {
        case .blockAck: _ = try preflight.blockAckImage()
        case .secure: _ = try preflight.secureParts()
        case .automatic:
            // What is asked for by name is there, whatever the protocol.
            guard package.kind == .nordicSecure else { return }
            do throws(PackageError) {
                _ = try preflight.chosenParts()
            } catch {
                throw UpdateError(error)
            }
        }
    }

    /// Updates one device, and returns when it has accepted the new firmware and, where that is looked for, runs it.
    ///
    /// Cancelling the task tells the device and disconnects; the error's code is then `.aborted`. However it ends, the
    /// connection is closed when this returns.
    /// - Parameters:
    ///   - device: The address, as the transport writes it.
    ///   - address: Where it is now, where that is another address: its bootloader's.
    ///   - package: What the device is to run. A package with problems is refused before anything is sent.
    ///   - observer: Hears how far it is.
    public func update(
        _ device: String, at address: String? = nil, with package: Package,
        observer: UpdateObserver = UpdateObserver()
    ) async throws(UpdateError) -> UpdateReport {
        let result = await limitedAttempt(device, address ?? device, package, observer)
        observer.capture?.end(result)
        return try result.get()
    }

    /// Attempts it within the limit of the whole.
    private func limitedAttempt(
        _ device: String, _ address: String, _ package: Package, _ observer: UpdateObserver
    ) async -> Result<UpdateReport, UpdateError> {
        guard let limit = options.timeLimit else { return await attempt(device, address, package, observer) }
        let clock = clock
        return await withTaskGroup { group in
            group.addTask { () -> Result<UpdateReport, UpdateError>? in
                await attempt(device, address, package, observer)
            }
            group.addTask { () -> Result<UpdateReport, UpdateError>? in
                try? await clock.sleep(for: limit, tolerance: .zero)
                return nil
            }
            var limitPassed = false
            while let next = await group.next() {
                guard let result = next else {
                    limitPassed = !Task.isCancelled
                    group.cancelAll()
                    continue
                }
                group.cancelAll()
                guard limitPassed, case .failure(var error) = result, error.code == .aborted else { return result }
                error.reason = "timeLimit"
                switch error.deviceState {
                case .asBefore, .bootloader:
                    error.code = .timeout
                    error.message = "the limit of \(limit) for the whole update passed; allow more time, or try again"
                case .updated, .unknown:
                    error.code = .unverified
                    error.message =
                        "all was sent, but the limit of \(limit) for the whole update passed before the new firmware was "
                        + "seen running; look at the version that it shows"
                }
                return .failure(error)
            }
            preconditionFailure("the update's task always gives a result")
        }
    }

    private func attempt(
        _ device: String, _ address: String, _ package: Package, _ observer: UpdateObserver
    ) async -> Result<UpdateReport, UpdateError> {
        let session = DeviceSession(
            updater: self, device: device, at: address, package: package, observer: observer,
            rules: BlockAckUpdate.rules(of: self))
        let result: Result<UpdateReport, UpdateError>
        do throws(UpdateError) {
            result = .success(try await update(session))
        } catch {
            var error = error
            error.protocolName = session.protocolName
            error.versionBefore = session.versionBefore
            error.connections = session.connections
            error.retries = session.retries
            result = .failure(error)
        }
        await session.disconnect()
        return result
    }

    /// Updates the device by what its services and the package say.
    private func update(_ session: DeviceSession) async throws(UpdateError) -> UpdateReport {
        try Self.preflight(session.package, profile: profile, options: options)
        let preflight = Preflight(package: session.package, profile: profile, options: options)
        if let name = preflight.onlyProtocol { session.beginCapture(by: name) }
        try await session.connect(phase: .connect)
        switch try await session.choose(preflight) {
        case .blockAck:
            if preflight.onlyProtocol == nil { session.beginCapture(by: BlockAckUpdate.protocolName) }
            return try await BlockAckUpdate(session).run()
        case .secure(let found, let parts):
            if preflight.onlyProtocol == nil { session.beginCapture(by: SecureUpdate.protocolName) }
            return try await SecureUpdate(session, parts).run(found)
        }
    }
}
