public import DFUTransport

/// Something that happened between a host and a simulated device.
public struct SimulatedEvent: Sendable, Hashable {
    /// What happened.
    public enum Kind: Sendable, Hashable {
        /// A host has connected.
        case connected
        /// A packet has arrived at the device, with or without response.
        case written([UInt8], to: BluetoothUUID)
        /// A notification has arrived at the host.
        case notified([UInt8], from: BluetoothUUID)
        /// Both sides know that the connection is over.
        case disconnected
        /// The device has gone off the air.
        case wentDown
        /// The device is up again.
        case rebooted
    }

    /// The device's address when it was put on the air, whatever it is now.
    public var address: String
    /// When, since some moment in the past that is the same for all events of a transport.
    public var time: Duration
    /// What happened.
    public var kind: Kind
}
