/// One image of a package, with what is said of it.
public struct Part: Sendable, Hashable {
    /// What the image is for.
    public enum Role: String, Sendable, Hashable, Codable, CaseIterable {
        case application, bootloader, softdevice
        /// SoftDevice and bootloader in one: the SoftDevice comes first.
        case softdeviceBootloader = "softdevice_bootloader"
        /// An application for another chip, that the device passes on.
        case externalApplication = "external_application"
        /// An MCUboot image; `imageIndex` says which one.
        case image
        /// A bare file, of which nothing is said.
        case firmware

        /// The keys of Nordic's manifests in the order in which they are sent.
        static let nordic: [Role] = [.softdeviceBootloader, .softdevice, .bootloader, .application]
    }

    /// How many bytes of the firmware belong to which image, as Legacy DFU's start command says.
    public struct Sizes: Sendable, Hashable {
        /// The SoftDevice's bytes.
        public var softdevice = 0
        /// The bootloader's bytes.
        public var bootloader = 0
        /// The application's bytes.
        public var application = 0
    }

    /// What the image is for.
    public var role: Role
    /// The firmware's file, in a zip with its folder.
    public var fileName: String
    /// The bytes that are sent. Of Intel HEX: from the first address to the last, gaps filled with FF.
    public var firmware: [UInt8]
    /// How the firmware divides. In a secure package the init packet says it, in a legacy one the manifest.
    public var sizes = Sizes()
    /// The bytes with their addresses, where the file is Intel HEX.
    public var intelHex: IntelHex?
    /// The firmware read as an MCUboot image, where it is one. Some devices take such an image by another protocol (the
    /// PineTime by Legacy DFU), so only a part with the role `image` has to be a sound one.
    public var mcuboot: MCUbootImage?
    /// What the bootloader is told first; nil where the package holds none.
    public var initPacket: InitPacket?
    /// The init packet's file.
    public var initPacketFileName: String?
    /// MCUboot's number of the image (role `image`).
    public var imageIndex: Int?
    /// The slot that the image is built for. Parts with one `imageIndex` and different slots are alternatives: the one
    /// for the slot that does not run is sent.
    public var slot: Int?

    init(role: Role, fileName: String, firmware: [UInt8]) {
        self.role = role
        self.fileName = fileName
        self.firmware = firmware
        if MCUbootImage.hasMagic(firmware) { mcuboot = MCUbootImage(reading: firmware) }
    }
}
