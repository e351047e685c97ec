import DFUTransport

extension BluetoothUUID {
    /// What it is called (Bluetooth Assigned Numbers, 3.4 and 3.8, and the makers of DFU protocols); nil where it is not
    /// known here.
    var name: String? { Self.names[self] }

    private static let names: [BluetoothUUID: String] = {
        let short = Dictionary(uniqueKeysWithValues: shortNames.map { (BluetoothUUID(short: $0), $1) })
        return longNames.reduce(into: short) { names, entry in
            guard let uuid = BluetoothUUID(entry.key) else { preconditionFailure("\(entry.key) is no UUID") }
            names[uuid] = entry.value
        }
    }()

    private static let shortNames: [UInt32: String] = [
        0x1800: "Generic Access", 0x1801: "Generic Attribute", 0x1802: "Immediate Alert", 0x1803: "Link Loss",
        0x1804: "Tx Power", 0x1805: "Current Time", 0x1808: "Glucose", 0x1809: "Health Thermometer",
        0x180A: "Device Information", 0x180D: "Heart Rate", 0x180F: "Battery", 0x1810: "Blood Pressure",
        0x1811: "Alert Notification", 0x1812: "Human Interface Device", 0x1814: "Running Speed and Cadence",
        0x1816: "Cycling Speed and Cadence", 0x1818: "Cycling Power", 0x1819: "Location and Navigation",
        0x181A: "Environmental Sensing", 0x181B: "Body Composition", 0x181C: "User Data", 0x181D: "Weight Scale",
        0x1822: "Pulse Oximeter", 0x1826: "Fitness Machine", 0xFE59: "Nordic Secure DFU",
        0x2A00: "Device Name", 0x2A01: "Appearance", 0x2A04: "Preferred Connection Parameters",
        0x2A05: "Service Changed", 0x2A06: "Alert Level", 0x2A07: "Tx Power Level", 0x2A19: "Battery Level",
        0x2A23: "System ID", 0x2A24: "Model Number", 0x2A25: "Serial Number", 0x2A26: "Firmware Revision",
        0x2A27: "Hardware Revision", 0x2A28: "Software Revision", 0x2A29: "Manufacturer Name",
        0x2A2A: "Regulatory Certification", 0x2A2B: "Current Time", 0x2A37: "Heart Rate Measurement",
        0x2A38: "Body Sensor Location", 0x2A39: "Heart Rate Control Point", 0x2A50: "PnP ID", 0x2A6E: "Temperature",
        0x2A6F: "Humidity", 0x2AA6: "Central Address Resolution", 0x2B29: "Client Supported Features",
        0x2B2A: "Database Hash",
    ]

    private static let longNames: [String: String] = [
        "8ec90001-f315-4f60-9fb8-838830daea50": "DFU Control Point",
        "8ec90002-f315-4f60-9fb8-838830daea50": "DFU Packet",
        "8ec90003-f315-4f60-9fb8-838830daea50": "Buttonless DFU",
        "8ec90004-f315-4f60-9fb8-838830daea50": "Buttonless DFU with bonds",
        "8e400001-f315-4f60-9fb8-838830daea50": "Buttonless DFU of SDK 12",
        "00001530-1212-efde-1523-785feabcd123": "Nordic Legacy DFU",
        "00001531-1212-efde-1523-785feabcd123": "DFU Control Point",
        "00001532-1212-efde-1523-785feabcd123": "DFU Packet",
        "00001534-1212-efde-1523-785feabcd123": "DFU Version",
        "8d53dc1d-1db7-4cd3-868b-8a527460aa84": "SMP",
        "da2e7828-fbce-4e01-ae9e-261174997c48": "SMP",
        "6e400001-b5a3-f393-e0a9-e50e24dcca9e": "Nordic UART",
        "6e400002-b5a3-f393-e0a9-e50e24dcca9e": "Nordic UART RX",
        "6e400003-b5a3-f393-e0a9-e50e24dcca9e": "Nordic UART TX",
    ]
}

extension GATTCharacteristic.Properties {
    /// What can be done, in the specification's words.
    var words: [String] {
        let words: [(Self, String)] = [
            (.read, "read"), (.writeWithoutResponse, "write without response"), (.write, "write"), (.notify, "notify"),
            (.indicate, "indicate"),
        ]
        return words.filter { contains($0.0) }.map(\.1)
    }
}
