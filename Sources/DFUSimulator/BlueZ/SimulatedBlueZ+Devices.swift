import DFUProtocol
import DFUTransport

extension SimulatedBlueZ {
    func callDevice(_ call: DBusMessage, at path: DBusObjectPath) {
        switch call.member {
        case "Connect": connect(call, to: path)
        case "Disconnect": disconnect(call, from: path)
        default: preconditionFailure("a device has no such method")
        }
    }

    // MARK: Connecting

    private func connect(_ call: DBusMessage, to path: DBusObjectPath) {
        guard let device = devices[path] else { preconditionFailure("a call that is for no device") }
        guard adapters[device.adapter]?.configuration.isPowered == true else {
            return refuse(call, BlueZError.notReady)
        }
        guard device.link == nil else { return answer(call) }
        // A controller makes one connection at a time.
        guard !devices.values.contains(where: { $0.adapter == device.adapter && $0.attempt != nil }) else {
            return refuse(call, BlueZError.busy)
        }
        cancel(device.disappearance)
        devices[path]?.disappearance = nil
        devices[path]?.isTemporary = false
        guard !isFailing(call, to: path) else { return }
        tryToConnect(to: path, for: call, until: .now + settings.connectTimeout)
    }

    /// Waits for the device's next advertisement, at which a connection is made.
    private func tryToConnect(to path: DBusObjectPath, for call: DBusMessage, until deadline: ContinuousClock.Instant) {
        let timer = after(settings.radio.advertisingInterval) { blueZ in
            if let (number, services) = blueZ.devices[path]?.neighbour.station.connect() {
                blueZ.devices[path]?.attempt = nil
                blueZ.connected(to: path, by: number, services: services)
                blueZ.answer(call)
            } else if ContinuousClock.now < deadline {
                blueZ.tryToConnect(to: path, for: call, until: deadline)
            } else {
                blueZ.failToConnect(to: path, "le-connection-abort-by-local")
            }
        }
        devices[path]?.attempt = Attempt(call: call, timer: timer)
    }

    private func failToConnect(to path: DBusObjectPath, _ text: String) {
        guard let attempt = devices[path]?.attempt.take() else { return }
        cancel(attempt.timer)
        refuse(attempt.call, BlueZError.failed(text))
    }

    private func connected(to path: DBusObjectPath, by number: Int, services: [GATTService]) {
        guard let station = devices[path]?.neighbour.station else { return }
        devices[path]?.link = Device.Link(number: number)
        for service in services {
            for characteristic in service.characteristics where characteristic.canNotify {
                let binding = EndpointBinding(
                    service: service.uuid, characteristic: characteristic.uuid, use: .notify)
                let listener = SimulatedListener(bindings: [.reply: binding])
                listener.events.setReceiver { [weak self] event in
                    guard case .notification(let bytes, _) = event else { return }
                    self?.onThread { $0.notified(bytes, from: characteristic.uuid, of: path, over: number) }
                }
                station.add(listener, to: number)
            }
        }
        let end = SimulatedListener(bindings: [:])
        end.events.setReceiver { [weak self] _ in self?.onThread { $0.linkEnded(to: path, number) } }
        station.add(end, to: number)
        tell(tree.set(["Connected": .boolean(true)], of: .device, at: path))
        Task { await resolve(services, of: path, over: number) }
    }

    // MARK: Services

    /// Exchanges the MTU and discovers the services and their characteristics, and shows them.
    private func resolve(_ services: [GATTService], of path: DBusObjectPath, over number: Int) async {
        guard let station = devices[path]?.neighbour.station else { return }
        for _ in 0..<(2 + services.count) {
            // Where it fails the end of the connection is told otherwise.
            guard (try? await station.request(.discover, on: number)) != nil else { return }
        }
        guard devices[path]?.link?.number == number else { return }
        devices[path]?.link?.isResolved = true
        show(GATTLayout(services), of: path)
        let uuids = services.map { DBusValue.string($0.uuid.description) }
        tell(tree.set(["UUIDs": .array(uuids, of: .string)], of: .device, at: path))
        tell(tree.set(["ServicesResolved": .boolean(true)], of: .device, at: path))
        // Subscriptions from an earlier connection are made again.
        for (characteristic, state) in characteristics where state.device == path && !state.sessions.isEmpty {
            subscribe(to: characteristic) { _, _ in }
        }
    }

    /// Puts a device's services on the bus. Those that seem to be known stay as they are, as in BlueZ's cache.
    private func show(_ layout: GATTLayout, of path: DBusObjectPath) {
        guard let known = devices[path]?.layout else { return }
        var services: [GATTLayout.Service] = []
        for service in known.services where !layout.services.contains(where: service.isTaken) {
            let object = path.child("service" + hexadecimal(service.start))
            for path in characteristics.keys where path.isAtOrBelow(object) { release(path) }
            tree.remove(object).forEach(tell)
        }
        for service in layout.services {
            if let cached = known.services.first(where: { $0.isTaken(for: service) }) {
                services.append(cached)
            } else {
                services.append(service)
                show(service, of: path)
            }
        }
        devices[path]?.layout.services = services
    }

    private func show(_ service: GATTLayout.Service, of device: DBusObjectPath) {
        let path = device.child("service" + hexadecimal(service.start))
        tell(
            tree.add(
                path, .service,
                [
                    "Handle": .uint16(service.start), "UUID": .string(service.uuid.description),
                    "Device": .objectPath(device), "Primary": .boolean(true), "Includes": .array([], of: .objectPath),
                ]))
        for characteristic in service.characteristics { show(characteristic, of: path, device: device) }
    }

    private func show(_ characteristic: GATTLayout.Characteristic, of service: DBusObjectPath, device: DBusObjectPath) {
        let path = service.child("char" + hexadecimal(characteristic.handle))
        let declared = characteristic.declared
        characteristics[path] = Characteristic(device: device, declared: declared)
        var properties: [String: DBusValue] = [
            "Handle": .uint16(characteristic.handle), "UUID": .string(declared.uuid.description),
            "Service": .objectPath(service), "Flags": .array(declared.flags.map(DBusValue.string), of: .string),
        ]
        if settings.hasMTU { properties["MTU"] = .uint16(UInt16(settings.mtuDelay == nil ? settings.radio.mtu : 23)) }
        if settings.hasMTU, let delay = settings.mtuDelay {
            // BlueZ 5.66 tells nobody of the change.
            after(delay) { blueZ in
                _ = blueZ.tree.set(["MTU": .uint16(UInt16(blueZ.settings.radio.mtu))], of: .characteristic, at: path)
            }
        }
        if declared.canNotify { properties["Notifying"] = .boolean(false) }
        if declared.properties.contains(.notify) { properties["NotifyAcquired"] = .boolean(false) }
        if declared.properties.contains(.writeWithoutResponse) { properties["WriteAcquired"] = .boolean(false) }
        tell(tree.add(path, .characteristic, properties))
        if let handle = characteristic.configurationHandle {
            tell(
                tree.add(
                    path.child("desc" + hexadecimal(handle)), .descriptor,
                    [
                        "Handle": .uint16(handle), "UUID": .string(BluetoothUUID(short: 0x2902).description),
                        "Characteristic": .objectPath(path),
                    ]))
        }
    }

    private func hexadecimal(_ handle: UInt16) -> String {
        let digits = String(handle, radix: 16)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }

    // MARK: The end

    private func disconnect(_ call: DBusMessage, from path: DBusObjectPath) {
        failToConnect(to: path, "br-connection-canceled")
        guard devices[path]?.link != nil else { return answer(call) }
        endLink(to: path, for: call)
    }

    /// Ends a connection, after the time that BlueZ leaves its profiles, and answers `call` when it is down.
    func endLink(to path: DBusObjectPath, for call: DBusMessage) {
        devices[path]?.link?.waiting.append(call)
        guard let link = devices[path]?.link, !link.isEnding else { return }
        devices[path]?.link?.isEnding = true
        after(settings.disconnectDelay) { blueZ in
            guard let device = blueZ.devices[path], device.link?.number == link.number else { return }
            blueZ.disconnect(device.neighbour.station, link.number)
        }
    }

    func disconnect(_ station: SimulatedStation, _ number: Int) {
        Task { await station.disconnect(number) }
    }

    /// A connection is over, whoever ended it.
    func linkEnded(to path: DBusObjectPath, _ number: Int) {
        guard let device = devices[path], let link = device.link, link.number == number else { return }
        devices[path]?.link = nil
        for (characteristic, state) in characteristics where state.device == path { closeSockets(of: characteristic) }
        tell(tree.set(["ServicesResolved": .boolean(false)], of: .device, at: path))
        for call in link.waiting { answer(call) }
        tell(tree.set(["Connected": .boolean(false)], of: .device, at: path))
        if link.waiting.contains(where: { $0.member == "RemoveDevice" }) {
            remove(path)
        } else if device.isTemporary {
            keepForAWhile(path)
        }
    }

    /// Ends what a device has with its host at once: the adapter is off or gone, or the device is forgotten.
    func drop(_ path: DBusObjectPath) {
        failToConnect(to: path, "br-connection-canceled")
        guard let device = devices[path], let link = device.link else { return }
        linkEnded(to: path, link.number)
        disconnect(device.neighbour.station, link.number)
    }
}
