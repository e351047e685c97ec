import DFUProtocol
import DFUTransport

/// A protocol by which devices are updated, as their services tell of it.
enum UpdateProtocol: String, Encodable, CaseIterable {
    case secure, legacy, smp
    case blockAck = "block-ack"

    /// What an advertisement lets expect: a hint, never a proof. `profile` is that of the block-ack devices.
    static func hints(in services: [BluetoothUUID], profile: DeviceProfile) -> [UpdateProtocol] {
        allCases.filter { candidate in services.contains { $0 == candidate.service(profile) } }
    }

    /// What a connected device has, in words; nil where it does not have what this protocol needs. Nothing is asked of the
    /// device for it.
    func evidence(in services: [GATTService], profile: DeviceProfile) -> String? {
        let characteristics = services.filter { $0.uuid == service(profile) }.flatMap(\.characteristics).map(\.uuid)
        func has(_ uuids: BluetoothUUID?...) -> Bool {
            uuids.allSatisfy { uuid in characteristics.contains { $0 == uuid } }
        }
        switch self {
        case .secure:
            if has(SecureDFU.Attributes.controlPoint, SecureDFU.Attributes.packet) { return "a bootloader" }
            if has(SecureDFU.Attributes.bondedButtonless) {
                return "an application that enters its bootloader, with a bond"
            }
            return has(SecureDFU.Attributes.buttonless) ? "an application that enters its bootloader" : nil
        case .legacy:
            guard has(Self.legacy(1)) else { return nil }
            return has(Self.legacy(2)) ? "control point and packet" : "a control point alone"
        case .smp: return has(BluetoothUUID("da2e7828-fbce-4e01-ae9e-261174997c48")) ? "its characteristic" : nil
        case .blockAck:
            guard (try? profile.bindings(in: services)) != nil else { return nil }
            return "has its characteristics; nothing was asked"
        }
    }

    private func service(_ profile: DeviceProfile) -> BluetoothUUID? {
        switch self {
        case .secure: SecureDFU.Attributes.service
        case .legacy: SecureDFU.Attributes.legacyService
        case .smp: BluetoothUUID("8d53dc1d-1db7-4cd3-868b-8a527460aa84")
        case .blockAck: profile.service
        }
    }

    /// Legacy DFU's characteristics (nRF5 SDK 11.0.0, `ble_dfu.h`).
    private static func legacy(_ number: Int) -> BluetoothUUID? {
        BluetoothUUID("0000153\(number)-1212-efde-1523-785feabcd123")
    }
}
