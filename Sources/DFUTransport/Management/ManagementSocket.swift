private import CLinux
private import Glibc

/// A way to the kernel's management of Bluetooth.
package protocol ManagementChannel: Sendable {
    /// Sends a command, and returns what the kernel answers to it; never waits long.
    func ask(_ command: ManagementCommand) throws(ManagementError) -> [UInt8]
}

/// Why the kernel's management of Bluetooth did not do what it was asked for.
package enum ManagementError: Error, Sendable, Hashable {
    /// There is no such socket here, with the system's word for it.
    case unavailable(String)
    /// It said no, with this status (`MGMT_STATUS_…`, include/net/bluetooth/mgmt.h).
    case refused(UInt8)
    /// It did not answer.
    case silent
    /// It answered in another form than it should.
    case malformed

    /// Without the right to.
    package static let permissionDenied = ManagementError.refused(0x14)
    /// There is no such adapter.
    package static let invalidIndex = ManagementError.refused(0x11)
}

/// The kernel's management socket (`HCI_CHANNEL_CONTROL`).
///
/// It is open while a command is under way, and at no other time: so no events pile up in it. The kernel answers these
/// commands before it takes the next, and `ask` waits for no longer than `limit`.
package struct ManagementSocket: ManagementChannel {
    private let limit: Duration
    private let open: @Sendable () throws(ManagementError) -> FileDescriptor

    /// More events than this are not passed over while an answer is waited for.
    private static let mostEvents = 1000
    /// No datagram is longer: a head of 6 bytes, and a length of 16 bits.
    private static let longestFrame = 6 + Int(UInt16.max)

    /// The kernel's socket, or one that `open` gives.
    package init(
        limit: Duration = .seconds(1),
        open: @escaping @Sendable () throws(ManagementError) -> FileDescriptor = openControlChannel
    ) {
        self.limit = limit
        self.open = open
    }

    package func ask(_ command: ManagementCommand) throws(ManagementError) -> [UInt8] {
        let socket = try open()
        let frame = command.frame
        // The kernel says 0 of a command that it refuses, and answers it (`hci_mgmt_cmd`, net/bluetooth/hci_sock.c).
        guard send(socket.number, frame, frame.count, Int32(MSG_NOSIGNAL)) >= 0 else {
            throw .unavailable(systemError())
        }
        let deadline = ContinuousClock.now + limit
        for _ in 1...Self.mostEvents {
            guard let answer = ManagementAnswer(frame: try receive(socket, before: deadline)),
                answer.answers(command)
            else { continue }
            guard answer.status == 0 else { throw .refused(answer.status) }
            return answer.parameters
        }
        throw .silent
    }

    /// The next datagram.
    private func receive(
        _ socket: FileDescriptor, before deadline: ContinuousClock.Instant
    ) throws(ManagementError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: Self.longestFrame)
        while true {
            let count = recv(socket.number, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 { return Array(buffer.prefix(count)) }
            guard count < 0, errno == EAGAIN || errno == EINTR else { throw .silent }
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else { throw .silent }
            var entry = pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)
            _ = poll(&entry, 1, Int32(left / .milliseconds(1)) + 1)
        }
    }

    /// Opens the kernel's socket. Who may do what by it is settled here: all with CAP_NET_ADMIN, else little.
    private static func openControlChannel() throws(ManagementError) -> FileDescriptor {
        let type = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let number = socket(AF_BLUETOOTH, type, Int32(BTPROTO_HCI))
        guard number >= 0 else { throw .unavailable(systemError()) }
        let descriptor = FileDescriptor(owning: number)
        var address = sockaddr_hci(
            hci_family: sa_family_t(AF_BLUETOOTH), hci_dev: UInt16(HCI_DEV_NONE),
            hci_channel: UInt16(HCI_CHANNEL_CONTROL))
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, socklen_t(MemoryLayout<sockaddr_hci>.size))
            }
        }
        guard result == 0 else { throw .unavailable(systemError()) }
        return descriptor
    }
}

/// The system's word for the last error.
private func systemError() -> String {
    String(cString: strerror(errno))
}
