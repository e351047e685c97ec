/// A Bluetooth adapter that `SimulatedBlueZ` has.
package struct SimulatedAdapter: Sendable, Hashable {
    /// Its name, as the kernel gives it.
    package var name: String
    /// Its address.
    package var address: String
    /// Whether it is switched on.
    package var isPowered: Bool
    /// Whether a switch of the machine keeps it off (rfkill).
    package var isBlocked = false
    /// What it can be.
    package var roles = ["central", "peripheral"]

    /// An adapter like this.
    package init(_ name: String = "hci0", address: String = "00:1A:7D:DA:71:13", isPowered: Bool = true) {
        self.name = name
        self.address = address
        self.isPowered = isPowered
    }

    /// The property PowerState.
    var powerState: String { isBlocked ? "off-blocked" : isPowered ? "on" : "off" }
}
