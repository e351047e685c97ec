/// The `manifest.json` of Nordic's DFU packages, of both generations (nrfutil, adafruit-nrfutil).
public struct NordicManifest: Sendable, Hashable {
    /// One image of the package.
    public struct Entry: Sendable, Hashable {
        /// The key that the image stands under.
        public var role: Part.Role
        /// The firmware's file in the package.
        public var firmwareFile: String
        /// The init packet's file; nil in packages for bootloaders of SDK 4 to 6, which take none.
        public var initPacketFile: String?
        /// `sd_size`: the SoftDevice's share of a combined image.
        public var softdeviceSize: UInt64?
        /// `bl_size`: the bootloader's share of a combined image.
        public var bootloaderSize: UInt64?
        /// `init_packet_data`: what a legacy generator says that the init packet holds.
        public var initPacketData: InitPacketData?
    }

    /// What a legacy generator says that the init packet holds. Where it differs, the init packet counts.
    public struct InitPacketData: Sendable, Hashable {
        /// `device_type`
        public var deviceType: UInt64?
        /// `device_revision`
        public var deviceRevision: UInt64?
        /// `application_version`
        public var applicationVersion: UInt64?
        /// `softdevice_req`
        public var softdevices: [UInt64]?
    }

    /// The images in the order in which they are sent: what belongs to the system before the application.
    public var entries: [Entry] = []
    /// The generator's format, 0.5 to 0.8; only in legacy packages.
    public var dfuVersion: Double?
    /// Keys that are not known and were left out.
    public var unknownKeys: [String] = []

    /// Whether something in it is written by legacy generators alone.
    var isMarkedLegacy: Bool { dfuVersion != nil || entries.contains { $0.initPacketData != nil } }

    /// The keys of combinations with an application that Android's library reads, and no bootloader of Nordic takes.
    private static let combinedKeys: Set<String> = [
        "softdevice_application", "bootloader_application", "softdevice_bootloader_application",
    ]

    /// Reads the member `manifest` of the file.
    init(_ manifest: JSONObject) throws(PackageError) {
        dfuVersion = try manifest.fraction("dfu_version")
        var known: Set<String> = ["dfu_version"]
        for role in Part.Role.nordic {
            known.insert(role.rawValue)
            guard let object = try manifest.object(role.rawValue) else { continue }
            entries.append(try Entry(role, object))
        }
        if let key = manifest.keys.first(where: Self.combinedKeys.contains) {
            throw PackageError(
                .unsupported, reason: "combinedImage",
                message: "the manifest has \(key), which no bootloader of Nordic takes in one piece; "
                    + "make a package with softdevice_bootloader and application")
        }
        unknownKeys = manifest.keys.filter { !known.contains($0) }
    }

    /// Puts together what a manifest would say.
    init(_ entries: [Entry]) {
        self.entries = entries
    }
}

extension NordicManifest.Entry {
    fileprivate init(_ role: Part.Role, _ object: JSONObject) throws(PackageError) {
        self.role = role
        guard let file = try object.string("bin_file") else {
            throw PackageError(
                .missing, reason: "manifestKeyMissing",
                message: "manifest.\(role.rawValue) names no bin_file; make the package again")
        }
        firmwareFile = file
        initPacketFile = try object.string("dat_file")
        // Secure generators put the sizes, for information, one level deeper.
        let sizes = try object.object("info_read_only_metadata")
        softdeviceSize = if object.has("sd_size") { try object.number("sd_size") } else { try sizes?.number("sd_size") }
        bootloaderSize = if object.has("bl_size") { try object.number("bl_size") } else { try sizes?.number("bl_size") }
        guard let data = try object.object("init_packet_data") else { return }
        initPacketData = NordicManifest.InitPacketData(
            deviceType: try data.number("device_type"), deviceRevision: try data.number("device_revision"),
            applicationVersion: try data.number("application_version"),
            softdevices: try data.numbers("softdevice_req"))
    }
}
