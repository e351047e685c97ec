import DFUTransport
import Glibc
import TestSupport

/// The other end of an emulated radio's socket, which says what the test wants.
final class FakeRadio: Sendable {
    private let folder: TemporaryFolder
    private let listener: FileDescriptor
    private let connection = Locked<FileDescriptor?>(nil)
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path + "/radio"
        listener = FileDescriptor(owning: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener.number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        precondition(result == 0 && listen(listener.number, 1) == 0, "no socket at \(path)")
    }

    /// Takes the connection.
    func accept() async {
        let number = await ThreadExecutor.shared.run { [listener] in Glibc.accept(listener.number, nil, nil) }
        connection.withLock { $0 = FileDescriptor(owning: number) }
    }

    /// The next line; empty at the end.
    func line() async -> String {
        guard let connection = connection.withLock(\.self) else { preconditionFailure("there is no connection") }
        return await ThreadExecutor.shared.run {
            var line: [UInt8] = []
            var byte: UInt8 = 0
            while read(connection.number, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
            return String(decoding: line, as: UTF8.self)
        }
    }

    /// Says a line.
    func say(_ line: String) {
        guard let connection = connection.withLock(\.self) else { preconditionFailure("there is no connection") }
        let text = line + "\n"
        let count = send(connection.number, text, text.utf8.count, Int32(MSG_NOSIGNAL))
        precondition(count == text.utf8.count, "\(line) cannot be said")
    }

    /// Goes away, also where a program that another test has started meanwhile holds the connection open.
    func close() {
        connection.withLock {
            if let number = $0?.number { shutdown(number, Int32(SHUT_RDWR)) }
            $0 = nil
        }
    }
}
