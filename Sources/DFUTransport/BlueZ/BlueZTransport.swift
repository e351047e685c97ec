/// Reaches devices through one Bluetooth adapter of this machine, by BlueZ's service on the system bus.
///
/// Devices are connected one at a time, as an adapter can; what follows goes side by side. What one transport has connected
/// to is out of reach of others, in this program and in others, until it is disconnected. Once the service has gone or was
/// restarted, or the bus is gone, every call fails with `environment`: open a new one then.
public struct BlueZTransport: Transport {
    /// Which adapter, and where.
    public struct Options: Sendable {
        /// The adapter, such as `hci1`; nil for the first one that is on.
        public var adapter: String?
        /// Whether an adapter that is off is switched on.
        public var powersOn = false
        /// The address of the bus as the D-Bus specification writes it; nil for the system bus, which the variable
        /// `DBUS_SYSTEM_BUS_ADDRESS` may name.
        public var busAddress: String?
        /// The limit for the bus and the service to answer at first.
        public var openingLimit = Duration.seconds(10)
        /// Hears what is done, a line for each step; called from any thread.
        public var log: (@Sendable (String) -> Void)?
        /// How long BlueZ, and a device, may take.
        package var limits = BlueZLimits()
        /// Where the kernel shows the machine's switches for radios.
        package var switches = RadioSwitch.folder
        /// The kernel's management of Bluetooth, which is asked for connection parameters.
        package var management: any ManagementChannel = ManagementSocket()
        /// Where BlueZ keeps what it knows of devices.
        package var storage = BlueZStorage.folder

        /// The first adapter that is on, on the system bus.
        public init() {}
    }

    let central: BlueZCentral

    /// Finds BlueZ and the adapter.
    ///
    /// - Throws: `environment` where there is no bus, no service or no adapter that is on; `permission`; `cancelled`.
    public init(_ options: Options = Options()) async throws(TransportError) {
        let daemon = try await BlueZDaemon.open(
            options.busAddress ?? DBusConnection.systemBusAddress, timeout: options.openingLimit)
        let adapter = try await BlueZCentral.adapter(of: daemon, options)
        central = BlueZCentral(daemon: daemon, adapter: adapter, options)
    }

    /// The adapter's name, such as `hci0`.
    public var adapter: String { central.adapter.lastComponent }

    /// Connects when the device is heard, or uses the connection that there is.
    ///
    /// - Parameters:
    ///   - device: The full address, in any case.
    ///   - timeout: The limit for the connection. Resolving the services has its own (60 s), and so has each call.
    public func connect(to device: String, timeout: Duration) async throws(TransportError) -> any Peripheral {
        try await connect(to: device, asking: nil, timeout: timeout)
    }

    /// Connects likewise, and has the kernel ask for these connection parameters, which needs CAP_NET_ADMIN. What the kernel
    /// had for the device is put back when the connection ends by `disconnect()`.
    ///
    /// A connection that there is already keeps its parameters.
    public func connect(
        to device: String, asking parameters: ConnectionParameters?, timeout: Duration
    ) async throws(TransportError) -> any Peripheral {
        try await central.connect(to: device.uppercased(), asking: parameters, before: .now + timeout)
    }

    /// Reserves the device among the programs at this bus.
    ///
    /// - Throws: `environment` where another one has it.
    public func reserve(_ device: String) async throws(TransportError) -> DeviceReservation? {
        try await central.reserve(device.uppercased())
    }

    /// Has BlueZ forget a device that it keeps no keys for, and with it the table of services that it remembers.
    public func forgetServices(of device: String) async throws(TransportError) -> ServiceMemory {
        try await central.forgetServices(of: device.uppercased())
    }

    /// Listens for a device that fits one of these: what BlueZ knew when the call began does not count as heard.
    public func find(_ hints: [DeviceHint], timeout: Duration) async throws(TransportError) -> String {
        try await central.find(hints, within: timeout)
    }

    /// Listens for devices, until the limit or until `isEnough` of them are there.
    ///
    /// - Parameters:
    ///   - limit: How long.
    ///   - isEnough: Is asked after each change, with the devices that BlueZ knows: heard, connected or remembered. Called
    ///     from any thread; must not block.
    /// - Returns: Those devices as they were at the end.
    /// - Throws: `environment` when the adapter cannot scan, or goes; `permission`; `cancelled`.
    package func scan(
        for limit: Duration, until isEnough: @escaping @Sendable ([BlueZDevice]) -> Bool = { _ in false }
    ) async throws(TransportError) -> [BlueZDevice] {
        try await central.scan(for: limit, until: isEnough)
    }

    /// The devices that BlueZ knows now: heard, connected or remembered.
    package func devices() async -> [BlueZDevice] {
        await central.devices
    }
}
