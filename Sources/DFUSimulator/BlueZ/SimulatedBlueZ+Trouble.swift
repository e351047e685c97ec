package import DFUTransport

extension SimulatedBlueZ {
    /// What a method answers for some time instead of doing anything.
    struct MethodFailure {
        var member: String
        var times: Int
        /// Nil: nothing at all.
        var error: DBusError?
    }

    /// Has the next calls of a method, of whatever object, fail.
    ///
    /// - Parameters:
    ///   - member: The method, such as `StartDiscovery`.
    ///   - times: How many calls; `.max` for all.
    ///   - error: What they are answered with, such as `org.bluez.Error.InProgress`.
    package func fail(_ member: String, times: Int = 1, with error: DBusError) {
        failures.append(MethodFailure(member: member, times: times, error: error))
    }

    /// Has the next calls of a method, of whatever object, wait for an answer for ever.
    package func ignore(_ member: String, times: Int = 1) {
        failures.append(MethodFailure(member: member, times: times))
    }

    /// Has the next calls of `Connect` fail with this text.
    ///
    /// - Parameter shown: How long the device is shown as connected all the same; nil: not at all.
    package func failConnects(times: Int = 1, with text: String, shown: Duration? = nil) {
        connectFailures.append(ConnectFailure(text: text, shown: shown, times: times))
    }

    /// A connection that does not come about.
    struct ConnectFailure {
        var text: String
        var shown: Duration?
        var times: Int
    }

    /// What is to become of a call that is not carried out.
    func trouble(with call: DBusMessage) -> MethodFailure? {
        guard let index = failures.firstIndex(where: { $0.member == call.member }) else { return nil }
        let failure = failures[index]
        failures[index].times -= 1
        if failures[index].times == 0 { failures.remove(at: index) }
        return failure
    }

    /// Whether a call of `Connect` fails as was asked for; then it is answered.
    func isFailing(_ call: DBusMessage, to path: DBusObjectPath) -> Bool {
        guard let failure = connectFailures.first else { return false }
        connectFailures[0].times -= 1
        if connectFailures[0].times == 0 { connectFailures.removeFirst() }
        if let shown = failure.shown {
            tell(tree.set(["Connected": .boolean(true)], of: .device, at: path))
            after(shown) { blueZ in
                guard blueZ.devices[path]?.link == nil else { return }
                blueZ.tell(blueZ.tree.set(["Connected": .boolean(false)], of: .device, at: path))
            }
        }
        refuse(call, BlueZError.failed(failure.text))
        return true
    }

    /// Switches an adapter on or off, as another program or a switch at the machine does.
    package func setPowered(_ isPowered: Bool, adapter name: String) {
        setPowered(isPowered, at: Self.path.child(name))
    }

    /// Blocks an adapter, which switches it off, or lets it go, as rfkill does.
    package func setBlocked(_ isBlocked: Bool, adapter name: String) {
        let path = Self.path.child(name)
        guard adapters[path] != nil else { return }
        if isBlocked { setPowered(false, at: path) }
        adapters[path]?.configuration.isBlocked = isBlocked
        guard settings.hasPowerState, let adapter = adapters[path]?.configuration else { return }
        tell(tree.set(["PowerState": .string(adapter.powerState)], of: .adapter, at: path))
    }

    /// Has another program start a discovery, which goes on for ever.
    package func discoverForAnotherProgram(on name: String) {
        let path = Self.path.child(name)
        // No client has such a name.
        if adapters[path] != nil { startDiscovery(of: "another program", on: path) }
    }

    /// Lets a device advertise by another name, or by none.
    package func rename(_ address: String, to name: String?) {
        change(address) { $0.name = name }
    }

    /// Lets a device appear or vanish; a connection to it is not touched.
    package func setInRange(_ isInRange: Bool, device address: String) {
        change(address) { $0.isInRange = isInRange }
    }

    /// Lets a device forget the keys that it shares with the adapters; the next connections fail.
    package func loseKeys(of address: String) {
        for adapter in adapters.keys { storage[adapter.device(address)]?.keysFit = false }
    }

    private func change(_ address: String, _ body: (inout AdvertisedDevice) -> Void) {
        for index in neighbours.indices where neighbours[index].address == address {
            body(&neighbours[index].advertised)
        }
    }

    /// Plugs an adapter in.
    package func plugIn(_ adapter: SimulatedAdapter) {
        add(adapter)
    }

    /// Pulls an adapter out: its devices go without a word, as with a daemon that tells of the adapter alone.
    package func unplug(_ name: String) {
        let path = Self.path.child(name)
        guard let adapter = adapters.removeValue(forKey: path) else { return }
        cancel(adapter.nextReport)
        for device in devices.keys where device.isAtOrBelow(path) { forget(device) }
        // The adapter's is the last one.
        tell(tree.remove(path).last)
    }

    /// Leaves the bus, as a daemon does that dies: connections end and nothing is told. `start()` brings it back.
    package func stop() async {
        stopReading()
        // What the bus says in the place of a daemon that is gone.
        let error = DBusError(
            name: "org.freedesktop.DBus.Error.NoReply",
            message: "Message recipient disconnected from message bus without replying")
        for device in devices.values {
            let calls = [device.attempt?.call, device.pairing?.call, device.link?.pairCall].compactMap(\.self)
            // A pairing and its connection have one call.
            for call in Set(calls + (device.link?.waiting ?? [])) { refuse(call, error) }
        }
        for device in devices.keys { forget(device) }
        for adapter in adapters.values { cancel(adapter.nextReport) }
        adapters = [:]
        agents = []
        tree = BlueZObjectTree()
        // It fails only where the connection is gone, and the name with it.
        try? await connection.releaseName(Self.name)
    }

    /// Lets go of a device without telling anybody of it.
    func forget(_ path: DBusObjectPath) {
        guard let device = devices.removeValue(forKey: path) else { return }
        cancel(device.disappearance)
        cancel(device.attempt?.timer)
        for request in device.pairing?.waiting ?? [] { request.resume(returning: false) }
        for characteristic in characteristics.keys where characteristic.isAtOrBelow(path) {
            characteristics.removeValue(forKey: characteristic).map(unwatch)
        }
        if let link = device.link { disconnect(device.station, link.number) }
    }
}
