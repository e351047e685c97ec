import DFUTransport
import TestSupport
import Testing

/// A program of its own at the real BlueZ, which calls its methods as they are.
struct BlueZClient {
    let bus: DBusConnection
    let daemon: BlueZDaemon

    init() async throws {
        bus = try await DBusConnection.open()
        daemon = try await BlueZDaemon.open()
    }

    /// Calls a method of a characteristic.
    @discardableResult
    func call(_ member: String, _ body: [DBusValue] = [], at path: DBusObjectPath) async throws -> [DBusValue] {
        try await bus.call(
            .call(member, of: BlueZInterface.characteristic, at: path, destination: "org.bluez", body: body),
            timeout: .seconds(60)
        ).body
    }

    /// The error that a call is answered with, as `Name: text`; nil where it succeeds.
    func refusal(_ member: String, _ body: [DBusValue] = [], at path: DBusObjectPath) async throws -> String? {
        do {
            try await call(member, body, at: path)
            return nil
        } catch let error as DBusError {
            return "\(error.name?.split(separator: ".").last ?? "\(error.code)"): \(error.message)"
        }
    }

    func write(_ bytes: [UInt8], as type: String, to path: DBusObjectPath) async throws -> String? {
        try await refusal("WriteValue", [.bytes(bytes), .properties(["type": .string(type)])], at: path)
    }

    /// A socket, by `AcquireWrite` or `AcquireNotify`, and the MTU that is told with it.
    func acquire(_ member: String, at path: DBusObjectPath) async throws -> (socket: FileDescriptor, mtu: Int) {
        let answer = try await call(member, [.properties([:])], at: path)
        guard case .fileDescriptor(let socket) = answer.first, case .uint16(let mtu) = answer.last else {
            throw DBusError(.invalidMessage, message: "no socket")
        }
        return (socket, Int(mtu))
    }

    /// Waits until the objects are so.
    func wait(until condition: @escaping @Sendable (BlueZObjectTree) -> Bool) async throws {
        _ = try #require(try await daemon.wait(.seconds(60), until: condition))
    }

    /// A device's characteristic.
    func characteristic(_ uuid: BluetoothUUID, of address: String) async throws -> BlueZCharacteristic {
        let tree = await daemon.tree
        let device = try #require(tree.devices().first { $0.address == address })
        return try #require(
            tree.services(of: device.path).flatMap { tree.characteristics(of: $0.path) }
                .first { $0.uuid == uuid })
    }
}
