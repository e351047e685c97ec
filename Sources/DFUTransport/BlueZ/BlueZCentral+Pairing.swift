extension BlueZCentral {
    /// The limit for a pairing: BlueZ waits 60 s for a person's answer (`REQUEST_TIMEOUT` in its src/agent.c).
    private static let pairingLimit = Duration.seconds(90)

    /// Pairs with a connected device; an agent of our own, on our own connection to the bus, speaks for us.
    ///
    /// - Throws: `refused`; or `disconnected`, `timeout`, `environment`, `permission`, `cancelled`.
    func pair(with path: DBusObjectPath, _ dialogue: PairingDialogue) async throws(PairingError) {
        let agent = PairingAgent(device: path, dialogue: dialogue, connection: daemon.connection)
        let calls = await daemon.connection.calls(of: PairingAgent.path)
        do throws(BlueZError) {
            _ = try await call(
                "RegisterAgent", of: BlueZInterface.agentManager, at: .bluez,
                [.objectPath(PairingAgent.path), .string(dialogue.capability.rawValue)])
        } catch {
            throw .transport(
                TransportError(.environment, message: "BlueZ takes no agent for the pairing (\(error.text))"))
        }
        let result: Result<Void, BlueZError> = await withTaskGroup { group in
            group.addTask { () -> Result<Void, BlueZError>? in
                await agent.answer(calls)
                return nil
            }
            group.addTask { () -> Result<Void, BlueZError>? in
                do throws(BlueZError) {
                    _ = try await self.call("Pair", of: BlueZInterface.device, at: path, limit: Self.pairingLimit)
                    return .success(())
                } catch {
                    return .failure(error)
                }
            }
            var result: Result<Void, BlueZError>?
            for await case .some(let end) in group {
                result = end
                break
            }
            group.cancelAll()
            return result ?? .failure(.cancelled)
        }
        await Task { await endPairing(with: path, result) }.value
        if case .failure(let error) = result, tree.device(at: path)?.isPaired != true {
            throw PairingError(error)
        }
    }

    /// Gives back what BlueZ has for the pairing; in a task of its own: what the caller is stopped for must not stop it.
    private func endPairing(with path: DBusObjectPath, _ result: Result<Void, BlueZError>) async {
        switch result {
        case .failure(.cancelled), .failure(.timedOut):
            // Where it fails, it is over.
            _ = try? await call("CancelPairing", of: BlueZInterface.device, at: path, limit: .seconds(1))
        default: break
        }
        _ = try? await call(
            "UnregisterAgent", of: BlueZInterface.agentManager, at: .bluez, [.objectPath(PairingAgent.path)],
            limit: .seconds(1))
    }

    /// Has BlueZ forget a device: its keys, its services, its object.
    ///
    /// - Throws: `notFound` where BlueZ does not know it, `environment`, `permission`, `cancelled`.
    func forget(_ path: DBusObjectPath) async throws(TransportError) {
        do throws(BlueZError) {
            _ = try await call("RemoveDevice", of: BlueZInterface.adapter, at: adapter, [.objectPath(path)])
        } catch .objectGone {
            try requireAdapter()
            throw TransportError(.notFound, message: "BlueZ does not know it")
        } catch {
            throw TransportError(error, during: .look)
        }
    }
}

extension BlueZTransport {
    /// Has BlueZ forget a device: its keys, its services, its object. A connection to it ends.
    ///
    /// - Throws: `notFound` where BlueZ does not know it, `environment`, `permission`, `cancelled`.
    package func forget(_ device: BlueZDevice) async throws(TransportError) {
        let reservation = try await central.reserve(device.address)
        defer { withExtendedLifetime(reservation) {} }
        try await central.forget(device.path)
    }
}

extension BlueZPeripheral: PairablePeripheral {
    var isPaired: Bool {
        get async { await central.tree.device(at: path)?.isPaired == true }
    }

    func pair(_ dialogue: PairingDialogue) async throws(PairingError) {
        try await central.pair(with: path, dialogue)
    }
}

extension PairingError {
    /// What an error of `Pair` is to whoever wanted to be paired.
    fileprivate init(_ error: BlueZError) {
        switch error {
        case .authentication(let text):
            self = .refused("the pairing failed (\(text)); put the device into its pairing mode, and try again")
        case .notSupported: self = .refused("it does not let itself be paired")
        case .other(let text): self = .refused("the pairing failed (\(text))")
        case .inProgress:
            self = .transport(TransportError(.environment, message: "another program is pairing with it; end that"))
        case .notConnected, .connectAborted, .objectGone:
            self = .transport(
                TransportError(.disconnected, message: "the connection was lost while it was being paired"))
        case .timedOut:
            self = .transport(TransportError(.timeout, message: "the pairing did not come to an end in time"))
        default: self = .transport(TransportError(error, during: .connect))
        }
    }
}

extension DBusObjectPath {
    /// BlueZ's object for what belongs to no adapter.
    fileprivate static let bluez = DBusObjectPath(checked: "/org/bluez")
}

extension BlueZInterface {
    fileprivate static let agentManager = "org.bluez.AgentManager1"
}
