private import CZip

/// A zip archive in memory. Nothing of it is ever written to disk.
///
/// Only what firmware packages use is read: stored and deflated entries without encryption. Sizes, counts and ratios
/// are bounded before a byte is unpacked, so a hostile archive costs no more than an honest one.
struct ZipArchive: ~Copyable {
    /// The most that a package of firmware can need; each is a multiple of the largest one that was seen.
    enum Limit {
        static let entries = 10_000
        static let nameLength = 512
        static let entrySize = 32 << 20
        static let readSize = 64 << 20
        /// How many times its packed size an entry may have, where it is larger than `freeSize`.
        static let ratio = 100
        static let freeSize = 1 << 20
    }

    /// A file in the archive.
    struct Entry {
        /// The name, with `/` between folders and without a leading `./`.
        var path: String
        var size: UInt64
        fileprivate var index: UInt64
        fileprivate var packedSize: UInt64
        fileprivate var method: UInt16
        fileprivate var isEncrypted: Bool
    }

    /// The files, without folders and without what macOS adds (`__MACOSX/`, `._*`, `.DS_Store`).
    let entries: [Entry]
    /// What is wrong with the archive as a whole: names that climb out, names that occur twice.
    let problems: [PackageError]

    private let handle: OpaquePointer
    /// The archive's bytes, which libzip reads from as long as the handle lives.
    private let storage: UnsafeMutableRawBufferPointer
    private var left = Limit.readSize

    /// Opens the archive that `bytes` hold.
    init(_ bytes: [UInt8]) throws(PackageError) {
        let storage = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        storage.copyBytes(from: bytes)
        let handle: OpaquePointer
        do throws(PackageError) {
            handle = try Self.open(storage)
        } catch {
            storage.deallocate()
            throw error
        }
        do throws(PackageError) {
            (entries, problems) = try Self.list(handle)
        } catch {
            zip_discard(handle)
            storage.deallocate()
            throw error
        }
        self.handle = handle
        self.storage = storage
    }

    deinit {
        zip_discard(handle)
        storage.deallocate()
    }

    /// The bytes of `entry`, checked against their CRC-32.
    mutating func read(_ entry: Entry) throws(PackageError) -> [UInt8] {
        let name = entry.path
        guard !entry.isEncrypted else {
            throw PackageError(
                .unsupported, reason: "encrypted",
                message: "\(name) in the zip is encrypted; pack the files again without a password")
        }
        guard entry.method == ZIP_CM_STORE || entry.method == ZIP_CM_DEFLATE else {
            throw PackageError(
                .unsupported, reason: "compressionUnsupported",
                message: "\(name) in the zip is compressed with \(Self.methodName(entry.method)); "
                    + "pack the files again with deflate or without compression")
        }
        guard entry.size <= Limit.entrySize, entry.size <= left else {
            let limit = entry.size <= Limit.entrySize ? Limit.readSize : Limit.entrySize
            throw PackageError(
                .excessive, reason: "entryTooLarge",
                message: "\(name) in the zip would unpack to \(entry.size) bytes, past the limit of \(limit)")
        }
        let (most, overflow) = entry.packedSize.multipliedReportingOverflow(by: UInt64(Limit.ratio))
        guard entry.size <= Limit.freeSize || overflow || entry.size <= most else {
            throw PackageError(
                .excessive, reason: "compressionRatio",
                message: "\(name) in the zip would unpack from \(entry.packedSize) bytes to \(entry.size), "
                    + "which no firmware does")
        }
        let bytes = try unpack(entry)
        left -= bytes.count
        return bytes
    }

    private func unpack(_ entry: Entry) throws(PackageError) -> [UInt8] {
        guard let file = zip_fopen_index(handle, entry.index, 0) else {
            throw Self.damaged(entry, zip_get_error(handle))
        }
        defer { zip_fclose(file) }
        // One byte more than promised, so that an entry that is longer than it says does not go unseen; asking for it
        // is also what makes libzip compare the CRC.
        var bytes = [UInt8](repeating: 0, count: Int(entry.size) + 1)
        var count = 0
        while count < bytes.count {
            let result = bytes.withUnsafeMutableBytes { buffer in
                zip_fread(file, buffer.baseAddress?.advanced(by: count), UInt64(buffer.count - count))
            }
            guard result >= 0 else { throw Self.damaged(entry, zip_file_get_error(file)) }
            if result == 0 { break }
            count += Int(result)
        }
        guard count == entry.size else {
            throw PackageError(
                .malformed, reason: "entrySize",
                message: "\(entry.path) in the zip has \(count > entry.size ? "more than" : "only \(count) of") "
                    + "the \(entry.size) bytes that its directory promises; get the package again")
        }
        bytes.removeLast()
        return bytes
    }

    private static func damaged(_ entry: Entry, _ error: UnsafeMutablePointer<zip_error_t>) -> PackageError {
        if zip_error_code_zip(error) == ZIP_ER_CRC {
            return PackageError(
                .mismatch, reason: "entryCRC",
                message: "\(entry.path) in the zip does not fit its checksum: the package is damaged; get it again")
        }
        return PackageError(
            .malformed, reason: "entryUnreadable",
            message: "\(entry.path) in the zip cannot be unpacked (\(String(cString: zip_error_strerror(error)))): "
                + "the package is damaged; get it again")
    }

    private static func open(_ storage: UnsafeMutableRawBufferPointer) throws(PackageError) -> OpaquePointer {
        var error = zip_error_t()
        zip_error_init(&error)
        defer { zip_error_fini(&error) }
        guard let source = zip_source_buffer_create(storage.baseAddress, UInt64(storage.count), 0, &error) else {
            throw unreadable(&error)
        }
        guard let handle = zip_open_from_source(source, ZIP_RDONLY, &error) else {
            zip_source_free(source)
            throw unreadable(&error)
        }
        return handle
    }

    private static func unreadable(_ error: inout zip_error_t) -> PackageError {
        PackageError(
            .malformed, reason: "zipUnreadable",
            message: "the zip is damaged or cut short (\(String(cString: zip_error_strerror(&error)))); get it again")
    }

    private static func list(_ handle: OpaquePointer) throws(PackageError) -> ([Entry], [PackageError]) {
        let count = zip_get_num_entries(handle, 0)
        guard count <= Limit.entries else {
            throw PackageError(
                .excessive, reason: "tooManyEntries",
                message: "the zip has \(count) entries, past the limit of \(Limit.entries)")
        }
        var entries: [Entry] = []
        var problems: [PackageError] = []
        var paths: Set<String> = []
        for index in 0..<UInt64(max(0, count)) {
            var stat = zip_stat_t()
            let wanted = UInt64(
                ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD)
            guard zip_stat_index(handle, index, 0, &stat) == 0, stat.valid & wanted == wanted, let name = stat.name
            else {
                throw PackageError(
                    .malformed, reason: "zipUnreadable",
                    message: "entry \(index + 1) of the zip's directory is damaged; get the package again")
            }
            guard let path = ArchivePath.normal(String(cString: name)) else {
                problems.append(ArchivePath.unsafe(String(cString: name), in: "the zip has an entry"))
                continue
            }
            guard path.utf8.count <= Limit.nameLength else {
                throw PackageError(
                    .excessive, reason: "nameTooLong",
                    message: "the zip has a name of \(path.utf8.count) bytes, past the limit of \(Limit.nameLength): "
                        + "\(path.prefix(40))…")
            }
            guard !path.hasSuffix("/"), !ArchivePath.isFromMacOS(path) else { continue }
            guard paths.insert(path).inserted else {
                problems.append(
                    PackageError(
                        .malformed, reason: "duplicateName",
                        message: "the zip has \(path) twice, so it is not clear which one counts; pack it again"))
                continue
            }
            entries.append(
                Entry(
                    path: path, size: stat.size, index: index, packedSize: stat.comp_size, method: stat.comp_method,
                    isEncrypted: stat.encryption_method != ZIP_EM_NONE))
        }
        return (entries, problems)
    }

    /// APPNOTE.TXT 4.4.5.
    private static func methodName(_ method: UInt16) -> String {
        let names: [UInt16: String] = [9: "Deflate64", 12: "bzip2", 14: "LZMA", 93: "Zstandard", 95: "xz", 98: "PPMd"]
        return names[method].map { "\($0) (method \(method))" } ?? "method \(method)"
    }
}
