internal import DFUProtocol
internal import DFUTransport

/// Where a device's application and its bootloader are found, as far as is known.
struct DevicePlaces: Sendable, Hashable {
    /// How long something other than the name that was asked for has to wait for it.
    private static let namePatience = Duration.seconds(3)
    /// How long a bootloader that is where it was leaves its application the time to start.
    private static let startPatience = Duration.seconds(8)

    /// The application's address; nil until it is known.
    var application: String?
    /// The bootloader's address; nil until it was met.
    var loader: String?
    /// The name that the bootloader was asked to advertise.
    var name: String?
    /// Whether the bootloader has the application's address.
    var keepsAddress = false
    /// Other devices, which are never taken for this one.
    private let others: Set<String>

    /// A device that is spoken to at `address`, which is not `device` where its bootloader was found in its place.
    init(device: String, address: String, others: Set<String>) {
        self.others = others
        if address != device, BluetoothAddress(device) != nil { application = device }
    }

    // MARK: The bootloader

    /// What tells the bootloader that the device has become, and, after so long, the application that it still is.
    ///
    /// A name of our own is sure. Neighbours of the address may be other devices', so they have to advertise a loader.
    func hints(applicationAfter patience: Duration) -> [DeviceHint] {
        let services = SecureDFU.Attributes.loaderServices
        var hints: [DeviceHint] = []
        if let name { hints.append(DeviceHint(name: name, services: services)) }
        if let loader, loader != application { hints.append(DeviceHint(address: loader)) }
        guard let application else { return hints }
        if !keepsAddress {
            let patience = name == nil ? .zero : Self.namePatience
            for address in Self.neighbours(of: application, +1) where !others.contains(address) && address != loader {
                hints.append(DeviceHint(address: address, services: services, patience: patience))
            }
        }
        let isAlone = keepsAddress || BluetoothAddress(application) == nil
        hints.append(DeviceHint(address: application, patience: isAlone ? .zero : patience))
        return hints
    }

    /// Whether an address is one where this device, or another one, may be.
    func isGuess(_ address: String) -> Bool { address != application && address != loader }

    // MARK: The application

    /// What tells the application that the device has become, and, later, the bootloader that it still is.
    var applicationHints: [DeviceHint] {
        var hints: [DeviceHint] = []
        if let application {
            hints.append(DeviceHint(address: application))
        } else if let loader {
            for address in Self.neighbours(of: loader, -1) where !others.contains(address) {
                hints.append(DeviceHint(address: address))
            }
        }
        if let loader, loader != application {
            hints.append(DeviceHint(address: loader, patience: Self.startPatience))
        }
        return hints
    }

    // MARK: Addresses

    /// The address one further: in the last octet alone, as nRF5 SDK 17.1.0 has it (`nrf_dfu_ble.c`), and over all octets, as
    /// hosts reckon that do not know it.
    private static func neighbours(of address: String, _ step: Int) -> [String] {
        guard let octets = BluetoothAddress(address)?.octets else { return [] }
        let last = octets.dropLast() + [UInt8(truncatingIfNeeded: Int(octets[5]) + step)]
        let number = octets.reduce(0) { $0 << 8 | UInt64($1) } &+ UInt64(bitPattern: Int64(step))
        let whole = (0..<6).map { UInt8(truncatingIfNeeded: number >> (8 * (5 - UInt64($0)))) }
        let addresses = [Array(last), whole].compactMap { BluetoothAddress(octets: $0)?.description }
        return addresses.first == addresses.last ? Array(addresses.prefix(1)) : addresses
    }
}
