import DFUTransport
private import Glibc

/// Which devices `dfu scan` is asked for.
struct ScanFilter: Sendable {
    /// At least one of these services; none: whatever it advertises.
    var services: [BluetoothUUID] = []
    /// A pattern of the shell's for the name.
    var name: String?
    /// The least strength, in dBm.
    var minimumRSSI: Int?

    /// Whether everything is asked for.
    var isOpen: Bool { services.isEmpty && name == nil && minimumRSSI == nil }

    /// Whether this one is asked for. What is not known of a device does not fit.
    func admits(_ device: ScannedDevice) -> Bool {
        guard services.isEmpty || !Set(services).isDisjoint(with: device.services) else { return false }
        if let minimumRSSI, device.rssi ?? .min < minimumRSSI { return false }
        guard let name else { return true }
        return device.name.map { fnmatch(name, $0, 0) == 0 } ?? false
    }
}
