internal import DFUPackage
internal import DFUProtocol
internal import DFUTransport

/// One device's update, whatever its protocol: the way to the device, how often it may be lost, and what is told.
///
/// Used by one task from beginning to end.
final class DeviceSession {
    /// How endpoints are found among a device's services.
    typealias Bindings = @Sendable ([GATTService]) throws(TransportError) -> [Endpoint: EndpointBinding]

    /// What protocols differ in on the way to a device.
    struct Rules {
        /// Losses of the link in a row, without anything new between them, that end an update.
        var tries = 3
        /// What is new is one of these.
        var unit = "block"
        /// How long a device is waited for that is to come back.
        var reconnectLimit = Duration.seconds(30)
        /// How packets stand in a capture.
        var dialect: any CaptureDialect
    }

    let updater: Updater
    /// The device as asked.
    let device: String
    let package: Package
    let observer: UpdateObserver
    let transport: any Transport
    let teller: ProgressTeller
    var rules: Rules

    /// Where the device is spoken to.
    var address: String {
        didSet { if address != oldValue { observer.address?(address) } }
    }
    /// What is known from an interrupted update.
    var checkpoint: Checkpoint
    /// The protocol that the device has shown, or somebody vouches, that it speaks.
    var protocolName: String?
    /// The version that it ran when the update began.
    var versionBefore: String?
    /// Blocks, objects and commands that were sent again.
    var retries = 0
    /// What a failure from here on leaves the device with.
    var deviceState = UpdateError.DeviceState.asBefore
    /// Whether the verdict on the whole was asked for: then only the device's own no tells what it runs.
    var isUndecided = false

    private(set) var connections = 0
    private(set) var peripheral: (any Peripheral)?
    private(set) var link: (any Link)?
    /// Losses of the link in a row, without anything new between them.
    private var losses = 0
    private var bindings: Bindings?
    /// Held to the end: no other program is to get in while the device is away.
    private var reservations: [String: DeviceReservation] = [:]
    /// Whether the device had a version to read.
    private(set) var hasVersion = false
    /// What the last write failed with for which this machine is the reason, not the device.
    let machineFailure = Locked<TransportError?>(nil)
    /// Whether the device's services have been learnt anew.
    private var hasForgottenServices = false

    init(
        updater: Updater, device: String, at address: String, package: Package, observer: UpdateObserver, rules: Rules
    ) {
        self.updater = updater
        self.device = device
        self.address = address
        self.package = package
        self.observer = observer
        self.rules = rules
        teller = ProgressTeller(observer: observer)
        if let recorder = observer.capture {
            transport = CapturingTransport(updater.transport, recorder: recorder, capturesPackets: false)
            recorder.measure(on: updater.clock)
        } else {
            transport = updater.transport
        }
        let package = package.sha256.hexadecimal
        checkpoint =
            updater.checkpoints?.load(package: package, device: device) ?? Checkpoint(package: package, device: device)
    }

    func disconnect() async {
        await peripheral?.disconnect()
        peripheral = nil
        link = nil
    }

    /// Writes down what is to be sent to whom.
    func beginCapture(by protocolName: String) {
        var profile = updater.profile
        if let gap = updater.options.gap { profile.blockAck.gap = gap }
        observer.capture?.begin(device, package, by: protocolName, profile: profile, options: updater.options)
    }

    /// The report of an update that is over.
    func report(
        _ verdict: UpdateReport.Verdict, bytes: Int, version: String?, crc32: UInt32
    ) -> UpdateReport {
        updater.checkpoints?.remove(device: device)
        return UpdateReport(
            protocolName: protocolName ?? "", verdict: verdict, bytes: bytes, version: version,
            versionBefore: versionBefore, crc32: crc32, connections: connections, retries: retries)
    }

    func saveCheckpoint() {
        do {
            try updater.checkpoints?.save(checkpoint)
        } catch {
            log("the checkpoint cannot be written; the device will say where to go on")
        }
    }
}

// MARK: Connecting

extension DeviceSession {
    /// How long a service may be missing after all seemed to be resolved (bluez/bluez #1489: about a second).
    static let lateServices = Duration.seconds(3)
    /// Between two tries to connect.
    private static let connectPause = Duration.milliseconds(300)

    /// Connects, trying again where the device was heard.
    func connect(phase: Phase) async throws(UpdateError) {
        teller.enter(phase)
        let limit = phase == .reconnect ? rules.reconnectLimit : updater.options.connectLimit
        var retriesLeft = updater.options.connectRetries
        while true {
            do throws(TransportError) {
                let peripheral = try await connectOnce(within: limit)
                if peripheral.wasConnected { noteForeignConnection() }
                return
            } catch {
                let isWorthATry = error.code == .connectFailed || error.code == .disconnected
                guard isWorthATry, retriesLeft > 0 else { throw connectFailure(error, phase) }
                retriesLeft -= 1
                log("connecting failed (\(error.message)); trying again, \(retriesLeft) more times at most")
                // What was in the way needs a moment to go.
                try? await updater.clock.sleep(for: Self.connectPause)
            }
        }
    }

    /// One try, with the connection parameters that the profile wants.
    @discardableResult
    func connectOnce(within limit: Duration) async throws(TransportError) -> any Peripheral {
        if reservations[address] == nil { reservations[address] = try await transport.reserve(address) }
        let peripheral = try await transport.connect(
            to: address, asking: updater.profile.connection.parameters, timeout: limit)
        self.peripheral = peripheral
        connections += 1
        if let refusal = peripheral.unmetParameters { noteUnmetParameters(refusal) }
        return peripheral
    }

    private func connectFailure(_ error: TransportError, _ phase: Phase) -> UpdateError {
        let tries = updater.options.connectRetries + 1
        let count = tries == 1 ? "once" : "\(tries) times"
        return switch error.code {
        case .notFound where phase == .reconnect, .connectFailed where phase == .reconnect,
            .disconnected where phase == .reconnect:
            UpdateError(
                .linkLost, phase: phase, reason: "linkLost",
                message: "the link was lost, and it could not be reached again (\(error.message)); "
                    + "run the same command to go on", deviceState: deviceState, cause: error)
        case .connectFailed, .disconnected:
            UpdateError(
                .connectFailed, phase: phase, reason: "connectFailed",
                message:
                    "connecting failed \(count) (\(error.message)); bring it closer, and end other connections to it",
                deviceState: deviceState, cause: error)
        case .servicesUnresolved:
            UpdateError(error, phase: .discover, deviceState: deviceState)
        case .notFound, .timeout, .missing, .subscribeRefused, .attributeError, .environment, .permission, .cancelled,
            .bondMismatch:
            failure(error)
        }
    }

    /// Whoever named parameters is to know that they are not in force; others may look.
    private func noteUnmetParameters(_ refusal: String) {
        if case .parameters = updater.profile.connection {
            warn("connectionParametersNotSet", refusal)
        } else {
            log(refusal)
        }
    }

    private func noteForeignConnection() {
        warn(
            "connectedAlready",
            "it is connected already, by another program or an earlier run: that connection is used, and ended after the update"
        )
    }

    /// The services that the device shows, as soon as `isEnough` of them are there: it may show some a moment later.
    func services(until isEnough: @escaping @Sendable ([GATTService]) -> Bool) async -> [GATTService] {
        await peripheral?.services(within: Self.lateServices, until: isEnough) ?? []
    }

    /// Subscribes; a link that is lost meanwhile is made again, and so is one whose services may be remembered wrongly.
    ///
    /// - Parameter reconnect: Comes to the device again, where it may be elsewhere than it was.
    func openLink(
        phase: Phase, to bindings: @escaping Bindings, reconnect: (() async throws(UpdateError) -> Void)? = nil
    ) async throws(UpdateError) {
        self.bindings = bindings
        while true {
            guard let peripheral else { preconditionFailure("a link is opened on a connected device") }
            teller.enter(phase)
            do throws(TransportError) {
                let services = await services { (try? bindings($0)) != nil }
                link = try await peripheral.openLink(try bindings(services))
                return
            } catch {
                switch error.code {
                case .disconnected:
                    try noteLoss(gained: false)
                    await disconnect()
                    if let reconnect { try await reconnect() } else { try await connect(phase: .reconnect) }
                case .missing: try await learnServicesAnew(because: error)
                case .timeout:
                    throw UpdateError(
                        .silent, phase: phase, reason: "noAnswer",
                        message: "its subscription was not answered (\(error.message)); restart it, and try again",
                        deviceState: deviceState, cause: error)
                case .notFound, .connectFailed, .servicesUnresolved, .bondMismatch, .subscribeRefused, .attributeError,
                    .environment, .permission, .cancelled:
                    throw failure(error)
                }
            }
        }
    }

    /// Connects again to a device whose services are forgotten, once, where what is missing may be a memory of what it was
    /// before.
    func learnServicesAnew(because error: TransportError) async throws(UpdateError) {
        var cure = "a device with other UUIDs needs --profile"
        if !hasForgottenServices {
            hasForgottenServices = true
            let memory: ServiceMemory
            do throws(TransportError) {
                memory = try await transport.forgetServices(of: address)
            } catch {
                throw failure(error)
            }
            switch memory {
            case .forgotten:
                log("\(error.message): its services are looked for anew")
                await disconnect()
                return try await connect(phase: .connect)
            case .keptWithPairing:
                cure =
                    "what is remembered of a paired device may be out of date: dfu forget \(address), then pair it again"
            case .none: break
            }
        }
        throw UpdateError(
            .refused, phase: .discover, reason: "noKnownService",
            message: "it offers no update that this tool knows (\(error.message)); \(cure)", deviceState: deviceState,
            cause: error)
    }

    /// Opens on a new connection what was open on the one before.
    func openLinkAgain(phase: Phase) async throws(UpdateError) {
        guard let bindings else { preconditionFailure("a link is opened again that was open before") }
        try await openLink(phase: phase, to: bindings)
    }

    /// Makes the link anew after it was lost.
    func reopen() async throws(UpdateError) {
        await disconnect()
        try await connect(phase: .reconnect)
        try await openLinkAgain(phase: .reconnect)
    }

    /// Counts a loss of the link, and gives up after as many in a row as there are tries.
    func noteLoss(gained: Bool) throws(UpdateError) {
        losses = gained ? 1 : losses + 1
        guard losses >= rules.tries else { return }
        throw UpdateError(
            .linkLost, phase: teller.phase, reason: "linkLost",
            message: "the link was lost\(losses == 1 ? "" : " \(losses) times in a row without a new \(rules.unit)"); "
                + "bring the device closer and run the same command to go on", deviceState: deviceState)
    }
}

// MARK: Versions

extension DeviceSession {
    /// Reads the version that runs before the update.
    func noteVersionBefore() async {
        hasVersion = await versionLocation() != nil
        versionBefore = await readVersion()
    }

    /// The version that runs, where the device can tell.
    func readVersion() async -> String? {
        guard let location = await versionLocation(), let peripheral else { return nil }
        do throws(TransportError) {
            return try await peripheral.readText(location.characteristic, of: location.service)
        } catch {
            log("its version cannot be read (\(error.message))")
            return nil
        }
    }

    private func versionLocation() async -> (service: BluetoothUUID, characteristic: BluetoothUUID)? {
        guard let uuid = updater.profile.versionCharacteristic, let peripheral else { return nil }
        // A device that had one has one again, maybe a moment later.
        let services = await peripheral.services(within: hasVersion ? Self.lateServices : .zero) { services in
            services.contains { $0.canRead(uuid) }
        }
        return services.first { $0.canRead(uuid) }.map { ($0.uuid, uuid) }
    }
}
