public import DFUProtocol

/// A way to reach devices: BlueZ, or a simulator.
public protocol Transport: Sendable {
    /// Connects to a device and resolves its services.
    ///
    /// One try: whoever calls decides whether to try again. The device may be off the air when this is called; it is
    /// waited for as long as `timeout` lasts. A device that is there already is found as well as one that appears.
    /// - Parameters:
    ///   - device: The device's address as the transport writes it.
    ///   - timeout: The limit for the connection. Resolving the services may have a limit of its own.
    func connect(to device: String, timeout: Duration) async throws(TransportError) -> any Peripheral

    /// Connects likewise, and asks for these connection parameters where the transport can; where it cannot, it connects
    /// all the same, and `Peripheral.unmetParameters` says so. nil asks for nothing.
    func connect(
        to device: String, asking parameters: ConnectionParameters?, timeout: Duration
    ) async throws(TransportError) -> any Peripheral

    /// Has a device to oneself, over all connections that are made to it and lost, as long as what is returned is held; nil
    /// where the transport is nobody else's anyway.
    ///
    /// - Throws: `environment` where another program has it.
    func reserve(_ device: String) async throws(TransportError) -> DeviceReservation?

    /// Drops what is remembered of a device's services, which may be out of date, and ends the connection to it: the next
    /// one learns them anew.
    ///
    /// - Throws: `environment` where another program has the device, `cancelled`.
    func forgetServices(of device: String) async throws(TransportError) -> ServiceMemory

    /// Listens for a device that fits one of these, and tells its address.
    ///
    /// What was heard before the call, or is only remembered, does not count.
    /// - Parameter hints: Where two devices fit at once, the earlier hint goes before.
    /// - Throws: `notFound` when the limit is over, `environment`, `permission`, `cancelled`.
    func find(_ hints: [DeviceHint], timeout: Duration) async throws(TransportError) -> String
}

/// What a device is known by that has restarted as something else. All that is not nil has to fit.
public struct DeviceHint: Sendable, Hashable {
    /// Its address, as the transport writes it.
    public var address: String?
    /// The name that it advertises.
    public var name: String?
    /// It advertises one of these services.
    public var services: Set<BluetoothUUID>?
    /// How long after the search began it is taken at the earliest: until then something better may show.
    public var patience: Duration

    /// A hint at a device.
    public init(
        address: String? = nil, name: String? = nil, services: Set<BluetoothUUID>? = nil, patience: Duration = .zero
    ) {
        precondition(address != nil || name != nil, "services alone are no device's")
        self.address = address
        self.name = name
        self.services = services
        self.patience = patience
    }

    /// Whether what was heard of a device fits, so long after the search began.
    package func fits(
        address: String, name: String?, services: [BluetoothUUID], after elapsed: Duration
    ) -> Bool {
        elapsed >= patience && (self.address ?? address) == address && (self.name == nil || self.name == name)
            && (self.services.map { !$0.isDisjoint(with: services) } ?? true)
    }
}

/// What became of what a transport remembered of a device's services.
public enum ServiceMemory: Sendable, Hashable {
    /// There was nothing: what the device showed is what it has.
    case none
    /// It is forgotten, and the connection is over.
    case forgotten
    /// It stays, because the keys of the pairing would go with it.
    case keptWithPairing
}

extension Transport {
    /// Parameters are nothing that this transport has.
    public func connect(
        to device: String, asking parameters: ConnectionParameters?, timeout: Duration
    ) async throws(TransportError) -> any Peripheral {
        try await connect(to: device, timeout: timeout)
    }

    /// There are no others.
    public func reserve(_ device: String) async throws(TransportError) -> DeviceReservation? { nil }

    /// Nothing is remembered.
    public func forgetServices(of device: String) async throws(TransportError) -> ServiceMemory { .none }

    /// Nothing can be listened for: a device is where it was.
    public func find(_ hints: [DeviceHint], timeout: Duration) async throws(TransportError) -> String {
        throw TransportError(.notFound, message: "this way to devices cannot listen for them")
    }
}

/// A connected device.
public protocol Peripheral: Sendable {
    /// The address that is spoken to.
    var address: String { get }

    /// Whether it was connected already: by another program, or by an earlier run that did not end the connection.
    var wasConnected: Bool { get }

    /// Why the connection parameters that were asked for could not be asked of the machine, and what would help; nil where
    /// they were, or where this has been told of another connection of the transport's.
    var unmetParameters: String? { get }

    /// The services it shows, in its order, as soon as `isEnough` of them are there; what there is when the limit is over.
    ///
    /// A transport may learn of some a moment after it has connected.
    func services(
        within limit: Duration, until isEnough: @escaping @Sendable ([GATTService]) -> Bool
    ) async -> [GATTService]

    /// Reads a characteristic's value.
    func read(_ characteristic: BluetoothUUID, of service: BluetoothUUID) async throws(TransportError) -> [UInt8]

    /// Subscribes to the characteristics that notify and opens those that are written.
    ///
    /// When it returns, the device has confirmed the subscriptions, so no answer to a later write is missed.
    func openLink(_ bindings: [Endpoint: EndpointBinding]) async throws(TransportError) -> any Link

    /// Ends the connection and waits until it is down. Harmless when it is down already.
    func disconnect() async
}

extension Peripheral {
    /// Nothing was asked of the machine.
    public var unmetParameters: String? { nil }

    /// The services it shows now, in its order.
    public var services: [GATTService] {
        get async { await services(within: .zero) { _ in true } }
    }
}

/// How an endpoint of a procedure is found on a device.
public struct EndpointBinding: Sendable, Hashable {
    /// The way an endpoint is used.
    public enum Use: Sendable, Hashable {
        /// The device sends notifications.
        case notify
        /// The host writes commands, which are not answered.
        case writeWithoutResponse
        /// The host writes requests, which are answered.
        case write
        /// The host writes requests, and the device sends notifications or indications.
        case writeAndNotify

        /// Whether the device sends by it.
        package var isHeard: Bool { self == .notify || self == .writeAndNotify }

        /// Whether the device answers what is written to it.
        package var isAnswered: Bool { self == .write || self == .writeAndNotify }
    }

    /// The service.
    public var service: BluetoothUUID
    /// The characteristic.
    public var characteristic: BluetoothUUID
    /// How it is used.
    public var use: Use

    /// An endpoint at this characteristic.
    public init(service: BluetoothUUID, characteristic: BluetoothUUID, use: Use) {
        self.service = service
        self.characteristic = characteristic
        self.use = use
    }
}

/// An open way to a device's endpoints.
public protocol Link: Sendable {
    /// The longest packet that fits one write: the MTU less 3, and never over 512.
    var maximumWriteLength: Int { get }

    /// Writes one packet; returns when it is queued in order (without response) or answered (with response).
    ///
    /// Writing more than `maximumWriteLength` bytes is a programmer's error. Where the task is cancelled, a write that would
    /// wait throws `cancelled`.
    func write(_ bytes: [UInt8], to endpoint: Endpoint) async throws(TransportError)

    /// Hands what comes from now on to `receiver`, after what came while there was none; nil keeps events again.
    ///
    /// When the connection is gone already, each receiver hears `.disconnected` last.
    /// The receiver is called from any thread, one event at a time, in the order of arrival, and must not block.
    func setReceiver(_ receiver: (@Sendable (LinkEvent) -> Void)?)
}

/// What a link hears.
public enum LinkEvent: Sendable, Equatable {
    /// The device sent these bytes.
    case notification([UInt8], from: Endpoint)
    /// The connection is gone; the last event.
    case disconnected
}
