import DFUTransport

extension SimulatedBlueZ {
    /// The longest value of an attribute (Bluetooth Core 5.4, volume 3, part F, 3.2.9).
    private static let longestValue = 512

    func callCharacteristic(_ call: DBusMessage, at path: DBusObjectPath) {
        // BlueZ takes calls when its sockets are empty.
        if settings.socketPauses == nil {
            for (path, state) in characteristics where state.writeSocket != nil { takeRecords(for: path) }
        }
        switch call.member {
        case "ReadValue": read(call, from: path)
        case "WriteValue": write(call, to: path)
        case "StartNotify": startNotify(call, at: path)
        case "StopNotify": stopNotify(call, at: path)
        case "AcquireWrite": acquireWrite(call, at: path)
        case "AcquireNotify": acquireNotify(call, at: path)
        default: preconditionFailure("a characteristic has no such method")
        }
    }

    /// The device that a characteristic belongs to, and its connection, where its services are resolved.
    func link(of path: DBusObjectPath) -> (station: SimulatedStation, number: Int)? {
        guard let characteristic = characteristics[path], let device = devices[characteristic.device],
            let link = device.link, link.isResolved
        else { return nil }
        return (device.station, link.number)
    }

    /// The MTU of the connection that a characteristic is used over, as BlueZ has it.
    func mtu(of path: DBusObjectPath) -> Int {
        let station = characteristics[path].flatMap { devices[$0.device]?.station }
        return settings.toldMTU ?? station?.radio.mtu ?? settings.radio.mtu
    }

    // MARK: Reading and writing

    private func read(_ call: DBusMessage, from path: DBusObjectPath) {
        guard let characteristic = characteristics[path], let link = link(of: path) else {
            return refuse(call, BlueZError.notConnected)
        }
        guard let options = WriteOptions(call.body.last) else { return refuse(call, BlueZError.invalidArguments) }
        if let pending = characteristic.read {
            guard pending.offset == options.offset else { return refuse(call, BlueZError.inProgress) }
            characteristics[path]?.read?.calls.append(call)
            return
        }
        characteristics[path]?.read = Characteristic.Read(offset: options.offset, calls: [call])
        Task {
            let result = await request(.read(characteristic.declared.uuid), to: path, over: link)
            // Where the characteristic is gone the calls have been answered, or never will be.
            guard let result, let read = characteristics[path]?.read.take() else { return }
            switch result {
            case .success(let bytes) where Int(read.offset) <= bytes.count:
                let value = DBusValue.bytes(Array(bytes.dropFirst(Int(read.offset))))
                tellValue(value, of: path)
                for call in read.calls { answer(call, [value]) }
            case .success:
                for call in read.calls { refuse(call, BlueZError.attribute(0x07)) }
            case .failure(let error):
                for call in read.calls { refuse(call, BlueZError.request(error)) }
            }
        }
    }

    private func write(_ call: DBusMessage, to path: DBusObjectPath) {
        guard let characteristic = characteristics[path], let link = link(of: path) else {
            return refuse(call, BlueZError.notConnected)
        }
        guard characteristic.writeSocket == nil else { return refuse(call, BlueZError.notPermitted("Write acquired")) }
        guard !characteristic.isWriting else { return refuse(call, BlueZError.inProgress) }
        guard case .bytes(let bytes) = call.body.first, let options = WriteOptions(call.body.last) else {
            return refuse(call, BlueZError.invalidArguments)
        }
        let properties = characteristic.declared.properties
        let type = settings.heedsWriteType ? options.type : nil
        switch type ?? (properties.contains(.write) ? .request : .command) {
        case .reliable: refuse(call, BlueZError.notSupported)
        case .request:
            guard bytes.count <= Self.longestValue else { return refuse(call, BlueZError.attribute(0x0D)) }
            // What is longer goes as a long write, which the simulated devices do not take, like most that are updated.
            guard bytes.count <= mtu(of: path) - 3, options.offset == 0 else {
                return refuse(call, BlueZError.notSupported)
            }
            characteristics[path]?.isWriting = true
            Task {
                let result = await request(.write(bytes, to: characteristic.declared.uuid), to: path, over: link)
                characteristics[path]?.isWriting = false
                switch result {
                case .success: answer(call)
                case .failure(let error): refuse(call, BlueZError.request(error))
                case nil: break
                }
            }
        case .command:
            guard options.offset == 0, type != nil || properties.contains(.writeWithoutResponse) else {
                return refuse(call, BlueZError.notSupported)
            }
            guard send(bytes, to: path) else { return refuse(call, BlueZError.failed("Failed to initiate write")) }
            answer(call)
        }
    }

    /// Queues a write command; false where it cannot be sent.
    @discardableResult
    func send(_ bytes: [UInt8], to path: DBusObjectPath) -> Bool {
        guard let characteristic = characteristics[path], let link = link(of: path),
            bytes.count <= mtu(of: path) - 3
        else { return false }
        // A command that may not be is not answered.
        guard !isProtected(path) else { return true }
        return (try? link.station.send(bytes, to: characteristic.declared.uuid, on: link.number)) != nil
    }

    /// What a device answers to a request; nil where BlueZ never tells.
    private func request(
        _ request: SimulatedConnection.Request, to path: DBusObjectPath,
        over link: (station: SimulatedStation, number: Int)
    ) async -> SimulatedConnection.Answer? {
        do {
            if let device = characteristics[path]?.device, isProtected(path) {
                // The device refuses. BlueZ raises the security by itself, and repeats the request
                // (`handle_error_rsp` in its src/shared/att.c).
                _ = try await link.station.request(.discover, on: link.number)
                guard await isSecured(device) else {
                    return devices[device].map { _ in .failure(TransportError(.disconnected, message: "")) }
                }
            }
            return .success(try await link.station.request(request, on: link.number))
        } catch {
            return .failure(error)
        }
    }

    private func tellValue(_ value: DBusValue, of path: DBusObjectPath) {
        _ = tree.set(["Value": value], of: .characteristic, at: path)
        tell(BlueZObjectTree.change(["Value": value], of: .characteristic, at: path))
    }

    // MARK: Notifications

    private func startNotify(_ call: DBusMessage, at path: DBusObjectPath) {
        guard let characteristic = characteristics[path], let sender = call.sender else { return }
        guard !characteristic.isNotifyAcquired else { return refuse(call, BlueZError.notPermitted("Notify acquired")) }
        guard characteristic.declared.canNotify else { return refuse(call, BlueZError.notSupported) }
        if let isOn = characteristic.sessions[sender] {
            return isOn ? answer(call) : refuse(call, BlueZError.inProgress)
        }
        characteristics[path]?.sessions[sender] = false
        // Without a connection it succeeds, and is made up for when there is one.
        guard link(of: path) != nil else { return answer(call) }
        subscribe(to: path) { blueZ, error in
            guard let error else { return blueZ.answer(call) }
            blueZ.characteristics[path]?.sessions[sender] = nil
            blueZ.refuse(call, error)
        }
    }

    private func stopNotify(_ call: DBusMessage, at path: DBusObjectPath) {
        guard let characteristic = characteristics[path], let sender = call.sender else { return }
        if characteristic.notifySocket != nil {
            closeNotifySocket(of: path)
            return answer(call)
        }
        guard characteristic.sessions[sender] != nil else {
            return refuse(call, BlueZError.failed("No notify session started"))
        }
        endSession(of: sender, at: path)
        answer(call)
    }

    func endSession(of client: String, at path: DBusObjectPath) {
        guard characteristics[path]?.sessions.removeValue(forKey: client) != nil,
            characteristics[path]?.sessions.isEmpty == true
        else { return }
        tell(tree.set(["Notifying": .boolean(false)], of: .characteristic, at: path))
    }

    /// Has the device notify; `completion` hears what was wrong, or nothing.
    func subscribe(
        to path: DBusObjectPath,
        completion: @escaping @Sendable (isolated SimulatedBlueZ, DBusError?) -> Void
    ) {
        guard let characteristic = characteristics[path], let link = link(of: path) else { return }
        Task {
            let result = await request(.subscribe(characteristic.declared.uuid), to: path, over: link)
            switch result {
            case .success:
                for client in characteristics[path, default: characteristic].sessions.keys {
                    characteristics[path]?.sessions[client] = true
                    tell(tree.set(["Notifying": .boolean(true)], of: .characteristic, at: path))
                }
                completion(self, nil)
            case .failure(let error): completion(self, BlueZError.request(error))
            case nil: break
            }
        }
    }

    /// Takes a notification of a device, for whoever has asked for it.
    func notified(_ bytes: [UInt8], from uuid: BluetoothUUID, of device: DBusObjectPath, over number: Int) {
        guard devices[device]?.link?.number == number else { return }
        for (path, characteristic) in characteristics
        where characteristic.device == device && characteristic.declared.uuid == uuid {
            if let socket = characteristic.notifySocket {
                pass(bytes, to: socket)
            } else {
                // Once for each program that has asked for them, and each time to all.
                for _ in characteristic.sessions { tellValue(.bytes(bytes), of: path) }
            }
        }
    }

    /// Forgets a characteristic.
    func release(_ path: DBusObjectPath) {
        closeSockets(of: path)
        guard let characteristic = characteristics.removeValue(forKey: path) else { return }
        for call in characteristic.read?.calls ?? [] { refuse(call, BlueZError.attribute(0x0E)) }
    }

    // MARK: Descriptors

    func callDescriptor(_ call: DBusMessage, at path: DBusObjectPath) {
        guard
            case .objectPath(let characteristic)? = tree.objects[path]?[BlueZInterface.descriptor.name]?[
                "Characteristic"],
            let state = characteristics[characteristic], link(of: characteristic) != nil
        else { return refuse(call, BlueZError.notConnected) }
        // BlueZ keeps the switch of notifications to itself.
        guard call.member == "ReadValue" else { return refuse(call, BlueZError.notPermitted("Write not permitted")) }
        let on: UInt8 = state.declared.properties.contains(.notify) ? 1 : 2
        answer(call, [.bytes([state.sessions.isEmpty ? 0 : on, 0])])
    }
}

/// The options of `ReadValue` and `WriteValue`.
private struct WriteOptions {
    enum Kind: String {
        case command
        case request
        case reliable
    }

    var offset: UInt16 = 0
    var type: Kind?

    /// Reads them; nil where BlueZ does not take them.
    init?(_ value: DBusValue?) {
        guard let properties = value?.properties else { return nil }
        for (name, value) in properties {
            switch (name, value) {
            case ("offset", .uint16(let number)): offset = number
            case ("type", .string(let text)):
                guard let kind = Kind(rawValue: text) else { return nil }
                type = kind
            case ("offset", _), ("type", _): return nil
            default: continue
            }
        }
    }
}
