import DFUTransport
private import Glibc

/// BlueZ's end of a socket that a client has acquired.
struct AcquiredSocket {
    var descriptor: FileDescriptor
    var watch: PollExecutor.Watch
    /// How many records were read since the last pause.
    var records = 0
}

extension SimulatedBlueZ {
    /// What BlueZ reads of a record (`sock_read` in its src/gatt-client.c); the rest is lost.
    private static let longestRecord = 512

    func acquireWrite(_ call: DBusMessage, at path: DBusObjectPath) {
        guard let characteristic = characteristics[path], link(of: path) != nil else {
            return refuse(call, BlueZError.notConnected)
        }
        guard characteristic.writeSocket == nil else { return refuse(call, BlueZError.notPermitted("Write acquired")) }
        guard characteristic.declared.properties.contains(.writeWithoutResponse) else {
            return refuse(call, BlueZError.notSupported)
        }
        guard let (near, far) = socketPair() else { return refuse(call, BlueZError.failed("Too many open files")) }
        if settings.socketPauses != nil { takeLittle(far) }
        let watch = watch(near) { $0.takeRecords(for: path) }
        characteristics[path]?.writeSocket = AcquiredSocket(descriptor: near, watch: watch)
        tell(tree.set(["WriteAcquired": .boolean(true)], of: .characteristic, at: path))
        answer(call, [.fileDescriptor(far), .uint16(UInt16(mtu(of: path)))])
    }

    func acquireNotify(_ call: DBusMessage, at path: DBusObjectPath) {
        guard let characteristic = characteristics[path], link(of: path) != nil else {
            return refuse(call, BlueZError.notConnected)
        }
        guard !characteristic.isNotifyAcquired else { return refuse(call, BlueZError.notPermitted("Notify acquired")) }
        guard characteristic.sessions.isEmpty else { return refuse(call, BlueZError.inProgress) }
        guard characteristic.declared.canNotify else { return refuse(call, BlueZError.notSupported) }
        characteristics[path]?.isAcquiringNotify = true
        subscribe(to: path) { blueZ, error in
            // BlueZ 5.66 gives no answer then, and takes the characteristic for acquired until the connection ends.
            guard error == nil else { return }
            blueZ.characteristics[path]?.isAcquiringNotify = false
            guard blueZ.link(of: path) != nil, let (near, far) = blueZ.socketPair() else {
                return blueZ.refuse(call, BlueZError.notConnected)
            }
            let watch = blueZ.watch(near) { $0.takeRecords(for: path) }
            blueZ.characteristics[path]?.notifySocket = AcquiredSocket(descriptor: near, watch: watch)
            blueZ.tell(blueZ.tree.set(["NotifyAcquired": .boolean(true)], of: .characteristic, at: path))
            blueZ.answer(call, [.fileDescriptor(far), .uint16(UInt16(blueZ.mtu(of: path)))])
        }
    }

    /// Hands a notification to the owner of the socket; it is lost when the owner does not read.
    func pass(_ notification: [UInt8], to socket: AcquiredSocket) {
        _ = Glibc.send(
            socket.descriptor.number, notification, notification.count,
            Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }

    /// Reads what the owners of a characteristic's sockets have written, as fast as it comes: there is no back-pressure,
    /// unless the settings want pauses.
    func takeRecords(for path: DBusObjectPath) {
        while let socket = characteristics[path]?.writeSocket {
            if let pauses = settings.socketPauses, socket.records >= pauses.records {
                pause(socket, of: path, for: pauses.length)
                break
            }
            guard let record = record(from: socket) else { break }
            guard !record.isEmpty else {
                closeWriteSocket(of: path)
                break
            }
            characteristics[path]?.writeSocket?.records += 1
            // A record that is too long for the MTU vanishes.
            send(record, to: path)
        }
        while let socket = characteristics[path]?.notifySocket, let record = record(from: socket) {
            if record.isEmpty { closeNotifySocket(of: path) }
        }
    }

    private func pause(_ socket: AcquiredSocket, of path: DBusObjectPath, for length: Duration) {
        characteristics[path]?.writeSocket?.records = 0
        setWatching(false, socket.watch)
        // It does no harm to a watch that has ended meanwhile.
        after(length) { $0.setWatching(true, socket.watch) }
    }

    /// Has a socket take the least that Linux lets it before whoever writes has to wait.
    private func takeLittle(_ socket: FileDescriptor) {
        var size: Int32 = 1
        setsockopt(socket.number, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    /// The next record; empty at the end, nil where there is none yet.
    private func record(from socket: AcquiredSocket) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: Self.longestRecord)
        let count = recv(socket.descriptor.number, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        guard count >= 0 else { return errno == EAGAIN || errno == EINTR ? nil : [] }
        return Array(buffer.prefix(count))
    }

    private func socketPair() -> (near: FileDescriptor, far: FileDescriptor)? {
        var pair: [Int32] = [-1, -1]
        let type = Int32(SOCK_SEQPACKET.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &pair) == 0 else { return nil }
        return (FileDescriptor(owning: pair[0]), FileDescriptor(owning: pair[1]))
    }

    /// Closes the sockets of a characteristic, whose owners see the end.
    func closeSockets(of path: DBusObjectPath) {
        closeWriteSocket(of: path)
        closeNotifySocket(of: path)
        characteristics[path]?.isAcquiringNotify = false
    }

    func closeWriteSocket(of path: DBusObjectPath) {
        guard let socket = characteristics[path]?.writeSocket.take() else { return }
        unwatch(socket.watch)
        tell(tree.set(["WriteAcquired": .boolean(false)], of: .characteristic, at: path))
    }

    func closeNotifySocket(of path: DBusObjectPath) {
        guard let socket = characteristics[path]?.notifySocket.take() else { return }
        unwatch(socket.watch)
        tell(tree.set(["NotifyAcquired": .boolean(false)], of: .characteristic, at: path))
    }
}
