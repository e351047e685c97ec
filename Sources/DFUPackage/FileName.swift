/// What the name of a firmware file says of its content: the version, and the CRC-32.
///
/// There is no one convention in the field, so the reading is a rule. The name, without its extension and the ` (1)` that
/// browsers add, is cut into pieces at `_-.+ []()`. Of the pieces with exactly eight hexadecimal digits those are CRC-32s
/// that are marked (`crc`, `crc32`, `0x` before, `[…]` around) or that are the content's; where none is the content's, also
/// the last piece (a date may follow), unless it is decimal: that is a date. CRC-32s and dates set aside, a version is two to
/// four numbers with dots, or three with `_` behind a `v`; of several the last one marked with `v`, else the first.
public struct FileName: Sendable, Hashable {
    /// The name without the folders before it.
    public let name: String
    /// The version in it.
    public let version: FirmwareVersion?
    /// The CRC-32 in it.
    public var crc: StatedCRC?
    /// The CRC-32 of the content.
    public let contentCRC: UInt32

    /// A CRC-32 that someone states of a file.
    public struct StatedCRC: Sendable, Hashable {
        /// The CRC-32 as a number.
        public let value: UInt32
        /// As it is written: `7635c751`.
        public let text: String
        /// Whether it is the content's.
        public let matches: Bool

        /// A CRC-32 stated for a file whose content has `contentCRC`.
        public init(value: UInt32, text: String, contentCRC: UInt32) {
            self.value = value
            self.text = text
            matches = value == contentCRC
        }
    }

    /// Reads `path`'s last part, for content with the CRC-32 `contentCRC`.
    public init(_ path: String, crc32 contentCRC: UInt32) {
        let name = path.split(separator: "/").last.map { String($0) } ?? path
        var stem = FileNameStem(name)
        let tokens = stem.countingCRCs(content: contentCRC)
        stem.takeOut(tokens.map(\.piece) + stem.dates)
        self.name = name
        self.contentCRC = contentCRC
        let stated = tokens.map { StatedCRC(value: $0.value, text: $0.text, contentCRC: contentCRC) }
        crc = stated.first { !$0.matches } ?? stated.first
        version = VersionScanner(stem.bytes).version()
    }

    /// The fault of a name whose CRC-32 is not the content's.
    public var problem: PackageError? {
        guard let crc, !crc.matches else { return nil }
        return PackageError(
            .mismatch, reason: "crcMismatch",
            message: """
                \(name): the name states the CRC-32 \(crc.value.hexadecimal), the content has \(contentCRC.hexadecimal): \
                the file is damaged or wrongly named; get it again, or pass --no-crc to send it all the same
                """)
    }

    /// Throws where the name states no CRC-32 (`crcMissing`) or not the content's (`crcMismatch`): what block-ack asks
    /// of a .bin.
    public func requireCRC() throws(PackageError) {
        if let problem { throw problem }
        guard crc != nil else {
            throw PackageError(
                .missing, reason: "crcMissing",
                message: """
                    \(name): the name states no CRC-32, so nobody can tell whether the file is whole; \
                    give its value with --crc HEX, or pass --no-crc
                    """)
        }
    }

    /// The three version bytes of block-ack's `start`, as `FirmwareVersion.bytes()`; without a version in the name it
    /// throws `unsuitable`, `versionMissing`.
    public func versionBytes() throws(PackageError) -> [UInt8] {
        guard let version else {
            throw PackageError(
                .unsuitable, reason: "versionMissing",
                message: "\(name): the name states no version; give it with --firmware-version X.Y.Z")
        }
        return try version.bytes()
    }
}
