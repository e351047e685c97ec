import DFUTransport

/// What a client of a discovery wants to hear of.
struct DiscoveryFilter: Hashable {
    private var services: Set<BluetoothUUID> = []
    private var leastRSSI: Int16?
    private var pattern: String?
    private var isClassicOnly = false

    /// Reads the argument of `SetDiscoveryFilter`; nil where BlueZ does not take it.
    init?(_ properties: [String: DBusValue]) {
        guard properties["RSSI"] == nil || properties["Pathloss"] == nil else { return nil }
        for (name, value) in properties {
            switch (name, value) {
            case ("UUIDs", .array(let values, of: .string)):
                for case .string(let text) in values {
                    guard let service = BluetoothUUID(text) else { return nil }
                    services.insert(service)
                }
            case ("RSSI", .int16(let rssi)) where (-127...20).contains(rssi): leastRSSI = rssi
            case ("Transport", .string(let transport)) where ["auto", "le", "bredr"].contains(transport):
                isClassicOnly = transport == "bredr"
            case ("Pattern", .string(let text)): pattern = text
            case ("Pathloss", .uint16), ("DuplicateData", .boolean), ("Discoverable", .boolean): continue
            default: return nil
            }
        }
    }

    /// Whether a device is one of those.
    func admits(_ neighbour: SimulatedBlueZ.Neighbour) -> Bool {
        let advertised = neighbour.advertised
        guard !isClassicOnly, advertised.rssi >= leastRSSI ?? .min else { return false }
        guard services.isEmpty || !services.isDisjoint(with: advertised.services) else { return false }
        guard let pattern else { return true }
        return neighbour.address.hasPrefix(pattern) || neighbour.heardName?.hasPrefix(pattern) == true
    }
}
