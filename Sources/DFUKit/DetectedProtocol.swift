internal import DFUProtocol
internal import DFUTransport

/// A way to update a device, as its services show it.
enum DetectedProtocol: Sendable, Hashable {
    /// How an application is sent into its bootloader by a characteristic of Secure DFU.
    enum Buttonless: Sendable, Hashable {
        /// The bootloader knows no bonds, and has an address of its own.
        case unbonded
        /// The bootloader shares the bond, and keeps the address.
        case bonded
        /// As SDK 12 did it.
        case experimental
    }

    /// A bootloader of Secure DFU.
    case secureBootloader
    /// An application that can be sent into its bootloader, which is Secure DFU's in most products, and not in all.
    case secureApplication(Buttonless)
    /// Legacy DFU, in an application or a bootloader.
    case legacy
    /// MCUmgr's SMP.
    case smp
    /// A service as the profile has it, which proves nothing.
    case blockAck

    /// What a device with these services shows, the surest first.
    static func all(in services: [GATTService], profile: DeviceProfile) -> [DetectedProtocol] {
        var found: [DetectedProtocol] = []
        if let secure = secure(in: services) { found.append(secure) }
        let uuids = services.map(\.uuid)
        if uuids.contains(SecureDFU.Attributes.legacyService) { found.append(.legacy) }
        if let smpService, uuids.contains(smpService) { found.append(.smp) }
        if (try? profile.bindings(in: services)) != nil { found.append(.blockAck) }
        return found
    }

    /// MCUmgr's service (Zephyr: `smp_bt.c`).
    private static let smpService = BluetoothUUID("8d53dc1d-1db7-4cd3-868b-8a527460aa84")

    private static func secure(in services: [GATTService]) -> DetectedProtocol? {
        let known = services.flatMap { service in
            service.uuid == SecureDFU.Attributes.service ? service.characteristics.map(\.uuid) : []
        }
        if known.contains(SecureDFU.Attributes.controlPoint), known.contains(SecureDFU.Attributes.packet) {
            return .secureBootloader
        }
        if known.contains(SecureDFU.Attributes.buttonless) { return .secureApplication(.unbonded) }
        if known.contains(SecureDFU.Attributes.bondedButtonless) { return .secureApplication(.bonded) }
        let isExperimental = services.contains { service in
            service.uuid == SecureDFU.Attributes.experimental
                && service.characteristics.contains { $0.uuid == SecureDFU.Attributes.experimental }
        }
        return isExperimental ? .secureApplication(.experimental) : nil
    }

    /// Where a bootloader of Secure DFU is spoken to.
    static func bootloaderBindings(in services: [GATTService]) throws(TransportError) -> [Endpoint: EndpointBinding] {
        guard secure(in: services) == .secureBootloader else { throw lack(in: services) }
        let service = SecureDFU.Attributes.service
        return [
            .controlPoint: EndpointBinding(
                service: service, characteristic: SecureDFU.Attributes.controlPoint, use: .writeAndNotify),
            .packet: EndpointBinding(
                service: service, characteristic: SecureDFU.Attributes.packet, use: .writeWithoutResponse),
        ]
    }

    /// What a device with these services, which show no protocol, lacks.
    static func lack(in services: [GATTService]) -> TransportError {
        guard services.contains(where: { $0.uuid == SecureDFU.Attributes.service }) else {
            return TransportError(.missing, message: "it has no DFU service")
        }
        return TransportError(.missing, message: "its DFU service has no known characteristic")
    }
}

extension DetectedProtocol.Buttonless {
    /// Where the request goes, and the answer comes from.
    var bindings: [Endpoint: EndpointBinding] {
        let (service, characteristic) =
            switch self {
            case .unbonded: (SecureDFU.Attributes.service, SecureDFU.Attributes.buttonless)
            case .bonded: (SecureDFU.Attributes.service, SecureDFU.Attributes.bondedButtonless)
            case .experimental: (SecureDFU.Attributes.experimental, SecureDFU.Attributes.experimental)
            }
        return [
            .buttonless: EndpointBinding(service: service, characteristic: characteristic, use: .writeAndNotify)
        ]
    }
}
