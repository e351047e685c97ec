/// How a `SimulatedBlueZ` behaves where BlueZ's versions, configurations and kernels differ.
package struct BlueZSettings: Sendable, Hashable {
    /// What a connection can carry, and how often a device is heard.
    package var radio = RadioModel()
    /// How long an unconnected device is kept that was only heard (`TemporaryTimeout` in BlueZ's main.conf).
    package var temporaryTimeout = Duration.seconds(30)
    /// How long a `Connect` waits for the device to advertise (the kernel's limit for a connection).
    package var connectTimeout = Duration.seconds(20)
    /// How long after `Disconnect` the connection is ended (`DISCONNECT_TIMER` in BlueZ's src/device.c).
    package var disconnectDelay = Duration.seconds(2)
    /// How long after the services are resolved the property MTU, 23 until then, has its true value; nil: at once.
    package var mtuDelay: Duration?
    /// Whether there is a property MTU (since BlueZ 5.62).
    package var hasMTU = true

    /// BlueZ as Debian 12 has it.
    package init() {}
}
