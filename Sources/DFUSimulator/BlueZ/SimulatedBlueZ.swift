package import DFUTransport

/// Plays `org.bluez`, as BlueZ 5.66 does it, on a bus: adapters, and simulated devices in their range.
///
/// It lives on the thread of its connection to the bus, in real time. It starts tasks that nobody waits for. They end by
/// themselves: those that read calls when it is stopped or not held any more, and one for each request to a device, and
/// each pairing with it, with the device's or the agent's answer or the end of its connection.
package actor SimulatedBlueZ {
    struct Adapter {
        var configuration: SimulatedAdapter
        /// The clients that want a discovery, by their unique names, with what they want to hear of.
        var discoveries: [String: DiscoveryFilter?] = [:]
        /// Filters of clients that have not started a discovery.
        var filters: [String: DiscoveryFilter] = [:]
        /// When devices are heard again.
        var nextReport: PollExecutor.Timer?

        /// Whether every client of the discovery has a filter, which lets each report through.
        var isFiltered: Bool { discoveries.values.allSatisfy { $0 != nil } }
    }

    /// A device in range of all adapters.
    struct Neighbour {
        var advertised: AdvertisedDevice
        let station: SimulatedStation
        /// How often it was heard.
        var reports = 0
        /// Where it is heard; at first where it was at the beginning.
        var address: String

        init(_ advertised: AdvertisedDevice, _ station: SimulatedStation) {
            self.advertised = advertised
            self.station = station
            address = station.address
        }

        /// The name in its advertisements, once one has brought it.
        var heardName: String? { reports < advertised.firstNamedReport ? nil : advertised.name }

        /// The device as an advertisement shows it.
        func heard(by advertisement: DeviceAdvertisement) -> Neighbour {
            var neighbour = self
            neighbour.address = advertisement.address
            neighbour.advertised.name = advertisement.name ?? advertised.name
            neighbour.advertised.services = advertisement.services ?? advertised.services
            return neighbour
        }
    }

    /// What BlueZ keeps of a device when it is not running (`/var/lib/bluetooth`).
    struct StoredDevice {
        var isPaired: Bool
        /// Whether the device has the same keys still.
        var keysFit = true
    }

    /// A device as one adapter knows it.
    struct Device {
        var adapter: DBusObjectPath
        var station: SimulatedStation
        /// Whether it is forgotten some time after it was heard the last time: nobody has wanted to connect to it.
        var isTemporary = true
        /// When it is forgotten.
        var disappearance: PollExecutor.Timer?
        /// The connection that is to be made.
        var attempt: Attempt?
        var link: Link?
        /// The pairing that is under way.
        var pairing: Pairing?
        /// The services that are on the bus, which stay there without a connection.
        var layout = GATTLayout()

        /// A connection.
        struct Link {
            /// The station's number for it.
            var number: Int
            var isResolved = false
            /// Whether what wants pairing is let through.
            var isEncrypted: Bool
            /// Whether it is to be ended.
            var isEnding = false
            /// The calls that are answered when it is down.
            var waiting: [DBusMessage] = []
            /// The call of `Pair` that is answered when the services are resolved.
            var pairCall: DBusMessage?
        }
    }

    struct Attempt {
        /// A call of `Connect` or `Pair`.
        var call: DBusMessage
        var timer: PollExecutor.Timer
    }

    struct Characteristic {
        /// The requests for a value that the device has not answered.
        struct Read {
            var offset: UInt16
            var calls: [DBusMessage]
        }

        var device: DBusObjectPath
        var declared: GATTCharacteristic
        var read: Read?
        /// Whether the device has to answer a write.
        var isWriting = false
        /// The clients that want to hear notifications, and whether the device has been told.
        var sessions: [String: Bool] = [:]
        /// What the one client that has acquired it writes commands to.
        var writeSocket: AcquiredSocket?
        /// What the one client that has acquired it hears notifications from.
        var notifySocket: AcquiredSocket?
        /// Whether a client will get it when the device has been told.
        var isAcquiringNotify = false

        var isNotifyAcquired: Bool { isAcquiringNotify || notifySocket != nil }
    }

    let connection: DBusConnection
    let settings: BlueZSettings
    private let executor: PollExecutor
    private let configuration: [SimulatedAdapter]
    private nonisolated let stations: [SimulatedStation]
    nonisolated let arrivals: ArrivalCounter
    var neighbours: [Neighbour]
    var storage: [DBusObjectPath: StoredDevice] = [:]
    /// The services that stay of devices that were removed (`/var/lib/bluetooth/…/cache`).
    var cachedServices: [DBusObjectPath: [GATTLayout.Service]] = [:]
    /// The default one first.
    var agents: [Agent] = []
    var lastPairing = 0
    var adapters: [DBusObjectPath: Adapter] = [:]
    var devices: [DBusObjectPath: Device] = [:]
    var characteristics: [DBusObjectPath: Characteristic] = [:]
    var tree = BlueZObjectTree()
    var failures: [MethodFailure] = []
    var connectFailures: [ConnectFailure] = []
    private var readers: [Task<Void, Never>] = []

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// The name on the bus.
    package static let name = "org.bluez"
    static let path = DBusObjectPath.root.child("org").child("bluez")

    /// A BlueZ with these adapters and these devices, whose addresses differ, in range. It is on the bus from `start()` on.
    ///
    /// - Parameter observer: Is told each event, with the device as it is after it, and must not block.
    package init(
        on connection: DBusConnection, adapters: [SimulatedAdapter] = [SimulatedAdapter()],
        devices: [AdvertisedDevice], settings: BlueZSettings = BlueZSettings(),
        observer: (@Sendable (SimulatedEvent, any SimulatedDevice) -> Void)? = nil
    ) {
        self.connection = connection
        self.settings = settings
        executor = connection.executor
        configuration = adapters
        let arrivals = ArrivalCounter()
        self.arrivals = arrivals
        neighbours = devices.map { advertised in
            Neighbour(
                advertised,
                SimulatedStation(
                    advertised.device, radio: advertised.radio ?? settings.radio, time: .real
                ) { event, device in
                    observer?(event, device)
                    arrivals.take(event)
                })
        }
        stations = neighbours.map(\.station)
        for adapter in adapters {
            for device in devices where device.isKnown || device.isPaired {
                let path = Self.path.child(adapter.name).device(device.device.address)
                storage[path] = StoredDevice(isPaired: device.isPaired, keysFit: !device.hasLostKeys)
            }
        }
    }

    /// The device that had this address at the beginning, as it is now.
    package nonisolated func device(_ address: String) -> (any SimulatedDevice)? {
        stations.first { $0.address == address }?.device
    }

    /// Lets the radio fail between the device and its host; both notice when the supervision timeout is over.
    package nonisolated func loseLink(to address: String) {
        stations.first { $0.address == address }?.loseLink()
    }

    // MARK: On the bus

    /// Comes to the bus, as the daemon does when it starts: it knows no device but those that are known from earlier or
    /// paired.
    ///
    /// - Throws: `answered` where somebody else has the name, `timeout`, `disconnected`.
    package func start() async throws(DBusError) {
        precondition(readers.isEmpty, "it has been started already")
        let calls = await connection.calls(of: .root, withAllBelow: true)
        let owners = try await connection.subscribe(
            to: DBusMatchRule(
                sender: DBusConnection.busName, path: DBusConnection.busPath, interface: DBusConnection.busName,
                member: "NameOwnerChanged"))
        readers = [
            Task { [weak self] in
                for await call in calls { await self?.receive(call) }
            },
            Task { [weak self] in
                for await case .signal(let signal) in owners { await self?.hear(signal) }
            },
        ]
        guard try await connection.requestName(Self.name) else {
            stopReading()
            throw DBusError(name: "org.freedesktop.DBus.Error.Failed", message: "\(Self.name) is on the bus already")
        }
        // Like the real one: whoever watches the name hears of each adapter.
        tell(tree.add(Self.path, .agentManager, [:]))
        for adapter in configuration { add(adapter) }
        connectForAnotherProgram()
    }

    /// Whether it is on the bus.
    var isStarted: Bool { !readers.isEmpty }

    func stopReading() {
        for reader in readers { reader.cancel() }
        readers = []
    }

    isolated deinit {
        stopReading()
        // A watch that outlives its descriptor would be told of the end for ever.
        for characteristic in characteristics.values { unwatch(characteristic) }
    }

    private func hear(_ signal: DBusMessage) {
        guard signal.body.count == 3, case .string(let name) = signal.body[0], signal.body[2] == .string("") else {
            return
        }
        agents.removeAll { $0.owner == name }
        for path in adapters.keys { endDiscovery(of: name, on: path) }
        for (path, device) in devices where device.pairing?.call?.sender == name { cancelPairing(with: path) }
        for path in characteristics.keys { endSession(of: name, at: path) }
    }

    /// Tells everybody.
    func tell(_ signal: DBusMessage?) {
        guard let signal else { return }
        // It fails only where the connection is gone, and everybody with it.
        connection.assumeIsolated { try? $0.send(signal) }
    }

    /// Answers a call.
    func answer(_ call: DBusMessage, _ body: [DBusValue] = []) {
        connection.assumeIsolated { try? $0.answer(call, with: body) }
    }

    /// Answers a call with an error.
    func refuse(_ call: DBusMessage, _ error: DBusError) {
        connection.assumeIsolated { try? $0.answer(call, with: error) }
    }

    /// Does something later.
    @discardableResult
    func after(_ delay: Duration, _ body: @escaping @Sendable (isolated SimulatedBlueZ) -> Void) -> PollExecutor.Timer {
        executor.after(delay) { [weak self] in self?.assumeIsolated(body) }
    }

    /// Has `body` called on the thread, after what is there to do.
    nonisolated func onThread(_ body: @escaping @Sendable (isolated SimulatedBlueZ) -> Void) {
        executor.submit { [weak self] in self?.assumeIsolated(body) }
    }

    /// Stops or takes up again what a watch does.
    func setWatching(_ isOn: Bool, _ watch: PollExecutor.Watch) {
        executor.setEvents(isOn ? .readable : [], of: watch)
    }

    /// Has `body` called when there is something to read from a socket, or its other end is gone.
    func watch(
        _ descriptor: FileDescriptor, _ body: @escaping @Sendable (isolated SimulatedBlueZ) -> Void
    ) -> PollExecutor.Watch {
        executor.watch(descriptor.number, for: .readable) { [weak self] _ in self?.assumeIsolated(body) }
    }

    func unwatch(_ watch: PollExecutor.Watch) {
        executor.unwatch(watch)
    }

    func unwatch(_ characteristic: Characteristic) {
        for socket in [characteristic.writeSocket, characteristic.notifySocket] {
            if let socket { unwatch(socket.watch) }
        }
    }

    func cancel(_ timer: PollExecutor.Timer?) {
        if let timer { executor.cancel(timer) }
    }

    // MARK: Calls

    private func receive(_ call: DBusMessage) {
        let path = call.path ?? .root
        if let trouble = trouble(with: call) {
            if let error = trouble.error { refuse(call, error) }
            return
        }
        guard let (interface, method) = method(called: call, at: path) else {
            let isObjectKnown = tree.introspection(of: path) != nil
            return refuse(call, BlueZError.unknownMethod(call, isObjectKnown: isObjectKnown))
        }
        guard call.signature?.string == method.signature else {
            return refuse(call, BlueZError.unknownMethod(call, isObjectKnown: true))
        }
        switch interface.name {
        case BlueZInterface.introspectable.name: answer(call, [.string(tree.introspection(of: path) ?? "")])
        case BlueZInterface.objectManager.name: answer(call, [tree.managedObjects])
        case BlueZInterface.properties.name: callProperties(call, at: path)
        case BlueZInterface.agentManager.name: callAgentManager(call)
        case BlueZInterface.adapter.name: callAdapter(call, at: path)
        case BlueZInterface.device.name: callDevice(call, at: path)
        case BlueZInterface.characteristic.name: callCharacteristic(call, at: path)
        case BlueZInterface.descriptor.name: callDescriptor(call, at: path)
        default: preconditionFailure("\(interface.name) has no methods")
        }
    }

    private func method(
        called call: DBusMessage, at path: DBusObjectPath
    ) -> (BlueZInterface, BlueZInterface.Method)? {
        guard let member = call.member else { return nil }
        var names = tree.objects[path, default: [:]].keys.sorted()
        if tree.introspection(of: path) != nil { names.append(BlueZInterface.introspectable.name) }
        if path == .root { names.append(BlueZInterface.objectManager.name) }
        for name in names where call.interface == nil || call.interface == name {
            if let interface = BlueZInterface.named(name), let method = interface.method(member) {
                return (interface, method)
            }
        }
        return nil
    }

    private func callProperties(_ call: DBusMessage, at path: DBusObjectPath) {
        guard case .string(let name) = call.body.first, let interface = BlueZInterface.named(name),
            let properties = tree.objects[path]?[name]
        else {
            var name = ""
            if case .string(let asked) = call.body.first { name = asked }
            return refuse(call, BlueZError.noInterface(name))
        }
        guard call.body.count > 1, case .string(let property) = call.body[1] else {
            return answer(call, [.properties(properties)])
        }
        if call.body.count > 2, case .variant(let value) = call.body[2] {
            return set(property, of: interface, at: path, to: value, for: call)
        }
        guard let value = properties[property] else { return refuse(call, BlueZError.noProperty(property)) }
        answer(call, [.variant(value)])
    }

    private func set(
        _ name: String, of interface: BlueZInterface, at path: DBusObjectPath, to value: DBusValue,
        for call: DBusMessage
    ) {
        guard let property = interface.property(name) else { return refuse(call, BlueZError.noProperty(name)) }
        guard property.isWritable else { return refuse(call, BlueZError.readOnly(name)) }
        // The adapter's power is the only thing that can be set.
        guard case .boolean(let isPowered) = value else { return refuse(call, BlueZError.wrongType(of: name)) }
        if isPowered, adapters[path]?.configuration.isBlocked == true { return refuse(call, BlueZError.blocked) }
        setPowered(isPowered, at: path)
        answer(call)
    }
}

extension DBusObjectPath {
    /// The object with this name below this one.
    func child(_ name: String) -> DBusObjectPath {
        guard let path = DBusObjectPath((self == .root ? "" : string) + "/" + name) else {
            preconditionFailure("\(name) is no name of an object")
        }
        return path
    }

    /// The object of the device with this address below an adapter's.
    func device(_ address: String) -> DBusObjectPath {
        child("dev_" + String(address.map { $0 == ":" ? "_" : $0 }))
    }
}
