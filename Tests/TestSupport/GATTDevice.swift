package import DFUSimulator
package import DFUTransport

/// A device of any shape: what it shows, and what it does when it is asked and written to.
package struct GATTDevice: AttributeDevice {
    package var address: String
    package var services: [GATTService]
    package var values: [BluetoothUUID: [UInt8]] = [:]
    /// What it does when it is written to.
    package var reaction: @Sendable ([UInt8]) -> [DeviceAction] = { _ in [] }
    /// How it answers what is asked of its attributes; nil: as `values` have it, and with a yes.
    package var answering: @Sendable (AttributeRequest) -> AttributeAnswer? = { _ in nil }

    package mutating func connected() {}
    package mutating func disconnected() {}
    package mutating func rebooted() {}
    package mutating func written(_ bytes: [UInt8], to characteristic: BluetoothUUID) -> [DeviceAction] {
        reaction(bytes)
    }
    package func read(_ characteristic: BluetoothUUID) -> [UInt8]? { values[characteristic] }

    package mutating func answer(_ request: AttributeRequest) -> AttributeAnswer {
        if let answer = answering(request) { return answer }
        guard case .read(let characteristic) = request else { return AttributeAnswer() }
        return AttributeAnswer(values[characteristic].map { .success($0) } ?? .error(.readNotPermitted))
    }

    /// Services as pairs of short UUIDs.
    package init(_ address: String, _ services: [(UInt32, [(UInt32, GATTCharacteristic.Properties)])] = []) {
        self.address = address
        self.services = services.map { uuid, characteristics in
            GATTService(
                uuid: BluetoothUUID(short: uuid),
                characteristics: characteristics.map {
                    GATTCharacteristic(uuid: BluetoothUUID(short: $0), properties: $1)
                })
        }
    }

    /// A device with a bit of everything: Device Information, a battery, and a service to write to that echoes.
    package static var bench: GATTDevice {
        var device = GATTDevice(
            "C0:FF:EE:00:00:10",
            [
                (0x180A, [(0x2A24, .read), (0x2A26, .read), (0x2A29, .read)]), (0x180F, [(0x2A19, [.read, .notify])]),
                (0xABC0, [(0xABC1, [.write, .writeWithoutResponse]), (0xABC2, .notify), (0x2A19, .read)]),
            ])
        let texts: [UInt32: String] = [0x2A24: "B-1", 0x2A26: "1.2.3", 0x2A29: "Acme"]
        for (uuid, text) in texts { device.values[BluetoothUUID(short: uuid)] = Array(text.utf8) }
        device.values[BluetoothUUID(short: 0x2A19)] = [77]
        device.reaction = { bytes in
            bytes == [0xFF]
                ? [.disconnect(after: .zero)]
                : [.notify(bytes.reversed(), from: BluetoothUUID(short: 0xABC2), after: .zero)]
        }
        return device
    }
}
