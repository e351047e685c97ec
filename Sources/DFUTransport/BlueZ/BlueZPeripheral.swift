import DFUProtocol

/// A device that is connected by BlueZ.
struct BlueZPeripheral: Peripheral {
    let central: BlueZCentral
    let path: DBusObjectPath
    let address: String
    let wasConnected: Bool
    let unmetParameters: String?
    private let links = Locked<[BlueZLink]>([])
    /// Until it is disconnected.
    private let reservation: Locked<DeviceReservation?>

    init(
        central: BlueZCentral, path: DBusObjectPath, address: String, _ reservation: DeviceReservation,
        wasConnected: Bool, unmetParameters: String?
    ) {
        self.central = central
        self.path = path
        self.address = address
        self.reservation = Locked(reservation)
        self.wasConnected = wasConnected
        self.unmetParameters = unmetParameters
    }

    func services(
        within limit: Duration, until isEnough: @escaping @Sendable ([GATTService]) -> Bool
    ) async -> [GATTService] {
        let path = path
        // BlueZ may say that all is resolved before the objects are on the bus (bluez/bluez #1489).
        _ = try? await central.daemon.wait(limit) { tree in
            tree.device(at: path)?.isConnected != true || isEnough(tree.gattServices(of: path))
        }
        return await central.tree.gattServices(of: path)
    }

    func read(_ characteristic: BluetoothUUID, of service: BluetoothUUID) async throws(TransportError) -> [UInt8] {
        let object = try await central.tree.object(of: characteristic, in: service, at: path)
        do throws(BlueZError) {
            let answer = try await central.request(
                "ReadValue", at: object.path, [.properties([:])], of: path, limit: central.limits.request)
            guard case .bytes(let value) = answer.first else { return [] }
            return value
        } catch {
            throw await central.failure(error, during: .read)
        }
    }

    func openLink(_ bindings: [Endpoint: EndpointBinding]) async throws(TransportError) -> any Link {
        let link = try await BlueZLink.open(bindings, of: path, address: address, central)
        links.withLock { $0.append(link) }
        return link
    }

    /// Ends the connection; one that others made stays where no link came about on it: somebody else may be using it.
    func disconnect() async {
        let open = links.withLock { links in
            defer { links = [] }
            return links
        }
        for link in open { await link.close() }
        defer { reservation.withLock { $0 = nil } }
        guard !wasConnected || !open.isEmpty else { return }
        await central.abandon(path)
        await central.releaseParameters(of: address)
    }
}

extension BlueZObjectTree {
    /// The object of a device's characteristic.
    ///
    /// - Throws: `missing`, `disconnected`.
    func object(
        of characteristic: BluetoothUUID, in service: BluetoothUUID, at device: DBusObjectPath
    ) throws(TransportError) -> BlueZCharacteristic {
        guard self.device(at: device)?.isConnected == true else {
            throw TransportError(.notConnected, during: .read)
        }
        for found in services(of: device) where found.uuid == service {
            if let object = characteristics(of: found.path).first(where: { $0.uuid == characteristic }) {
                return object
            }
        }
        throw TransportError(.missing, message: "it has no characteristic \(characteristic) in a service \(service)")
    }
}
