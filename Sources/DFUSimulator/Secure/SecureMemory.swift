import DFUPackage

/// What a device that is updated over Secure DFU keeps without power.
public struct SecureMemory: Sendable, Hashable, Codable {
    /// An application that is valid.
    public struct Application: Sendable, Hashable, Codable {
        /// The version that its init packet said, which bootloaders compare.
        public var version: UInt32
        /// Its bytes; empty where it is still the factory's.
        @Base64 public var firmware: [UInt8] = []

        /// An application of this version.
        public init(version: UInt32, firmware: [UInt8] = []) {
            self.version = version
            self.firmware = firmware
        }
    }

    /// The application; nil where there is none, or none that is valid.
    public package(set) var application: Application?
    /// The version below which no application is taken: that of the last one.
    package var applicationVersion: UInt32
    /// The version of the bootloader.
    public package(set) var bootloaderVersion: UInt32
    /// The firmware ID of the SoftDevice; nil where there is none.
    public package(set) var softdevice: UInt16?
    /// The image that was installed last, whatever it is for; empty where there was none.
    @Base64 public package(set) var image: [UInt8] = []
    /// The name that the bootloader is to advertise when it starts the next time.
    package var bootloaderName: String?
    /// Whether the next start, which is no power cycle, goes into the bootloader.
    package var isBootloaderWanted = false
    /// What of an update is in flash.
    package var reception = SecureReception()
    /// The image that the next start installs.
    package var accepted: Accepted?

    /// Whether the next start installs an image.
    public var hasAccepted: Bool { accepted != nil }

    /// An image that was received whole.
    package struct Accepted: Sendable, Hashable, Codable {
        @Base64 package var initPacket: [UInt8]
        @Base64 package var firmware: [UInt8]
    }

    /// A device fresh from the factory.
    public init(application: Application?, bootloaderVersion: UInt32 = 0, softdevice: UInt16? = 0x0100) {
        self.application = application
        applicationVersion = application?.version ?? 0
        self.bootloaderVersion = bootloaderVersion
        self.softdevice = softdevice
    }

    /// Installs the image that was received, where there is one, and tells whether it was one of the system's: then the
    /// bootloader waits for the application.
    mutating func install() -> Bool {
        guard let accepted, let packet = try? SecureInitPacket(decoding: accepted.initPacket) else { return false }
        self.accepted = nil
        image = accepted.firmware
        reception = SecureReception()
        switch packet.imageType {
        case .softdevice?:
            installSoftdevice(accepted.firmware)
        case .bootloader?:
            bootloaderVersion = packet.firmwareVersion ?? bootloaderVersion
        case .softdeviceBootloader?:
            installSoftdevice(accepted.firmware)
            bootloaderVersion = packet.firmwareVersion ?? bootloaderVersion
        default:
            applicationVersion = packet.firmwareVersion ?? applicationVersion
            application = Application(version: applicationVersion, firmware: accepted.firmware)
            reception = .afterInstalling(at: Self.applicationStart)
            return false
        }
        return true
    }

    /// A SoftDevice says itself what it is (nRF5 SDK 17: `nrf_sdm.h`), and the application is not for it any more.
    private mutating func installSoftdevice(_ firmware: [UInt8]) {
        let place = 0x200C
        if firmware.count > place + 1 { softdevice = UInt16(firmware[place]) | UInt16(firmware[place + 1]) << 8 }
        application = nil
    }

    /// Where applications begin (nRF52832 with S132).
    private static let applicationStart: UInt32 = 0x26000
}
