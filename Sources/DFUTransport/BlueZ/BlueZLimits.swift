/// How long BlueZ, and a device behind it, may take.
package struct BlueZLimits: Sendable, Hashable {
    /// For a call that only this machine's software answers.
    package var call = Duration.seconds(10)
    /// For a device's services to be resolved.
    package var discovery = Duration.seconds(60)
    /// For a device's answer: the attribute protocol's own limit (Bluetooth Core 5.4, volume 3, part F, 3.3.3), after which
    /// BlueZ ends the connection.
    package var answer = Duration.seconds(30)
    /// For a request to the device, and BlueZ's word on what became of it.
    package var request = Duration.seconds(35)
    /// How long after the requests that were open BlueZ may tell that the connection is over.
    package var news = Duration.milliseconds(300)
    /// How long a device may still be shown as connected after a connection failed: BlueZ takes its time to notice.
    package var settling = Duration.seconds(1)
    /// For the end of a connection: BlueZ leaves its profiles 2 s (`DISCONNECT_TIMER`, src/device.c).
    package var disconnection = Duration.seconds(3)
    /// How long a device that is not heard, but remembered, is listened for before it is called all the same.
    package var patience = Duration.seconds(10)

    /// What BlueZ needs at most.
    package init() {}
}
