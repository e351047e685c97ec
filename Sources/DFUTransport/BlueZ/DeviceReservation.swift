private import CLinux
private import Glibc

/// A device that no other program of this machine that uses this library gets hold of, as long as this is held.
///
/// It is the name of a socket, which only one can have at a time (unix(7), "Abstract sockets"): it holds between all users of
/// a network namespace, leaves no file behind, and the kernel takes it back when the program ends, however it does.
public final class DeviceReservation: Sendable {
    private let socket: FileDescriptor

    /// - Parameters:
    ///   - device: Its address, in upper case.
    ///   - bus: The bus that it is reached by: what `org.freedesktop.DBus.GetId` tells.
    /// - Throws: `environment` where somebody else has it, or where the machine has no such sockets.
    package init(of device: String, on bus: String) throws(TransportError) {
        let number = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw Self.failure() }
        socket = FileDescriptor(owning: number)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // The first byte of such a name is 0.
        let name = ([0] + Array("dfu/\(device)/\(bus)".utf8)).prefix(MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = MemoryLayout.size(ofValue: address.sun_family) + name.count
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(number, $0, socklen_t(length)) }
        }
        guard result == 0 else { throw Self.failure() }
    }

    /// What the last error of the system's means.
    private static func failure() -> TransportError {
        errno == EADDRINUSE
            ? TransportError(
                .environment, message: "another dfu on this machine is using this device; wait until it ends, or end it"
            )
            : TransportError(
                .environment,
                message: "the device cannot be reserved on this machine (\(String(cString: strerror(errno))))")
    }
}
