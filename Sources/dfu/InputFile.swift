private import Glibc

/// Files that the user names.
enum InputFile {
    /// The bytes of a small text file: a profile, a plan, a configuration.
    /// - Throws: `Failure` of status input, or `tooLarge` where it is too long to be such a file.
    static func read(
        _ path: String, limit: Int = 1 << 20, tooLarge: ExitStatus = .config
    ) throws(Failure) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw unreadable(path) }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= limit {
            let count = Glibc.read(file, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count > 0 {
                bytes += buffer.prefix(count)
            } else if errno != EINTR {
                throw unreadable(path)
            }
        }
        throw Failure(tooLarge, subject: path, "it has more than \(limit) bytes; it cannot be what it is given as")
    }

    private static func unreadable(_ path: String) -> Failure {
        Failure(.input, subject: path, "cannot be read: \(String(cString: strerror(errno)))")
    }
}
