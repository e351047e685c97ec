/// How a `SimulatedBlueZ` behaves where BlueZ's versions, configurations and kernels differ.
package struct BlueZSettings: Sendable, Hashable {
    /// What a connection can carry, and how often a device is heard.
    package var radio = RadioModel()
    /// How long an unconnected device is kept that was only heard (`TemporaryTimeout` in BlueZ's main.conf).
    package var temporaryTimeout = Duration.seconds(30)
    /// How long a `Connect` waits for the device to advertise (`L2CAP_CONN_TIMEOUT` of the kernel's
    /// include/net/bluetooth/l2cap.h).
    package var connectTimeout = Duration.seconds(40)
    /// How long after `Disconnect` the connection is ended (`DISCONNECT_TIMER` in BlueZ's src/device.c).
    package var disconnectDelay = Duration.seconds(2)
    /// How long a connection lasts to a device that has lost its keys.
    package var lostKeysDelay = Duration.milliseconds(200)
    /// How long a device is kept waiting whose pairing this side has not agreed to (`SMP_TIMEOUT` of the kernel's
    /// net/bluetooth/smp.c).
    package var pairingTimeout = Duration.seconds(30)
    /// How long after the services are resolved the property MTU, 23 until then, has its true value; nil: at once.
    package var mtuDelay: Duration?
    /// Whether there is a property MTU (since BlueZ 5.62).
    package var hasMTU = true
    /// The MTU that is told, where it is not what the link carries.
    package var toldMTU: Int?
    /// Whether `WriteValue` heeds its option `type` (since BlueZ 5.51).
    package var heedsWriteType = true
    /// Whether an adapter has the property PowerState (BlueZ 5.66: with `--experimental`).
    package var hasPowerState = false
    /// What an adapter says that this machine is: BlueZ, with its version (`did_version`, src/main.c) in hexadecimal.
    package var modalias = "usb:v1D6Bp0246d0542"
    /// How the sockets for writing are read, where that is not as fast as possible; they take little in advance then.
    package var socketPauses: SocketPauses?

    /// Reading with pauses.
    package struct SocketPauses: Sendable, Hashable {
        /// How many records are read before each pause.
        package var records: Int
        /// How long a pause lasts.
        package var length: Duration

        /// Pauses like these.
        package init(after records: Int, lasting length: Duration) {
            self.records = records
            self.length = length
        }
    }

    /// BlueZ as Debian 12 has it.
    package init() {}

    /// BlueZ 5.50, as Debian 10 had it.
    package static var bluez550: BlueZSettings {
        var settings = BlueZSettings()
        settings.hasMTU = false
        settings.heedsWriteType = false
        settings.modalias = "usb:v1D6Bp0246d0532"
        return settings
    }
}
