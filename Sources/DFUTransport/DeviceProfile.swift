public import DFUProtocol

/// How a kind of device is updated, as data: what a vendor's block-ack devices share.
///
/// Every value has the built-in band's as its default, so a profile names only what differs.
public struct DeviceProfile: Sendable, Hashable {
    /// Which kind of write carries the host's frames.
    public enum WriteKind: String, Sendable, Hashable, CaseIterable {
        /// Without response where the characteristic offers it, else with response.
        case automatic
        /// Commands, which the device does not answer.
        case withoutResponse
        /// Requests, which the device answers.
        case withResponse
    }

    /// How a device is told from one that merely has the same UUIDs.
    public enum Identification: String, Sendable, Hashable, CaseIterable {
        /// It answers the battery question with a valid frame; nothing else is written before.
        case battery
        /// Whoever names the profile vouches for the device.
        case none
    }

    /// The parameters that a device is connected with for an update.
    public enum Connection: Sendable, Hashable {
        /// Those that go best with the protocol; where they cannot be had, that is no matter.
        case automatic
        /// Those that the machine chooses.
        case system
        /// These; where they cannot be had, that is told as a warning.
        case parameters(ConnectionParameters)

        /// What is asked of the transport; nil for nothing.
        public var parameters: ConnectionParameters? {
            switch self {
            case .automatic: .update
            case .system: nil
            case .parameters(let parameters): parameters
            }
        }
    }

    /// What people call it.
    public var name: String
    /// The service that holds both characteristics.
    public var service = BluetoothUUID(short: 0xFEE0)
    /// Where the host's frames go.
    public var command = BluetoothUUID(short: 0xFF02)
    /// Where the device's frames come from; may be the same as `command`.
    public var reply = BluetoothUUID(short: 0xFF01)
    /// Which kind of write carries the host's frames.
    public var writeKind = WriteKind.automatic
    /// The frames, the blocks and their limits.
    public var blockAck = BlockAck.Parameters()
    /// Percent under which no update is begun; 0 for none.
    public var minimumBattery = 30
    /// The characteristic whose text is the version that runs (2A26 is the Firmware Revision String), or nil where
    /// there is none to look at.
    public var versionCharacteristic: BluetoothUUID? = BluetoothUUID(short: 0x2A26)
    /// How a device is told from one that merely has the same UUIDs.
    public var identification = Identification.battery
    /// The parameters that it is connected with.
    public var connection = Connection.automatic
    /// Whether the clock is set after the update, because a reboot clears it.
    public var setsTime = false

    /// A profile with the built-in band's values.
    public init(name: String) {
        self.name = name
    }

    /// The built-in wristband.
    public static let band = DeviceProfile(name: "band")

    /// How the endpoints are found on a device with these services.
    ///
    /// - Throws: `.missing` where the service or a characteristic is not there, or lacks a property that its role needs.
    public func bindings(in services: [GATTService]) throws(TransportError) -> [Endpoint: EndpointBinding] {
        guard let found = services.first(where: { $0.uuid == service }) else {
            throw TransportError(.missing, message: "it has no service \(service)")
        }
        let notifying = try characteristic(reply, in: found)
        guard notifying.properties.contains(.notify) else {
            throw TransportError(.missing, message: "its characteristic \(reply) does not notify")
        }
        let written = try characteristic(command, in: found)
        let use: EndpointBinding.Use
        switch writeKind {
        case .automatic:
            use = written.properties.contains(.writeWithoutResponse) ? .writeWithoutResponse : .write
        case .withoutResponse: use = .writeWithoutResponse
        case .withResponse: use = .write
        }
        guard written.properties.contains(use == .write ? .write : .writeWithoutResponse) else {
            throw TransportError(
                .missing,
                message: "its characteristic \(command) cannot be written with\(use == .write ? "" : "out") response")
        }
        return [
            .command: EndpointBinding(service: service, characteristic: command, use: use),
            .reply: EndpointBinding(service: service, characteristic: reply, use: .notify),
        ]
    }

    private func characteristic(
        _ uuid: BluetoothUUID, in service: GATTService
    ) throws(TransportError) -> GATTCharacteristic {
        guard let found = service.characteristics.first(where: { $0.uuid == uuid }) else {
            throw TransportError(.missing, message: "its service \(service.uuid) has no characteristic \(uuid)")
        }
        return found
    }
}
