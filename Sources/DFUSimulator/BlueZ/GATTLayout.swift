import DFUTransport

/// Where a device's services, characteristics and descriptors lie in its table of attributes.
struct GATTLayout: Hashable {
    /// A characteristic, by the handle of its declaration; its value is the next one.
    struct Characteristic: Hashable {
        var handle: UInt16
        var declared: GATTCharacteristic

        /// The descriptor by which notifications are switched on; nil where there are none.
        var configurationHandle: UInt16? { declared.canNotify ? handle + 2 : nil }
    }

    /// A service, by its first and last handle.
    struct Service: Hashable {
        var start: UInt16
        var end: UInt16
        var uuid: BluetoothUUID
        var characteristics: [Characteristic]

        /// Whether BlueZ takes the other one for this one, without looking at what is in it.
        func isTaken(for other: Service) -> Bool {
            uuid == other.uuid && start == other.start && end == other.end
        }
    }

    var services: [Service] = []

    /// The table with these services in their order, behind the two that every device has (Generic Access and Generic
    /// Attribute), which take thirteen handles on a usual one.
    init(_ shown: [GATTService] = []) {
        var next: UInt16 = 14
        for service in shown {
            let start = next
            next += 1
            let characteristics = service.characteristics.map { declared in
                defer { next += declared.canNotify ? 3 : 2 }
                return Characteristic(handle: next, declared: declared)
            }
            services.append(
                Service(start: start, end: next - 1, uuid: service.uuid, characteristics: characteristics))
        }
    }
}

extension GATTCharacteristic {
    /// Whether it sends notifications or indications.
    var canNotify: Bool { !properties.isDisjoint(with: [.notify, .indicate]) }

    /// What it can do, in BlueZ's words.
    var flags: [String] {
        let names: [(Properties, String)] = [
            (.read, "read"), (.writeWithoutResponse, "write-without-response"), (.write, "write"),
            (.notify, "notify"), (.indicate, "indicate"),
        ]
        return names.filter { properties.contains($0.0) }.map(\.1)
    }
}
