import DFUTransport
import Glibc

/// Two sockets that are connected with each other.
struct DescriptorPair {
    let near: FileDescriptor
    let far: FileDescriptor

    init() {
        var pair: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        precondition(socketpair(AF_UNIX, type, 0, &pair) == 0, "no socket pair")
        near = FileDescriptor(owning: pair[0])
        far = FileDescriptor(owning: pair[1])
    }
}

extension FileDescriptor {
    /// Writes a text.
    func write(_ text: String) {
        let count = send(number, text, text.utf8.count, Int32(MSG_NOSIGNAL))
        precondition(count == text.utf8.count, "\(text) cannot be written")
    }

    /// Reads what there is; nothing at the end.
    func read() -> String {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = Glibc.read(number, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
    }

    /// A socket in the file system that takes connections, and says nothing.
    convenience init(listeningAt path: String) {
        self.init(owning: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        precondition(result == 0 && listen(number, 8) == 0, "no socket at \(path)")
    }

    /// Waits for somebody to connect, and lets go.
    func accept() {
        close(Glibc.accept(number, nil, nil))
    }

    /// Ends the connection to the other one.
    func shutDown() {
        shutdown(number, Int32(SHUT_RDWR))
    }
}
