import DFUTransport

/// A pairing that is under way.
struct Pairing {
    /// Tells it from earlier ones.
    var number: Int
    /// The call of `Pair`; nil where BlueZ has begun it by itself.
    var call: DBusMessage?
    /// Who is asked; nil: nobody can be.
    var agent: Agent?
    /// Whether the agent is being asked.
    var isAsking = false
    /// The requests that wait for an encrypted link.
    var waiting: [CheckedContinuation<Bool, Never>] = []
}

/// How a pairing has ended.
enum PairingEnd: Hashable {
    case paired
    case refused(DevicePairing.Refusal)
    /// There was no connection.
    case notReached
}

extension SimulatedBlueZ {
    // MARK: Calls

    func pair(_ call: DBusMessage, with path: DBusObjectPath) {
        guard let device = devices[path] else { preconditionFailure("a call that is for no device") }
        keep(path)
        guard device.pairing == nil else { return refuse(call, BlueZError.inProgress) }
        guard storage[path]?.isPaired != true else { return refuse(call, BlueZError.alreadyExists) }
        begin(for: call, with: path)
        guard adapters[device.adapter]?.configuration.isPowered == true else {
            return finishPairing(with: path, .refused(.failed))
        }
        guard device.link == nil else { return negotiate(with: path) }
        guard !isConnecting(device.adapter) else { return finishPairing(with: path, .refused(.failed)) }
        startConnecting(to: path, for: call)
    }

    func cancelPairing(_ call: DBusMessage, with path: DBusObjectPath) {
        guard devices[path]?.pairing?.call != nil else { return refuse(call, BlueZError.doesNotExist) }
        cancelPairing(with: path)
        answer(call)
    }

    /// Ends a pairing that somebody has called for.
    func cancelPairing(with path: DBusObjectPath) {
        if let attempt = devices[path]?.attempt, attempt.call.member == "Pair" {
            cancel(attempt.timer)
            devices[path]?.attempt = nil
        }
        finishPairing(with: path, .refused(.canceled))
    }

    // MARK: Security

    /// Whether a characteristic wants a link that is not encrypted to be so.
    func isProtected(_ path: DBusObjectPath) -> Bool {
        guard let characteristic = characteristics[path], devices[characteristic.device]?.link?.isEncrypted == false
        else { return false }
        return advertised(characteristic.device)?.pairing?.protects(characteristic.declared.uuid) ?? false
    }

    /// Pairs with a connected device, because one of its characteristics wants it; false where that does not succeed.
    func isSecured(_ path: DBusObjectPath) async -> Bool {
        guard let device = devices[path], let link = device.link else { return false }
        if link.isEncrypted { return true }
        return await withCheckedContinuation { continuation in
            let isUnderWay = device.pairing != nil
            if !isUnderWay { begin(for: nil, with: path) }
            devices[path]?.pairing?.waiting.append(continuation)
            if !isUnderWay { negotiate(with: path) }
        }
    }

    // MARK: A pairing

    private func begin(for call: DBusMessage?, with path: DBusObjectPath) {
        lastPairing += 1
        // The caller's own agent counts before the default one (`agent_get` in src/agent.c).
        let agent = agents.first { $0.owner == call?.sender } ?? agents.first
        devices[path]?.pairing = Pairing(number: lastPairing, call: call, agent: agent)
    }

    /// Agrees on the keys with a device that is connected.
    func negotiate(with path: DBusObjectPath) {
        guard let number = devices[path]?.pairing?.number, let link = devices[path]?.link else { return }
        Task {
            let end = await outcome(of: number, with: path, over: link.number)
            guard let pairing = devices[path]?.pairing, pairing.number == number else { return }
            guard end != .paired, pairing.call == nil else { return finishPairing(with: path, end) }
            // A device that says no ends the connection; after a no on this side, or nothing, nobody does.
            if advertised(path)?.pairing?.refusal != nil { return drop(path) }
            after(settings.pairingTimeout) { blueZ in
                if blueZ.devices[path]?.pairing?.number == number { blueZ.abandon(path) }
            }
        }
    }

    /// Forgets a device that waits for its pairing, and tells neither whoever waits for an answer nor that it is disconnected.
    private func abandon(_ path: DBusObjectPath) {
        forget(path)
        storage[path] = nil
        tree.remove(path).forEach(tell)
    }

    private func outcome(of number: Int, with path: DBusObjectPath, over link: Int) async -> PairingEnd {
        guard let station = devices[path]?.station, let pairing = devices[path]?.pairing else {
            return .refused(.canceled)
        }
        // Requests and their answers are what there is of a dialogue (Bluetooth Core 5.4, volume 3, part H, 2.3).
        func exchange(times: Int) async -> Bool {
            for _ in 0..<times {
                guard (try? await station.request(.discover, on: link)) != nil else { return false }
            }
            return true
        }
        guard await exchange(times: 1) else { return .refused(.canceled) }
        guard let demand = advertised(path)?.pairing else { return .refused(.failed) }
        if let refusal = demand.refusal { return .refused(refusal) }
        // Linux asks for a confirmation of every pairing, and BlueZ cannot give it without an agent.
        guard let agent = pairing.agent, agent.capability.serves(demand.method) else { return .refused(.failed) }
        devices[path]?.pairing?.isAsking = true
        let isConfirmed = await confirmation(of: demand.method, by: agent, for: pairing.call, with: path)
        guard devices[path]?.pairing?.number == number else { return .refused(.canceled) }
        devices[path]?.pairing?.isAsking = false
        guard isConfirmed else { return .refused(.failed) }
        return await exchange(times: 2) ? .paired : .refused(.canceled)
    }

    private func confirmation(
        of method: DevicePairing.Method, by agent: Agent, for call: DBusMessage?, with path: DBusObjectPath
    ) async -> Bool {
        let device = DBusValue.objectPath(path)
        switch method {
        case .justWorks:
            // Whoever has called `Pair` has said it already (`device_confirm_passkey` in src/device.c).
            if call != nil { return true }
            return await ask(agent, "RequestAuthorization", [device]) != nil
        case .comparison(let number):
            return await ask(agent, "RequestConfirmation", [device, .uint32(number)]) != nil
        case .entry(let number):
            return await ask(agent, "RequestPasskey", [device]) == [.uint32(number)]
        case .display(let number):
            return await ask(agent, "DisplayPasskey", [device, .uint32(number), .uint16(0)]) != nil
        }
    }

    /// Ends a pairing that is under way, and tells whoever waits for it.
    func finishPairing(with path: DBusObjectPath, _ end: PairingEnd) {
        guard let pairing = devices[path]?.pairing.take() else { return }
        if pairing.isAsking, let agent = pairing.agent { cancelQuestion(to: agent) }
        if end == .paired {
            storage[path] = StoredDevice(isPaired: true)
            keep(path)
            devices[path]?.link?.isEncrypted = true
            tell(tree.set(["Bonded": .boolean(true)], of: .device, at: path))
        }
        for request in pairing.waiting { request.resume(returning: end == .paired) }
        if let call = pairing.call {
            if let error = BlueZError.authentication(end) {
                refuse(call, error)
            } else {
                devices[path]?.link?.pairCall = call
            }
        }
        tellPaired(path)
    }

    /// Tells that a device is paired, once its services are resolved.
    func tellPaired(_ path: DBusObjectPath) {
        guard devices[path]?.link?.isResolved == true, storage[path]?.isPaired == true else { return }
        tell(tree.set(["Paired": .boolean(true)], of: .device, at: path))
        if let call = devices[path]?.link?.pairCall.take() { answer(call) }
    }
}
