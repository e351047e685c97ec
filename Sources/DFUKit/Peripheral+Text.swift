internal import DFUTransport

extension Peripheral {
    /// Reads a characteristic's value as text.
    func readText(_ characteristic: BluetoothUUID, of service: BluetoothUUID) async throws(TransportError) -> String {
        // Some devices end the text with a zero byte.
        String(decoding: try await read(characteristic, of: service).prefix { $0 != 0 }, as: UTF8.self)
    }
}

extension GATTService {
    /// Whether it has this characteristic, and lets it be read.
    func canRead(_ uuid: BluetoothUUID) -> Bool {
        characteristics.contains { $0.uuid == uuid && $0.properties.contains(.read) }
    }
}
