private import Glibc

extension Package {
    /// No file larger than this is read: 64 MiB. The largest firmware seen has 8.
    public static let maximumSize = 64 << 20

    /// Reads the file at `path`.
    ///
    /// Errors: `.unreadable` with the reasons `fileNotFound`, `permissionDenied`, `notAFile` (a folder, a pipe, a device) and
    /// `readFailed`; `.excessive` with `fileTooLarge`. What is wrong with the content stands in `problems`.
    public static func open(_ path: String) throws(PackageError) -> Package {
        // Without O_NONBLOCK, opening a pipe would wait for its writer.
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw unreadable(path, errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw unreadable(path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            let kind = status.st_mode & S_IFMT == S_IFDIR ? "a folder" : "no ordinary file"
            throw PackageError(
                .unreadable, reason: "notAFile", message: "\(path) is \(kind); give the firmware's file itself")
        }
        guard status.st_size <= maximumSize else { throw tooLarge(path, Int(status.st_size)) }
        return Package(reading: try read(descriptor, path, size: Int(status.st_size)), named: path)
    }

    /// Reads to the end, which may be another than the size was a moment ago.
    private static func read(_ descriptor: CInt, _ path: String, size: Int) throws(PackageError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size + 1)
        var count = 0
        while true {
            let result = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count)
            }
            if result < 0, errno == EINTR { continue }
            guard result >= 0 else { throw unreadable(path, errno) }
            guard result > 0 else { break }
            count += result
            guard count <= maximumSize else { throw tooLarge(path, count) }
            if count == bytes.count { bytes.append(contentsOf: repeatElement(0, count: count)) }
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    private static func unreadable(_ path: String, _ error: CInt) -> PackageError {
        let reason =
            switch error {
            case ENOENT, ENOTDIR: "fileNotFound"
            case EACCES, EPERM: "permissionDenied"
            default: "readFailed"
            }
        return PackageError(
            .unreadable, reason: reason, message: "\(path) cannot be read: \(String(cString: strerror(error)))")
    }

    private static func tooLarge(_ path: String, _ size: Int) -> PackageError {
        PackageError(
            .excessive, reason: "fileTooLarge",
            message: "\(path) has \(size) bytes, past the limit of \(maximumSize); it is no firmware package")
    }
}
