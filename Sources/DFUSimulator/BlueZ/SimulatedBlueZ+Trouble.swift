package import DFUTransport

extension SimulatedBlueZ {
    /// What a method answers for some time instead of doing anything.
    struct MethodFailure {
        var member: String
        var times: Int
        var error: DBusError
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

    /// Has the next calls of `Connect` fail with this text.
    ///
    /// - Parameter shown: How long the device is shown as connected all the same; nil: not at all.
    package func failConnects(times: Int = 1, with text: String, shown: Duration? = nil) {
        connectFailures += Array(repeating: ConnectFailure(text: text, shown: shown), count: times)
    }

    /// A connection that does not come about.
    struct ConnectFailure {
        var text: String
        var shown: Duration?
    }

    /// The error that a call is to be answered with.
    func failure(of call: DBusMessage) -> DBusError? {
        guard let index = failures.firstIndex(where: { $0.member == call.member }) else { return nil }
        let failure = failures[index]
        failures[index].times -= 1
        if failures[index].times == 0 { failures.remove(at: index) }
        return failure.error
    }

    /// Whether a call of `Connect` fails as was asked for; then it is answered.
    func isFailing(_ call: DBusMessage, to path: DBusObjectPath) -> Bool {
        guard !connectFailures.isEmpty else { return false }
        let failure = connectFailures.removeFirst()
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
        for device in devices.keys { forget(device) }
        for adapter in adapters.values { cancel(adapter.nextReport) }
        adapters = [:]
        tree = BlueZObjectTree()
        // It fails only where the connection is gone, and the name with it.
        try? await connection.releaseName(Self.name)
    }

    /// Lets go of a device without telling anybody of it.
    private func forget(_ path: DBusObjectPath) {
        guard let device = devices.removeValue(forKey: path) else { return }
        cancel(device.disappearance)
        cancel(device.attempt?.timer)
        for characteristic in characteristics.keys where characteristic.isAtOrBelow(path) {
            characteristics.removeValue(forKey: characteristic).map(unwatch)
        }
        if let link = device.link { disconnect(device.neighbour.station, link.number) }
    }
}
