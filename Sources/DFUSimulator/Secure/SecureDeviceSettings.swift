import DFUProtocol
package import DFUTransport

extension SecureDevice {
    /// What kind of device it is: its application, its bootloader, and how the one becomes the other.
    public struct Settings: Sendable, Hashable {
        /// Where its application is found.
        public var address = "C0:FF:EE:00:00:50"
        /// What its application advertises.
        public var name = "Nordic_Buttonless"
        /// How its application is sent into the bootloader.
        public var entry = Entry.unbonded
        /// Whether the application has a bond with the host; without one `Entry.bonded` refuses.
        public var isBonded = true
        /// Whether the application lets the bootloader's name be set, as from SDK 14 on.
        public var takesName = true
        /// What the application says of its version (180A, 2A26), until another one is installed; nil: its number.
        public var version: String?
        /// Whether the application says its version at all.
        public var showsVersion = true
        /// Whether the bootloader has the application's address; nil: with `Entry.bonded` only, else one more.
        public var keepsAddress: Bool?
        /// What the bootloader advertises where no name was set.
        public var bootloaderName = "DfuTarg"
        /// Whether it is in the bootloader at first, as after a button was held.
        public var startsInBootloader = false
        /// From an answer that is the last to the end of the link.
        public var endDelay = Duration.milliseconds(100)
        /// How long a start takes.
        public var startTime = Duration.milliseconds(500)
        /// How much longer a start takes that installs an image.
        public var installTime = Duration.seconds(2)
        /// After how long without work the bootloader restarts (`NRF_BL_DFU_INACTIVITY_TIMEOUT_MS`).
        public var inactivityLimit = Duration.seconds(120)
        /// The same after an image of the system was installed, where the application is valid.
        public var continuationLimit = Duration.seconds(10)
        /// The bootloader.
        package var bootloader = SecureBootloader.Settings()

        /// SDK 17 with an application that has no bonds.
        public init() {}

        /// Which generation the bootloader is of.
        public var sdk: SecureSDK {
            get { bootloader.sdk }
            set { bootloader.sdk = newValue }
        }
    }

    /// What is used over an encrypted link alone, where the application has bonds and the bootloader shares them.
    package static let bondedCharacteristics: Set<BluetoothUUID> = [
        SecureDFU.Attributes.bondedButtonless, SecureDFU.Attributes.controlPoint, SecureDFU.Attributes.packet,
    ]

    /// How an application is sent into its bootloader.
    public enum Entry: String, Sendable, Hashable, Codable, CaseIterable {
        /// Not by radio.
        case none
        /// Without bonds (8EC90003): the bootloader is found at the next address.
        case unbonded
        /// With bonds (8EC90004): the bootloader shares them, and the address.
        case bonded
        /// As SDK 12 had it for trial (8E400001).
        case sdk12

        /// The characteristic.
        var characteristic: BluetoothUUID? {
            switch self {
            case .none: nil
            case .unbonded: SecureDFU.Attributes.buttonless
            case .bonded: SecureDFU.Attributes.bondedButtonless
            case .sdk12: SecureDFU.Attributes.experimental
            }
        }

        /// The service that it is in.
        var service: BluetoothUUID { self == .sdk12 ? SecureDFU.Attributes.experimental : SecureDFU.Attributes.service }
    }
}
