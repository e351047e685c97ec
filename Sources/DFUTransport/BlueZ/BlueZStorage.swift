private import FoundationEssentials

/// What BlueZ keeps of an adapter's devices in files (`doc/settings-storage.txt` in BlueZ's sources).
struct BlueZStorage {
    /// Where BlueZ keeps them.
    static let folder = "/var/lib/bluetooth"

    /// A folder for each adapter, and in it one for each device.
    let folder: String
    /// The adapter's address.
    let adapter: String

    /// The parameters that it connects devices with, as it loads them when it starts (`load_devices`, src/adapter.c); nil
    /// where this user may not read them.
    func connectionParameters() -> [DeviceConnectionParameters]? {
        let path = "\(folder)/\(adapter)"
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path)
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile {
            return []
        } catch {
            return nil
        }
        return names.compactMap { name in
            guard let address = BluetoothAddress(name),
                let data = FileManager.default.contents(atPath: "\(path)/\(name)/info")
            else { return nil }
            return Self.parameters(of: address, in: String(decoding: data, as: UTF8.self))
        }
    }

    /// What a device's file says, which has groups in brackets and a key and its value on a line.
    private static func parameters(of address: BluetoothAddress, in text: String) -> DeviceConnectionParameters? {
        var group = ""
        var values: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("["), line.hasSuffix("]") {
                group = String(line.dropFirst().dropLast())
            } else if let sign = line.firstIndex(of: "=") {
                values["\(group).\(line[..<sign])"] = String(line[line.index(after: sign)...])
            }
        }
        // Devices of the classic kind have no type; a static address is a random one, and anything else is public.
        guard let type = values["General.AddressType"] else { return nil }
        let units = ["MinInterval", "MaxInterval", "Latency", "Timeout"].compactMap { key in
            values["ConnectionParameters.\(key)"].flatMap { UInt16($0) }
        }
        return ConnectionParameters(units: units).map { parameters in
            DeviceConnectionParameters(
                address: address, addressType: type == "static" ? .leRandom : .lePublic, parameters: parameters)
        }
    }
}
