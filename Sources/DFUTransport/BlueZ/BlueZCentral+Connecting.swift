extension BlueZCentral {
    /// So often in a row a device with kept keys may be lost right after it was connected.
    private static let mostEarlyLosses = 3
    /// So often in one try BlueZ may forget a device that was heard: it is looked for again.
    private static let mostDisappearances = 3

    /// Connects to a device when it is heard, and resolves its services.
    ///
    /// - Throws: `notFound`, `connectFailed`, `disconnected`, `servicesUnresolved`, `bondMismatch`, `environment`,
    ///   `permission`, `cancelled`.
    func connect(
        to address: String, asking parameters: ConnectionParameters?, before deadline: ContinuousClock.Instant
    ) async throws(TransportError) -> BlueZPeripheral {
        let reservation = try await reserve(address)
        guard earlyLosses[address, default: 0] < Self.mostEarlyLosses else {
            earlyLosses[address] = nil
            throw TransportError(
                .bondMismatch,
                message: "the stored pairing no longer fits; remove it (dfu forget \(address)) and pair again")
        }
        var deadline = deadline
        for _ in 1...Self.mostDisappearances {
            let deafTime = deafTime
            let path = try await locate(address, before: deadline)
            deadline += self.deafTime - deafTime
            let isHeldByOthers = tree.device(at: path)?.isConnected == true
            guard try await connectInTurn(path, asking: parameters, before: deadline) else {
                log?("BlueZ has forgotten \(address) meanwhile: looking for it again")
                continue
            }
            do throws(TransportError) {
                try await resolveServices(of: path, address)
            } catch {
                parameterLoader.release(address)
                throw error
            }
            return BlueZPeripheral(
                central: self, path: path, address: address, reservation, wasConnected: isHeldByOthers,
                unmetParameters: parameterLoader.takeRefusal())
        }
        throw TransportError(
            .connectFailed, message: "BlueZ forgot it \(Self.mostDisappearances) times before it was connected")
    }

    /// Finds the device's object: it has to be heard, or connected.
    private func locate(
        _ address: String, before deadline: ContinuousClock.Instant
    ) async throws(TransportError) -> DBusObjectPath {
        try requireAdapter()
        if let device = tree.device(address, of: adapter), device.isHeard || device.isConnected { return device.path }
        let limit = ContinuousClock.now.duration(to: deadline)
        let isRemembered = tree.device(address, of: adapter) != nil
        let devices = try await scan(for: isRemembered ? min(limit, limits.patience) : max(limit, .zero)) { devices in
            devices.contains { $0.address == address && ($0.isHeard || $0.isConnected) }
        }
        guard let device = devices.first(where: { $0.address == address }),
            device.isHeard || device.isConnected || ContinuousClock.now < deadline
        else {
            throw TransportError(.notFound, message: "it was not heard within \(limit.inSeconds)")
        }
        return device.path
    }

    /// Connects, one device after the other.
    ///
    /// - Returns: False where BlueZ does not know the object any more.
    private func connectInTurn(
        _ path: DBusObjectPath, asking parameters: ConnectionParameters?, before deadline: ContinuousClock.Instant
    ) async throws(TransportError) -> Bool {
        let begin = ContinuousClock.now
        guard await connectTurn.enter() else { throw TransportError(.cancelled, during: .connect) }
        defer { connectTurn.leave() }
        guard let device = tree.device(at: path) else { return false }
        guard !device.isConnected else {
            if parameters != nil { log?("\(device.address): it is connected already, with parameters that stay") }
            return true
        }
        // The turns of others are not counted.
        let limit = max(begin.duration(to: deadline), .seconds(1))
        // Many controllers cannot listen and connect at once.
        await setConnecting(true)
        if let parameters { parameterLoader.load(parameters, for: device) }
        let result: Result<Bool, TransportError>
        do throws(TransportError) {
            result = .success(try await connectOnce(path, within: limit))
        } catch {
            result = .failure(error)
        }
        await setConnecting(false)
        if result != .success(true) { parameterLoader.release(device.address) }
        return try result.get()
    }

    private func connectOnce(_ path: DBusObjectPath, within limit: Duration) async throws(TransportError) -> Bool {
        // It may be over before BlueZ answers.
        let wasShown = Locked(false)
        do throws(BlueZError) {
            _ = try await call("Connect", of: BlueZInterface.device, at: path, limit: limit) { tree in
                guard let device = tree.device(at: path) else { return false }
                if device.isConnected { wasShown.withLock { $0 = true } }
                return true
            }
            return true
        } catch {
            switch error {
            case .alreadyConnected: return true
            case .objectGone:
                try requireAdapter()
                return false
            case .timedOut:
                await abandon(path)
                throw TransportError(.connectFailed, message: "no connection within \(limit.inSeconds)")
            case .cancelled:
                await abandon(path)
                throw TransportError(.cancelled, during: .connect)
            default: break
            }
            try requireAdapter()
            // BlueZ shows an attempt that failed as a connection for a moment, and sometimes it is one.
            let isOver = try await daemon.wait(limits.settling) { $0.device(at: path)?.isConnected != true }
            if isOver == nil {
                log?("BlueZ says that connecting failed (\(error.text)), and shows a connection: it is used")
                return true
            }
            // BlueZ has these texts for keys that do not fit, too: the device ends the connection when it is to be encrypted.
            switch error {
            case .connectAborted, .classicLink:
                guard wasShown.withLock(\.self), let device = tree.device(at: path) else { break }
                noteEnd(of: device.address, at: path, isEarly: true)
            default: break
            }
            throw TransportError(error, during: .connect)
        }
    }

    /// Calls a method that a connected device has to answer.
    ///
    /// - Throws: `notConnected` as soon as the connection is over, `notPaired` where it waited for a pairing until then,
    ///   `timedOut` where the device does not answer, and else what BlueZ answered.
    func request(
        _ member: String, at path: DBusObjectPath, _ body: [DBusValue] = [], of device: DBusObjectPath, limit: Duration
    ) async throws(BlueZError) -> [DBusValue] {
        let begin = ContinuousClock.now
        let isPaired = tree.device(at: device)?.isPaired == true
        /// The first state without a connection: nil for a device that is not there any more.
        let end = Locked<BlueZDevice??>(nil)
        do throws(BlueZError) {
            return try await call(member, of: BlueZInterface.characteristic, at: path, body, limit: limit) { tree in
                let state = tree.device(at: device)
                if state?.isConnected != true { end.withLock { $0 = $0 ?? .some(state) } }
                return state?.isConnected == true
            }
        } catch .objectGone where tree.device(at: device)?.isConnected != true {
            // BlueZ answers what the end of a connection leaves open, but not what waits for a pairing that nobody agreed to:
            // after SMP_TIMEOUT (net/bluetooth/smp.c) it forgets the device, and never says that the connection is over.
            guard !isPaired, tree.adapter(at: adapter) != nil, case .some(nil) = end.withLock(\.self) else {
                throw .notConnected
            }
            throw .notPaired
        } catch .attribute(BlueZError.unlikely) {
            // BlueZ's word for an answer that did not come, too: after the attribute protocol's limit, or because the
            // connection is over, which it tells next.
            guard begin.duration(to: .now) < limits.answer else { throw .timedOut }
            let isOver = try? await daemon.wait(limits.news) { $0.device(at: device)?.isConnected != true }
            throw isOver == nil ? .attribute(BlueZError.unlikely) : .notConnected
        }
    }

    /// See `Transport.forgetServices`.
    func forgetServices(of address: String) async throws(TransportError) -> ServiceMemory {
        let reservation = try await reserve(address)
        defer { withExtendedLifetime(reservation) {} }
        guard let device = tree.device(address, of: adapter) else { return .none }
        guard !device.isBonded else { return .keptWithPairing }
        do throws(BlueZError) {
            _ = try await call("RemoveDevice", of: BlueZInterface.adapter, at: adapter, [.objectPath(device.path)])
            return .forgotten
        } catch .cancelled {
            throw TransportError(.cancelled, during: .connect)
        } catch {
            log?("BlueZ does not forget \(address) (\(error.text))")
            return .none
        }
    }

    private func resolveServices(of path: DBusObjectPath, _ address: String) async throws(TransportError) {
        let tree: BlueZObjectTree?
        do throws(TransportError) {
            tree = try await daemon.wait(limits.discovery) { tree in
                guard let device = tree.device(at: path), device.isConnected else { return true }
                return device.areServicesResolved
            }
        } catch {
            await abandon(path)
            throw error
        }
        guard let tree else {
            await abandon(path)
            throw TransportError(
                .servicesUnresolved,
                message: "its services were not resolved within \(limits.discovery.inSeconds); bring it closer, or "
                    + "restart it")
        }
        guard tree.device(at: path)?.isConnected == true else {
            try requireAdapter()
            noteEnd(of: address, at: path, isEarly: true)
            throw TransportError(.disconnected, message: "the connection was lost while its services were resolved")
        }
    }

    /// Puts back what the kernel connected a device with before.
    func releaseParameters(of address: String) {
        parameterLoader.release(address)
    }

    /// Takes note of the end of a connection. A device that lost its keys ends it as soon as they are asked for.
    func noteEnd(of address: String, at path: DBusObjectPath, isEarly: Bool) {
        let isBonded = tree.device(at: path)?.isBonded == true
        earlyLosses[address] = isEarly && isBonded ? earlyLosses[address, default: 0] + 1 : nil
    }

    /// Ends a connection, or the attempt at one, in a task of its own: what the caller is stopped for must not stop it.
    func abandon(_ path: DBusObjectPath) async {
        await Task { await disconnect(path) }.value
    }

    private func disconnect(_ path: DBusObjectPath) async {
        let elapsed = ContinuousClock.now
        // Where it fails there is nothing to end; where it does not answer, there is nothing more to do.
        _ = try? await call("Disconnect", of: BlueZInterface.device, at: path, limit: limits.disconnection)
        let left = limits.disconnection - elapsed.duration(to: .now)
        _ = try? await daemon.wait(max(left, .zero)) { $0.device(at: path)?.isConnected != true }
    }
}

extension Duration {
    /// So many whole seconds, for people.
    var inSeconds: String { "\(components.seconds) s" }
}
