import DFUTransport

/// A simulated device that is in range of simulated adapters: `sim:KIND[/NAME][?option=value&…]`.
///
/// Beside the options of every simulated device it has those that say how it is found on the air.
struct AdvertisedDeviceID: Sendable, Equatable {
    /// As typed.
    var text: String
    var device: SimulatedDeviceID
    var address: BluetoothAddress?
    var name: String?
    /// How strongly it is heard, in dBm.
    var rssi: Int?

    /// The options of a kind of device.
    private static func options(of kind: SimulatedDeviceID.Kind) -> [Option<AdvertisedDeviceID>] {
        // On a bus there is the wall clock's time alone.
        let inProcess: Set = ["time", "address", "name"]
        let rest = SimulatedDeviceID.options(of: kind).filter { !inProcess.contains($0.description.name) }
        return [
            .option("address", \.address, .address, help: "Its address (default: the next one)."),
            .option("name", \.name, .text("name"), help: "The name that it advertises."),
            .option("rssi", \.rssi, .signalStrength, help: "How strongly it is heard, in dBm."),
        ] + rest.map { $0.nested(at: \.device) }
    }

    /// Where else a device is found that is at this address at first: its bootloader.
    func further(than address: String) -> [String] {
        guard device.kind == .secure, device.secure.buttonless != .bonded else { return [] }
        return BluetoothAddress(address).map { [$0.bootloader.description] } ?? []
    }

    /// A band without any options.
    static let band = AdvertisedDeviceID(
        text: "sim:band", device: SimulatedDeviceID(device: "sim:band", kind: .band))
}

extension AdvertisedDeviceID {
    /// Reads a whole ID.
    ///
    /// - Throws: What it is not.
    init(_ text: String) throws(InvalidValue) {
        guard text.hasPrefix("sim:") else { throw .wrong("not a device that can be simulated, as sim:band") }
        let parts = text.dropFirst(4).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        self.init(text: text, device: try SimulatedDeviceID(kindAndName: parts[0]))
        if parts.count == 2 { try OptionQuery.read(parts[1], Self.options(of: device.kind), into: &self) }
    }
}

extension ValueFormat<AdvertisedDeviceID> {
    /// A simulated device in range.
    static var advertisedDevice: Self {
        ValueFormat(placeholder: "spec", completion: .words(["sim:band", "sim:secure"])) { text throws(InvalidValue) in
            try AdvertisedDeviceID(text)
        }
    }
}

extension ValueFormat<BluetoothAddress> {
    /// Six octets.
    static var address: Self {
        ValueFormat(placeholder: "address") { text throws(InvalidValue) in
            guard let address = BluetoothAddress(text) else {
                throw .wrong("not an address of six octets, as C0:FF:EE:00:00:01")
            }
            return address
        }
    }
}

extension ValueFormat<Int> {
    /// What BlueZ can tell of how strongly a device is heard.
    fileprivate static var signalStrength: Self {
        ValueFormat(placeholder: "dBm") { text throws(InvalidValue) in
            guard let strength = Int(text), (-127...20).contains(strength) else {
                throw .wrong("not a number of dBm from -127 to 20")
            }
            return strength
        }
    }
}
