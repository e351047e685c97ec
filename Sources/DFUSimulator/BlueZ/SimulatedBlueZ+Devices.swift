import DFUProtocol
import DFUTransport

extension SimulatedBlueZ {
    func callDevice(_ call: DBusMessage, at path: DBusObjectPath) {
        switch call.member {
        case "Connect": connect(call, to: path)
        case "Disconnect": disconnect(call, from: path)
        case "Pair": pair(call, with: path)
        case "CancelPairing": cancelPairing(call, with: path)
        default: preconditionFailure("a device has no such method")
        }
    }

    // MARK: Connecting

    private func connect(_ call: DBusMessage, to path: DBusObjectPath) {
        guard let device = devices[path] else { preconditionFailure("a call that is for no device") }
        guard adapters[device.adapter]?.configuration.isPowered == true else {
            return refuse(call, BlueZError.failed("Input/output error"))
        }
        guard device.link == nil || device.attempt != nil else { return answer(call) }
        guard device.attempt == nil else { return refuse(call, BlueZError.failed("Operation already in progress")) }
        guard !isConnecting(device.adapter) else { return refuse(call, BlueZError.busy) }
        keep(path)
        guard !isFailing(call, to: path) else { return }
        startConnecting(to: path, for: call)
    }

    /// Whether an adapter has a connection to make: a controller makes one at a time.
    func isConnecting(_ adapter: DBusObjectPath) -> Bool {
        devices.values.contains { $0.adapter == adapter && $0.attempt != nil }
    }

    /// Does not forget a device any more that is not heard.
    func keep(_ path: DBusObjectPath) {
        cancel(devices[path]?.disappearance)
        devices[path]?.disappearance = nil
        devices[path]?.isTemporary = false
    }

    /// Makes a connection, for a call of `Connect` or `Pair`.
    func startConnecting(to path: DBusObjectPath, for call: DBusMessage) {
        tryToConnect(to: path, for: call, until: .now + settings.connectTimeout)
    }

    /// Waits for the device's next advertisement, at which a connection is made.
    private func tryToConnect(to path: DBusObjectPath, for call: DBusMessage, until deadline: ContinuousClock.Instant) {
        let timer = after(settings.radio.advertisingInterval) { blueZ in
            if let (number, services) = blueZ.connection(to: path) {
                blueZ.connected(to: path, by: number, services: services)
            } else if ContinuousClock.now < deadline {
                blueZ.tryToConnect(to: path, for: call, until: deadline)
            } else {
                blueZ.failToConnect(to: path, "le-connection-abort-by-local")
            }
        }
        devices[path]?.attempt = Attempt(call: call, timer: timer)
    }

    private func connection(to path: DBusObjectPath) -> (number: Int, services: [GATTService])? {
        guard let advertised = advertised(path), advertised.isInRange, advertised.isConnectable else { return nil }
        guard let device = devices[path] else { return nil }
        // It may be the object of an address that the device had once.
        let address = device.station.currentAddress
        return device.adapter.device(address) == path ? device.station.connect(to: address) : nil
    }

    private func failToConnect(to path: DBusObjectPath, _ text: String) {
        guard let attempt = devices[path]?.attempt.take() else { return }
        cancel(attempt.timer)
        if attempt.call.member == "Connect" { return refuse(attempt.call, BlueZError.failed(text)) }
        finishPairing(with: path, .notReached)
    }

    private func connected(to path: DBusObjectPath, by number: Int, services: [GATTService]) {
        guard let station = devices[path]?.station else { return }
        let stored = storage[path]
        devices[path]?.link = Device.Link(number: number, isEncrypted: stored?.isPaired ?? false)
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
        if let stored, stored.isPaired, !stored.keysFit {
            // The call is still waiting for the encryption, which fails and takes the connection with it.
            after(settings.lostKeysDelay) { blueZ in
                guard blueZ.devices[path]?.link?.number == number else { return }
                let attempt = blueZ.devices[path]?.attempt.take()
                blueZ.drop(path)
                blueZ.devices[path]?.attempt = attempt
                blueZ.failToConnect(to: path, "le-connection-abort-by-local")
            }
            return
        }
        if let attempt = devices[path]?.attempt.take() {
            if attempt.call.member == "Connect" { answer(attempt.call) } else { negotiate(with: path) }
        }
        Task { await resolve(services, of: path, over: number) }
    }

    /// Makes the connections that another program is to have from the beginning.
    func connectForAnotherProgram() {
        for index in neighbours.indices where neighbours[index].advertised.isConnected {
            let neighbour = neighbours[index]
            guard
                let adapter = adapters.filter({ $0.value.configuration.isPowered }).keys.min(by: {
                    $0.string < $1.string
                })
            else { return }
            neighbours[index].advertised.isConnected = false
            let path = adapter.device(neighbour.address)
            if devices[path] == nil { addDevice(neighbour, on: adapter, isHeard: false) }
            keep(path)
            if let (number, services) = connection(to: path) { connected(to: path, by: number, services: services) }
        }
    }

    /// The settings of the device that an object stands for.
    func advertised(_ path: DBusObjectPath) -> AdvertisedDevice? {
        guard let address = devices[path]?.station.address else { return nil }
        return neighbours.first { $0.address == address }?.advertised
    }

    // MARK: Services

    /// Exchanges the MTU and discovers the services and their characteristics, and shows them.
    private func resolve(_ services: [GATTService], of path: DBusObjectPath, over number: Int) async {
        guard let station = devices[path]?.station else { return }
        for _ in 0..<(2 + services.count) {
            // Where it fails the end of the connection is told otherwise.
            guard (try? await station.request(.discover, on: number)) != nil else { return }
        }
        guard devices[path]?.link?.number == number, let advertised = advertised(path) else { return }
        switch advertised.discovery {
        case .succeeds(after: .zero), .losesLink(times: 0): resolved(services, of: path, over: number)
        case .succeeds(let delay): after(delay) { $0.resolved(services, of: path, over: number) }
        case .hangs: break
        case .losesLink(let times):
            for index in neighbours.indices where neighbours[index].address == station.address {
                neighbours[index].advertised.discovery = .losesLink(times: times - 1)
            }
            station.loseLink()
        }
    }

    private func resolved(_ services: [GATTService], of path: DBusObjectPath, over number: Int) {
        guard let device = devices[path], device.link?.number == number else { return }
        devices[path]?.link?.isResolved = true
        let delay = advertised(path)?.objectsDelay ?? .zero
        if delay == .zero {
            show(services, of: path)
        } else {
            after(delay) { blueZ in
                if blueZ.devices[path]?.link?.number == number { blueZ.show(services, of: path) }
            }
        }
        tell(tree.set(["ServicesResolved": .boolean(true)], of: .device, at: path))
        tellPaired(path)
        // Subscriptions from an earlier connection are made again.
        for (characteristic, state) in characteristics where state.device == path && !state.sessions.isEmpty {
            subscribe(to: characteristic) { _, _ in }
        }
    }

    private func show(_ services: [GATTService], of path: DBusObjectPath) {
        show(GATTLayout(services), of: path)
        let uuids = services.map { DBusValue.string($0.uuid.description) }
        tell(tree.set(["UUIDs": .array(uuids, of: .string)], of: .device, at: path))
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
                let service = cachedServices[path]?.first { $0.isTaken(for: service) } ?? service
                services.append(service)
                show(service, of: path)
            }
        }
        cachedServices[path] = nil
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
        let mtu = DBusValue.uint16(UInt16(mtu(of: path)))
        if settings.hasMTU { properties["MTU"] = settings.mtuDelay == nil ? mtu : .uint16(23) }
        if settings.hasMTU, let delay = settings.mtuDelay {
            // BlueZ 5.66 tells nobody of the change.
            after(delay) { blueZ in
                _ = blueZ.tree.set(["MTU": mtu], of: .characteristic, at: path)
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
            blueZ.disconnect(device.station, link.number)
        }
    }

    func disconnect(_ station: SimulatedStation, _ number: Int) {
        Task { await station.disconnect(number) }
    }

    /// A connection is over, whoever ended it.
    func linkEnded(to path: DBusObjectPath, _ number: Int) {
        guard let device = devices[path], let link = device.link, link.number == number else { return }
        failToConnect(to: path, "br-connection-canceled")
        finishPairing(with: path, .refused(.canceled))
        devices[path]?.link = nil
        if let call = link.pairCall { refuse(call, BlueZError.failed("Operation canceled")) }
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
        disconnect(device.station, link.number)
    }
}
