/// The `manifest.json` of the nRF Connect SDK's `dfu_application.zip` (sdk-nrf, `generate_zip.py`).
public struct ConnectSDKManifest: Sendable, Hashable {
    /// One image of the package.
    public struct File: Sendable, Hashable {
        /// `file`: its name in the package.
        public var file: String
        /// `type`: `application`, `mcuboot`, `suit-envelope`, …
        public var type: String?
        /// `image_index`, or what the slots' numbers say: image n has the slots 2n + 1 and 2n + 2. Nil where neither is
        /// there.
        public var imageIndex: Int?
        /// `slot`: which of an image's two slots the file is built for, in packages with one for each.
        public var slot: Int?
        /// `board`
        public var board: String?
        /// `soc`
        public var soc: String?
        /// `size` in bytes
        public var size: UInt64?
        /// `load_address`
        public var loadAddress: UInt64?
        /// `version_MCUBOOT` or `version`, as it is written. The image's header counts.
        public var version: String?
    }

    /// `format-version`: 0, or 1 since nRF Connect SDK 2.7.
    public var formatVersion: UInt64?
    /// `name` of the package.
    public var name: String?
    /// `time` of building, in seconds since 1970.
    public var time: UInt64?
    /// The images in the order of the file.
    public var files: [File] = []

    /// Reads the whole file.
    init(_ object: JSONObject) throws(PackageError) {
        formatVersion = try object.number("format-version")
        name = try object.string("name")
        time = try object.number("time")
        for file in try object.objects("files") ?? [] {
            files.append(try File(file))
        }
    }
}

extension ConnectSDKManifest.File {
    fileprivate init(_ object: JSONObject) throws(PackageError) {
        guard let name = try object.string("file") else {
            throw PackageError(
                .missing, reason: "manifestKeyMissing",
                message: "an entry of files in the manifest names no file; make the package again")
        }
        file = name
        type = try object.string("type")
        board = try object.string("board")
        soc = try object.string("soc")
        size = try object.number("size")
        loadAddress = try object.number("load_address")
        slot = try Self.small(object, "slot")
        imageIndex = try Self.small(object, "image_index")
        if imageIndex == nil, let primary = try Self.small(object, "slot_index_primary"), primary > 0 {
            imageIndex = (primary - 1) / 2
        }
        let key = object.keys.first { $0.hasPrefix("version_MCUBOOT") } ?? "version"
        version = try object.string(key)
    }

    /// Images and slots are counted in one byte.
    private static func small(_ object: JSONObject, _ key: String) throws(PackageError) -> Int? {
        guard let number = try object.number(key) else { return nil }
        guard number <= UInt8.max else {
            throw PackageError(
                .malformed, reason: "manifestMalformed",
                message: "\(key) in the manifest is \(number), past the 255 that devices can number")
        }
        return Int(number)
    }
}
