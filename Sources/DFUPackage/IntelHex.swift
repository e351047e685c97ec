/// A firmware as an Intel HEX file: lines of `:LLAAAATT…CC`, records of type 00 to 05
/// (Intel, Hexadecimal Object File Format Specification, revision A, 1988).
public struct IntelHex: Sendable, Hashable {
    /// The bytes at their addresses.
    public let image: SparseImage
    /// Where the program starts (record 05; of record 03, which has segment and offset, the address that they give).
    public let startAddress: UInt32?

    /// The largest file that is read: 32 MiB, which is some 11 MiB of firmware.
    public static let maximumSize = 32 << 20

    /// Reads a file.
    ///
    /// Lines end with LF, CRLF or CR; hexadecimal digits may be lower case; empty lines are skipped, and what follows the end
    /// record and is no record. Bytes given twice must be the same. It throws `malformed` (the reasons are those of
    /// `Fault`), `missing` (`noData`) or `excessive` (`fileTooLarge`); messages name the line.
    public init(_ file: some Collection<UInt8>) throws(PackageError) {
        guard file.count <= Self.maximumSize else {
            throw PackageError(
                .excessive, reason: "fileTooLarge",
                message: "the HEX file has \(file.count) bytes; none over \(Self.maximumSize) is read")
        }
        var reader = IntelHexReader()
        try reader.read(Array(file))
        image = try reader.image()
        startAddress = reader.startAddress
    }
}
