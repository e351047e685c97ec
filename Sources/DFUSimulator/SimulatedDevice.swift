public import DFUTransport

/// A device as a value: told what happens to it, it says what it does.
///
/// It knows no clock and no radio. The same value serves behind every transport.
public protocol SimulatedDevice: Sendable {
    /// Its address now, as the transport writes it.
    var address: String { get }
    /// Its services now.
    var services: [GATTService] { get }
    /// What is heard of it now while it waits for a host. Connected to is the one at `address` alone.
    var advertisements: [DeviceAdvertisement] { get }

    /// A host has connected.
    mutating func connected()

    /// The link is gone.
    mutating func disconnected()

    /// A connection event has brought this many link-layer packets; told before what they make is `written`.
    mutating func received(packets: Int) -> [DeviceAction]

    /// A host has written one packet. `nil` from `read` and an empty answer here stand for "nothing happens".
    mutating func written(_ bytes: [UInt8], to characteristic: BluetoothUUID) -> [DeviceAction]

    /// The value of a characteristic that a host reads, or nil where it cannot be read.
    func read(_ characteristic: BluetoothUUID) -> [UInt8]?

    /// The device has come up again after `.reboot`.
    mutating func rebooted()

    /// What it does by itself when it has come up again; told after `rebooted()`.
    mutating func started() -> [DeviceAction]

    /// The time that `.wake` asked for has passed, whether the link is up or not.
    mutating func woken(_ token: Int) -> [DeviceAction]
}

extension SimulatedDevice {
    /// One at its address, which says what whoever puts it on the air has it say.
    public var advertisements: [DeviceAdvertisement] { [DeviceAdvertisement(address: address)] }

    /// Does nothing by itself.
    public mutating func started() -> [DeviceAction] { [] }

    /// Takes any number of packets.
    public mutating func received(packets: Int) -> [DeviceAction] { [] }

    /// Never asks to be woken.
    public mutating func woken(_ token: Int) -> [DeviceAction] { [] }
}

/// What a simulated device does.
public enum DeviceAction: Sendable, Equatable {
    /// Sends a notification, `after` some time of its own (flash work, for instance).
    case notify([UInt8], from: BluetoothUUID, after: Duration)
    /// Drops the link.
    case disconnect(after: Duration)
    /// Goes off the air `after` some time, and comes back when `offAir` has passed (then `rebooted()` is called).
    case reboot(after: Duration, offAir: Duration)
    /// Wants `woken(token)` to be called `after` some time.
    case wake(token: Int, after: Duration)
}
