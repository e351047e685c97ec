import DFUPackage

/// What `dfu info` tells of a zip's manifest.
struct ManifestDescription: Encodable, Equatable {
    /// Whose manifest it is.
    enum Form: String, Encodable {
        case nordic, connectSDK
    }

    /// One image, as the manifest has it.
    struct Entry: Encodable, Equatable {
        /// Nordic's key, or the nRF Connect SDK's `type`.
        var type: String?
        var file: String
        var initPacketFile: String?
        var softdeviceSize: UInt64?
        var bootloaderSize: UInt64?
        /// What a legacy generator says that the init packet holds.
        var initPacketData: InitPacketData?
        var imageIndex: Int?
        var slot: Int?
        var board: String?
        var soc: String?
        var size: UInt64?
        var loadAddress: UInt64?
        var version: String?
    }

    /// `init_packet_data` of a legacy manifest.
    struct InitPacketData: Encodable, Equatable {
        var deviceType: UInt64?
        var deviceRevision: UInt64?
        var applicationVersion: UInt64?
        var softdevices: [UInt64]?
    }

    var form: Form
    var dfuVersion: Double?
    var formatVersion: UInt64?
    var name: String?
    /// When it was made, in seconds since 1970.
    var time: UInt64?
    /// Keys that are not known and were left out.
    var unknownKeys: [String]?
    var entries: [Entry]

    init(_ manifest: Package.Manifest) {
        switch manifest {
        case .nordic(let nordic):
            form = .nordic
            dfuVersion = nordic.dfuVersion
            unknownKeys = nordic.unknownKeys
            entries = nordic.entries.map(Entry.init)
        case .connectSDK(let connectSDK):
            form = .connectSDK
            formatVersion = connectSDK.formatVersion
            name = connectSDK.name
            time = connectSDK.time
            entries = connectSDK.files.map(Entry.init)
        }
    }

    /// What it says of a part.
    func entry(of part: PartDescription) -> Entry? {
        entries.first { entry in
            entry.file == part.file && entry.slot == part.slot
                && (entry.imageIndex == nil || entry.imageIndex == part.imageIndex)
        }
    }
}

extension ManifestDescription.Entry {
    fileprivate init(_ entry: NordicManifest.Entry) {
        self.init(
            type: entry.role.rawValue, file: entry.firmwareFile, initPacketFile: entry.initPacketFile,
            softdeviceSize: entry.softdeviceSize, bootloaderSize: entry.bootloaderSize,
            initPacketData: entry.initPacketData.map { data in
                ManifestDescription.InitPacketData(
                    deviceType: data.deviceType, deviceRevision: data.deviceRevision,
                    applicationVersion: data.applicationVersion, softdevices: data.softdevices)
            })
    }

    fileprivate init(_ file: ConnectSDKManifest.File) {
        self.init(
            type: file.type, file: file.file, imageIndex: file.imageIndex, slot: file.slot, board: file.board,
            soc: file.soc, size: file.size, loadAddress: file.loadAddress, version: file.version)
    }
}
