import DFUTransport

/// What a bus tells of BlueZ, without anything being started or changed by the questions.
struct BusExamination: Sendable {
    /// The service as it is on the bus.
    struct Service: Sendable {
        /// Its process; nil where the bus does not know.
        var processID: UInt32?
        /// Its objects, or why it does not show them.
        var objects: Result<BlueZObjectTree, DBusError>
    }

    /// What systemd says of the service (org.freedesktop.systemd1(5), "Unit Objects").
    struct Unit: Sendable, Equatable {
        /// Such as `loaded`, `masked` or `not-found`.
        var loadState: String
        /// Such as `active`, `inactive` or `failed`.
        var activeState: String
    }

    /// Where the bus is.
    var address: String
    /// Why nothing could be asked.
    var failure: DBusError?
    /// Nil where nobody has the name org.bluez.
    var service: Service?
    /// What systemd says, where nobody has the name.
    var unit: Unit?

    /// A bus of which nothing is known yet.
    init(address: String) {
        self.address = address
    }

    /// Asks the bus at this address.
    ///
    /// - Parameter limit: The limit for each answer, asked for before each question.
    /// - Throws: `cancelled`.
    init(asking address: String, limit: () -> Duration) async throws(TransportError) {
        self.init(address: address)
        do throws(DBusError) {
            let connection = try await DBusConnection.open(address, timeout: limit())
            do throws(DBusError) {
                try await ask(connection, limit)
            } catch {
                await connection.close()
                throw error
            }
            await connection.close()
        } catch {
            if error.code == .cancelled { throw TransportError(BlueZError(error), during: .look) }
            failure = error
        }
    }

    private mutating func ask(_ connection: DBusConnection, _ limit: () -> Duration) async throws(DBusError) {
        guard let owner = try await Self.owner(of: BlueZDaemon.busName, connection, limit()) else {
            unit = try await Self.unit(connection, limit())
            return
        }
        var processID: UInt32?
        let number = try? await Self.askBus("GetConnectionUnixProcessID", owner, connection, limit())
        if case .uint32(let id)? = number { processID = id }
        service = Service(processID: processID, objects: .failure(Self.notBlueZ))
        do throws(DBusError) {
            let call = DBusMessage.call(
                "GetManagedObjects", of: "org.freedesktop.DBus.ObjectManager", at: .root, destination: owner)
            let answer = try await connection.call(call, timeout: limit())
            if let tree = BlueZObjectTree(managedObjects: answer.body) { service?.objects = .success(tree) }
        } catch {
            if error.code == .cancelled || error.code == .disconnected { throw error }
            service?.objects = .failure(error)
        }
    }

    private static let notBlueZ = DBusError(
        .invalidMessage, message: "the owner of the name \(BlueZDaemon.busName) is not BlueZ")

    /// Who has a name; nobody is asked to take it.
    private static func owner(
        of name: String, _ connection: DBusConnection, _ limit: Duration
    ) async throws(DBusError) -> String? {
        do throws(DBusError) {
            guard case .string(let owner)? = try await askBus("GetNameOwner", name, connection, limit) else {
                return nil
            }
            return owner
        } catch {
            guard error.name == "org.freedesktop.DBus.Error.NameHasNoOwner" else { throw error }
            return nil
        }
    }

    private static func askBus(
        _ member: String, _ name: String, _ connection: DBusConnection, _ limit: Duration
    ) async throws(DBusError) -> DBusValue? {
        let call = DBusMessage.call(
            member, of: DBusConnection.busName, at: DBusConnection.busPath, destination: DBusConnection.busName,
            body: [.string(name)])
        return try await connection.call(call, timeout: limit).body.first
    }

    /// What systemd says of `bluetooth.service`; nil where there is no systemd, or it does not say.
    private static func unit(_ connection: DBusConnection, _ limit: Duration) async throws(DBusError) -> Unit? {
        let path = DBusObjectPath("/org/freedesktop/systemd1/unit/bluetooth_2eservice")
        guard let path, let systemd = try await owner(of: "org.freedesktop.systemd1", connection, limit) else {
            return nil
        }
        do throws(DBusError) {
            let call = DBusMessage.call(
                "GetAll", of: "org.freedesktop.DBus.Properties", at: path, destination: systemd,
                body: [.string("org.freedesktop.systemd1.Unit")])
            let properties = try await connection.call(call, timeout: limit).body.first?.properties
            guard case .string(let loadState) = properties?["LoadState"],
                case .string(let activeState) = properties?["ActiveState"]
            else { return nil }
            return Unit(loadState: loadState, activeState: activeState)
        } catch {
            if error.code == .cancelled || error.code == .disconnected { throw error }
            return nil
        }
    }
}
