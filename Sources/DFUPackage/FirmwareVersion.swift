/// A firmware's version, as a file name or an image's header states it.
public struct FirmwareVersion: Sendable, Hashable, CustomStringConvertible {
    /// As it is shown: `1.4.2`, `1.3.0-rc.1`, `3.00.06`, `V004`.
    public let text: String
    /// Two to four numbers; none where `text` is one number only (`V004`), of which nobody can tell where its parts end.
    public let numbers: [Int]
    /// What makes it earlier than the plain version, as `rc.1`.
    public let preRelease: String?
    /// What names the build, as `45`.
    public let build: String?

    /// As it is shown.
    public var description: String { text }

    init(text: String, numbers: [Int], preRelease: String? = nil, build: String? = nil) {
        self.text = text
        self.numbers = numbers
        self.preRelease = preRelease
        self.build = build
    }

    /// The version that is the whole of `text`: two to four numbers with dots, pre-release and build parts behind them,
    /// a `v` before them; nil for anything else.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        let start = bytes.first == UInt8(ascii: "v") || bytes.first == UInt8(ascii: "V") ? 1 : 0
        guard let (version, end) = VersionScanner(bytes).dotted(at: start), end == bytes.count else { return nil }
        self = version
    }

    /// Major, minor and patch as the three bytes that block-ack's `start` carries.
    ///
    /// Missing numbers are 0; a fourth number, pre-release and build parts are left out. It throws `unsuitable` with the
    /// reason `versionMissing` (a single number), `versionTooLarge` (a number over 255) or `versionReserved`
    /// (255.255.255, which tells a device to skip its version check).
    public func bytes() throws(PackageError) -> [UInt8] {
        let cure = "give it with --firmware-version X.Y.Z"
        guard !numbers.isEmpty else {
            throw PackageError(
                .unsuitable, reason: "versionMissing",
                message: "\(text) is one number, not a version of three numbers; \(cure)")
        }
        let three = (numbers + [0, 0]).prefix(3)
        if let large = three.first(where: { $0 > 255 }) {
            throw PackageError(
                .unsuitable, reason: "versionTooLarge",
                message: "version \(text) has the number \(large), and the device takes none over 255; \(cure)")
        }
        let bytes = three.map { UInt8($0) }
        guard bytes != [255, 255, 255] else {
            throw PackageError(
                .unsuitable, reason: "versionReserved",
                message: "255.255.255 is no version of an image: it makes a device skip its version check; \(cure)")
        }
        return bytes
    }
}
