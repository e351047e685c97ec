public import DFUProtocol
public import DFUTransport

extension Band {
    /// What kind of band it is: hardware, firmware, and how it treats an update.
    public struct Settings: Sendable, Hashable {
        /// Where it is found.
        public var address = "C0:FF:EE:00:00:01"
        /// What it speaks, and on which characteristics; `reply` may be the same as `command`.
        public var profile = DeviceProfile.band
        /// How its command characteristic can be written.
        public var commandProperties: GATTCharacteristic.Properties = .writeWithoutResponse
        /// The version that it runs when it is fresh.
        public var version = BlockAck.Version(1, 0, 0)
        /// Whether its version can be read (180A, 2A26).
        public var showsVersion = true
        /// Its battery in tenths of full; nil where it does not know the question.
        public var batteryTenths: UInt8? = 8
        /// Under this it refuses `start`.
        public var neededTenths: UInt8 = 1
        /// Whether it knows `setTime`.
        public var knowsTime = true
        /// The largest image, in bytes.
        public var capacity = 1 << 20
        /// The bytes of a whole frame that it takes, as it says in its answer to `start`.
        public var packetLimit: UInt8 = 20
        /// Whether a reboot leaves it the blocks of an unfinished image.
        public var keepsBlocks = true
        /// How long a `start` takes that makes it forget an earlier image.
        public var eraseTime = Duration.zero
        /// How long the end of a block takes.
        public var flashTime = Duration.zero
        /// From its answer to `complete` to the reboot.
        public var rebootDelay = Duration.milliseconds(100)
        /// How long it is off the air then.
        public var rebootTime = Duration.seconds(2)
        /// Whether it goes on with the old version after it has accepted a new one.
        public var keepsOldVersion = false

        /// The built-in band: version 1.0.0, 80 % of battery, room for 1 MiB.
        public init() {}
    }
}
