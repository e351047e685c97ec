public import DFUPackage
public import DFUProtocol

/// What whoever asks for an update may decide.
public struct UpdateOptions: Sendable, Hashable {
    /// A check that can be waived. Each waiver is told as a warning.
    public enum Check: String, Sendable, Hashable, CaseIterable {
        case battery, version, hash, size, hardware
    }

    /// Whether the new firmware is looked for after the update.
    public enum Verification: Sendable, Hashable {
        /// Where the device can tell.
        case whereItCan
        /// In any case: where the device cannot tell, the update ends `unverified`.
        case always
        /// Not at all.
        case never
    }

    /// What the CRC-32 of a bare image is compared with.
    public enum StatedCRC: Sendable, Hashable {
        /// The file's name; a name without one is refused.
        case fileName
        /// This value, whatever the name says.
        case value(UInt32)
        /// Nothing.
        case none
    }

    /// How the device is to be updated.
    public enum Method: Sendable, Hashable {
        /// By what its services say.
        case automatic
        /// By Nordic's Secure DFU.
        case secure
        /// By block-ack.
        case blockAck
    }

    /// How the device is to be updated.
    public var method = Method.automatic
    /// The key whose owner must have signed every init packet of the package; nil: signatures are left to the device.
    public var key: SignatureKey?
    /// The one part of the package that is sent; nil for all.
    public var only: Part.Role?
    /// The version to announce, in place of the package's.
    public var firmwareVersion: FirmwareVersion?
    /// What the image's CRC-32 is compared with.
    public var statedCRC = StatedCRC.fileName
    /// The pause between frames, in place of the profile's.
    public var gap: BlockAck.Parameters.Gap?
    /// The most packets between two receipts of Secure DFU; 0 for none, nil for what goes best.
    public var receiptInterval: Int?
    /// Addresses of other devices: never taken for those of this one's bootloader.
    public var otherDevices: Set<String> = []
    /// No packet is longer than this, whatever the link takes.
    public var maximumPacketLength: Int?
    /// Asks the device to take an older or the same version.
    public var allowDowngrade = false
    /// The checks that are waived.
    public var skippedChecks: Set<Check> = []
    /// Whether the new firmware is looked for afterwards.
    public var verification = Verification.whereItCan
    /// How often connecting is tried again after the first time.
    public var connectRetries = 4
    /// The limit of one connect.
    public var connectLimit = Duration.seconds(30)
    /// How long a device may take to come back as its bootloader or its application: SoftDevice and bootloader are copied
    /// meanwhile, which takes 12 s and more.
    public var returnLimit = Duration.seconds(60)
    /// The limit of the whole update.
    public var timeLimit: Duration?

    /// The defaults.
    public init() {}
}
