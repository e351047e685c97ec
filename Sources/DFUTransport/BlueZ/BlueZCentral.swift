/// One adapter at work: it listens for devices, and connects to one at a time.
///
/// It lives on the bus connection's thread.
actor BlueZCentral {
    let daemon: BlueZDaemon
    nonisolated let adapter: DBusObjectPath
    nonisolated let limits: BlueZLimits
    nonisolated let log: (@Sendable (String) -> Void)?
    /// A controller makes one connection at a time: BlueZ refuses, or fails, the second.
    let connectTurn = Turnstile()
    /// Whether a connection is being made, for which the controller is not to scan.
    private(set) var isConnecting = false
    /// How long connections were being made so far, but for the one that is.
    private var connectingTime = Duration.zero
    private var connectingSince = ContinuousClock.now
    /// How often in a row a device with kept keys was lost right after it was connected.
    var earlyLosses: [String: Int] = [:]
    /// The parameters that the kernel connects devices with.
    var parameterLoader: ConnectionParameterLoader

    private let discoveryTurn = Turnstile()
    /// The devices that are reserved, by their addresses.
    private var reservations: [String: HeldReservation] = [:]
    private var listeners = 0
    private var discovery = Discovery.off

    private enum Discovery {
        case off
        case on
        /// Another program's, which BlueZ does not let us join.
        case foreign
    }

    private struct HeldReservation {
        weak var reservation: DeviceReservation?
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { daemon.unownedExecutor }

    init(daemon: BlueZDaemon, adapter: BlueZAdapter, _ options: BlueZTransport.Options) {
        self.daemon = daemon
        self.adapter = adapter.path
        limits = options.limits
        log = options.log
        parameterLoader = ConnectionParameterLoader(
            adapter: adapter, channel: options.management,
            storage: BlueZStorage(folder: options.storage, adapter: adapter.address), log: options.log)
    }

    /// The objects as they are now.
    var tree: BlueZObjectTree { daemon.assumeIsolated { $0.tree } }

    /// The devices that BlueZ knows by this adapter.
    var devices: [BlueZDevice] { tree.devices(of: adapter) }

    // MARK: The adapter

    /// The adapter that the options mean, which is on.
    static func adapter(
        of daemon: BlueZDaemon, _ options: BlueZTransport.Options
    ) async throws(TransportError) -> BlueZAdapter {
        let tree = await daemon.tree
        func isBlocked(_ name: String) -> Bool { RadioSwitch.isBlocking(name, in: options.switches) }
        do {
            return try tree.usableAdapter(named: options.adapter, isBlocked: isBlocked)
        } catch {
            guard options.powersOn,
                let adapter = tree.adapters.first(where: { options.adapter == nil || $0.name == options.adapter }),
                !adapter.isBlocked, !isBlocked(adapter.name)
            else { throw error }
            try await powerOn(adapter, of: daemon, within: options.limits.call)
            return adapter
        }
    }

    private static func powerOn(
        _ adapter: BlueZAdapter, of daemon: BlueZDaemon, within limit: Duration
    ) async throws(TransportError) {
        do throws(BlueZError) {
            _ = try await daemon.call(
                "Set", of: "org.freedesktop.DBus.Properties", at: adapter.path,
                body: [.string(BlueZInterface.adapter), .string("Powered"), .variant(.boolean(true))],
                timeout: limit)
        } catch {
            throw TransportError(
                .environment, message: "the adapter \(adapter.name) cannot be switched on (\(error.text))")
        }
        let path = adapter.path
        guard try await daemon.wait(limit, until: { $0.adapter(at: path)?.isPowered == true }) != nil else {
            throw TransportError(.environment, message: "the adapter \(adapter.name) does not come on")
        }
    }

    /// Fails where the adapter has been pulled out, or switched off.
    func requireAdapter() throws(TransportError) {
        if let failure = daemon.assumeIsolated({ $0.failure }) { throw failure }
        guard let state = tree.adapter(at: adapter) else {
            throw TransportError(
                .environment, message: "the adapter \(adapter.lastComponent) disappeared; plug it in again")
        }
        guard state.isPowered else {
            throw TransportError(
                .environment, message: "the adapter \(state.name) was switched off (bluetoothctl power on)")
        }
    }

    /// What an error means: where the service or the bus has gone, that.
    func failure(_ error: BlueZError, during action: BlueZAction) -> TransportError {
        daemon.assumeIsolated { $0.failure } ?? TransportError(error, during: action)
    }

    // MARK: Devices

    /// See `Transport.reserve`.
    func reserve(_ address: String) async throws(TransportError) -> DeviceReservation {
        let answer: DBusMessage
        do throws(DBusError) {
            answer = try await daemon.connection.callBus("GetId", [])
        } catch {
            throw failure(BlueZError(error), during: .connect)
        }
        if let reservation = reservations[address]?.reservation { return reservation }
        guard case .string(let bus)? = answer.body.first else { preconditionFailure("a bus without an ID") }
        let reservation = try DeviceReservation(of: address, on: bus)
        reservations[address] = HeldReservation(reservation: reservation)
        return reservation
    }

    // MARK: Listening

    /// How long nothing could be heard so far, because connections were being made.
    var deafTime: Duration { isConnecting ? connectingTime + connectingSince.duration(to: .now) : connectingTime }

    /// Stops what listening there is while a connection is made, or lets it go on.
    func setConnecting(_ isConnecting: Bool) async {
        connectingTime = deafTime
        connectingSince = .now
        self.isConnecting = isConnecting
        // What the task is stopped for must not stop this.
        await Task { try? await switchDiscovery() }.value
    }

    /// See `BlueZTransport.scan`.
    func scan(
        for limit: Duration, until isEnough: @escaping @Sendable ([BlueZDevice]) -> Bool
    ) async throws(TransportError) -> [BlueZDevice] {
        try requireAdapter()
        listeners += 1
        do throws(TransportError) {
            try await switchDiscovery()
            let adapter = adapter
            var last: BlueZObjectTree?
            var left = limit
            var deafTime = deafTime
            while last == nil, left > .zero {
                last = try await daemon.wait(left) { tree in
                    tree.adapter(at: adapter)?.isPowered != true || isEnough(tree.devices(of: adapter))
                }
                // Others' connections do not shorten what can be heard.
                left = self.deafTime - deafTime
                deafTime = self.deafTime
            }
            // Before the discovery ends: BlueZ then forgets how each was heard.
            let devices = (last ?? tree).devices(of: adapter)
            try requireAdapter()
            if discovery == .foreign, !devices.contains(where: \.isHeard) {
                throw TransportError(.inProgress, during: .scan)
            }
            await endListening()
            return devices
        } catch {
            await endListening()
            throw error
        }
    }

    private func endListening() async {
        listeners -= 1
        // What the task is stopped for must not stop this.
        await Task { try? await switchDiscovery() }.value
    }

    /// Starts or stops the discovery as it is wanted now.
    func switchDiscovery() async throws(TransportError) {
        guard await discoveryTurn.enter() else { throw TransportError(.cancelled, during: .scan) }
        defer { discoveryTurn.leave() }
        let isWanted = listeners > 0 && !isConnecting
        switch (isWanted, discovery) {
        case (true, .off): try await startDiscovery()
        case (false, .on):
            discovery = .off
            // Where it fails, an earlier stop is not finished, or the adapter is gone. Nobody waits long for it.
            _ = try? await call(
                "StopDiscovery", of: BlueZInterface.adapter, at: adapter, limit: min(limits.call, .seconds(1)))
        case (false, .foreign): discovery = .off
        case (true, .on), (true, .foreign), (false, .off): break
        }
    }

    private func startDiscovery() async throws(TransportError) {
        do throws(BlueZError) {
            let filter = DBusValue.properties(["Transport": .string("le")])
            _ = try await call("SetDiscoveryFilter", of: BlueZInterface.adapter, at: adapter, [filter])
            _ = try await call("StartDiscovery", of: BlueZInterface.adapter, at: adapter)
            discovery = .on
        } catch .inProgress {
            log?("another program scans with \(adapter.lastComponent): listening to what it hears")
            discovery = .foreign
        } catch {
            try requireAdapter()
            throw TransportError(error, during: .scan)
        }
    }

    /// Calls a method that is of no use any more when the objects are no longer as `isThere` says; BlueZ may leave it
    /// without an answer then.
    ///
    /// - Throws: `objectGone` in that case.
    func call(
        _ member: String, of interface: String, at path: DBusObjectPath, _ body: [DBusValue] = [], limit: Duration,
        while isThere: @escaping @Sendable (BlueZObjectTree) -> Bool
    ) async throws(BlueZError) -> [DBusValue] {
        let call = Task { () -> Result<[DBusValue], BlueZError> in
            do throws(BlueZError) {
                return .success(try await self.call(member, of: interface, at: path, body, limit: limit))
            } catch {
                return .failure(error)
            }
        }
        let observer = await daemon.observe { change in
            if case .success(let tree) = change, !isThere(tree) { call.cancel() }
        }
        if !isThere(tree) { call.cancel() }
        let result = await withTaskCancellationHandler {
            await call.value
        } onCancel: {
            call.cancel()
        }
        await daemon.endObserving(observer)
        if case .failure(.cancelled) = result, !Task.isCancelled { throw .objectGone }
        return try result.get()
    }

    /// Calls a method, within a limit; if not said otherwise, that of calls which only this machine's software answers.
    func call(
        _ member: String, of interface: String, at path: DBusObjectPath, _ body: [DBusValue] = [],
        limit: Duration? = nil
    ) async throws(BlueZError) -> [DBusValue] {
        try await daemon.call(member, of: interface, at: path, body: body, timeout: limit ?? limits.call)
    }
}
