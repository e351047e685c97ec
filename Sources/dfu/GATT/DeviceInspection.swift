import DFUProtocol
import DFUTransport
import FoundationEssentials

/// What `dfu inspect` tells of a device: its JSON is this value, and its text is made from nothing else.
struct DeviceInspection: Encodable {
    struct Service: Encodable {
        var uuid: BluetoothUUID
        var characteristics: [Characteristic]
    }

    struct Characteristic: Encodable {
        var uuid: BluetoothUUID
        var properties: GATTCharacteristic.Properties
    }

    /// A protocol by which it could be updated.
    struct Evidence: Encodable {
        var `protocol`: UpdateProtocol
        /// What it has of it.
        var has: String
    }

    /// A value that was read.
    struct Value: Encodable {
        var uuid: BluetoothUUID
        var value: String?
        /// Why there is none.
        var problem: String?
    }

    /// The version of this form; it grows without a new number.
    var schema = 1
    var ok = true
    var device: String
    var id: String
    var battery: Int?
    var values: [Value] = []
    var protocols: [Evidence]
    var services: [Service]
    var simulated: Bool

    /// What says something of the device: model, versions, maker, and the battery.
    private static let told: [(service: UInt32, characteristics: [UInt32])] = [
        (0x180A, [0x2A29, 0x2A24, 0x2A27, 0x2A26, 0x2A28]), (0x180F, [0x2A19]),
    ]

    /// Looks at a device, and reads what says something of it.
    ///
    /// - Throws: What ends the connection; a value that cannot be read is no reason to stop.
    init(_ device: ConnectedDevice, profile: DeviceProfile) async throws(TransportError) {
        let services = await device.services { !$0.isEmpty }
        self.device = device.device
        id = device.id
        simulated = device.device.hasPrefix("sim:")
        protocols = UpdateProtocol.allCases.compactMap { candidate in
            candidate.evidence(in: services, profile: profile).map { Evidence(protocol: candidate, has: $0) }
        }
        self.services = services.map { service in
            Service(
                uuid: service.uuid,
                characteristics: service.characteristics.map {
                    Characteristic(uuid: $0.uuid, properties: $0.properties)
                })
        }
        for (service, characteristics) in Self.told {
            guard let found = services.first(where: { $0.uuid == BluetoothUUID(short: service) }) else { continue }
            for uuid in characteristics.map({ BluetoothUUID(short: $0) }) {
                let isThere = found.characteristics.contains { $0.uuid == uuid && $0.properties.contains(.read) }
                if isThere { try await read(uuid, of: found.uuid, device.peripheral) }
            }
        }
    }

    private mutating func read(
        _ uuid: BluetoothUUID, of service: BluetoothUUID, _ peripheral: any Peripheral
    ) async throws(TransportError) {
        do throws(TransportError) {
            let bytes = try await peripheral.read(uuid, of: service)
            if uuid == BluetoothUUID(short: 0x2A19), bytes.count == 1 {
                battery = Int(bytes[0])
            } else {
                values.append(Value(uuid: uuid, value: String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)))
            }
        } catch {
            guard error.code == .attributeError else { throw error }
            let problem = error.attCode.map { "ATT error \(AttributeErrorCode(rawValue: $0))" } ?? error.message
            values.append(Value(uuid: uuid, problem: problem))
        }
    }

    /// The text for people, in lines of so many columns.
    func text(width: Int) -> String {
        var page = LabelledText(width: width)
        page.heading(device)
        for value in values {
            page.row(value.uuid.label, value.value ?? "not readable: \(value.problem ?? "")")
        }
        if let battery { page.row("Battery", "\(battery) %") }
        for (index, found) in protocols.enumerated() {
            page.row(index == 0 ? "Update by" : "", "\(found.protocol.rawValue): \(found.has)")
        }
        if protocols.isEmpty { page.row("Update by", "no protocol that is known here") }
        for service in services {
            page.heading([service.uuid.short, service.uuid.name].compactMap(\.self).joined(separator: "  "))
            page.table(
                service.characteristics.map { characteristic in
                    let uuid = characteristic.uuid
                    return [
                        .init([uuid.short, uuid.name].compactMap(\.self).joined(separator: "  ")),
                        .init(characteristic.properties.words.joined(separator: ", ")),
                    ]
                }, limit: .max)
        }
        if services.isEmpty { page.heading("It shows no services.") }
        return page.text
    }
}

extension BluetoothUUID {
    /// The value's label, short enough to stand before it.
    fileprivate var label: String {
        let labels: [UInt32: String] = [
            0x2A29: "Maker", 0x2A24: "Model", 0x2A27: "Hardware", 0x2A26: "Firmware", 0x2A28: "Software",
            0x2A19: "Battery",
        ]
        return labels[UInt32(high >> 32)] ?? short
    }
}

extension DeviceInspection.Service {
    private enum Key: String, CodingKey { case uuid, name, characteristics }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(uuid.description, forKey: .uuid)
        try container.encodeIfPresent(uuid.name, forKey: .name)
        try container.encode(characteristics, forKey: .characteristics)
    }
}

extension DeviceInspection.Characteristic {
    private enum Key: String, CodingKey { case uuid, name, properties }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(uuid.description, forKey: .uuid)
        try container.encodeIfPresent(uuid.name, forKey: .name)
        try container.encode(properties.words.map { $0.replacing(" ", with: "-") }, forKey: .properties)
    }
}

extension DeviceInspection.Value {
    private enum Key: String, CodingKey { case uuid, name, value, problem }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(uuid.description, forKey: .uuid)
        try container.encodeIfPresent(uuid.name, forKey: .name)
        try container.encodeIfPresent(value, forKey: .value)
        try container.encodeIfPresent(problem, forKey: .problem)
    }
}
