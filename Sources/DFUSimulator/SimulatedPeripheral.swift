import DFUProtocol
import DFUTransport

/// A host's end of a connection to a simulated device.
struct SimulatedPeripheral: Peripheral {
    /// Where it was found.
    let address: String
    let station: SimulatedStation
    let connection: Int
    let table: [GATTService]

    let wasConnected = false

    func services(
        within limit: Duration, until isEnough: @escaping @Sendable ([GATTService]) -> Bool
    ) async -> [GATTService] {
        table
    }

    func read(_ characteristic: BluetoothUUID, of service: BluetoothUUID) async throws(TransportError) -> [UInt8] {
        try require(.read, of: characteristic, in: service)
        return try await station.request(.read(characteristic), on: connection)
    }

    func openLink(_ bindings: [Endpoint: EndpointBinding]) async throws(TransportError) -> any Link {
        // In an order that is the same in each run.
        let sorted = bindings.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value)
        for binding in sorted {
            try require(binding.use.property, of: binding.characteristic, in: binding.service)
        }
        let listener = SimulatedListener(bindings: bindings)
        station.add(listener, to: connection)
        for binding in sorted where binding.use.isHeard {
            _ = try await station.request(.subscribe(binding.characteristic), on: connection)
        }
        return SimulatedLink(station: station, connection: connection, listener: listener)
    }

    func disconnect() async {
        await station.disconnect(connection)
    }

    private func require(
        _ property: GATTCharacteristic.Properties, of characteristic: BluetoothUUID, in service: BluetoothUUID
    ) throws(TransportError) {
        guard let service = table.first(where: { $0.uuid == service }) else {
            throw TransportError(.missing, message: "The device has no service \(service).")
        }
        guard let found = service.characteristics.first(where: { $0.uuid == characteristic }) else {
            throw TransportError(
                .missing, message: "The device has no characteristic \(characteristic) in its service \(service.uuid).")
        }
        guard !found.properties.isDisjoint(with: property) else {
            throw TransportError(
                .missing, message: "The device's characteristic \(characteristic) cannot be used as is needed here.")
        }
    }
}

extension EndpointBinding.Use {
    fileprivate var property: GATTCharacteristic.Properties {
        switch self {
        case .notify, .writeAndNotify: [.notify, .indicate]
        case .writeWithoutResponse: .writeWithoutResponse
        case .write: .write
        }
    }
}
