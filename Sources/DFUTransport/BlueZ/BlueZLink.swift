import DFUProtocol
private import Glibc

/// An open way to a device's endpoints by BlueZ: commands go through its sockets where it gives them, requests by calls.
///
/// BlueZ takes a call when its sockets are empty (`message_dispatch` in its gdbus/mainloop.c is an idle source), so that no
/// request overtakes a command.
///
/// It lives on the bus connection's thread, but for packets that a socket takes at once.
actor BlueZLink: Link {
    /// The longest value of an attribute, and what BlueZ reads of a record at once (bluez/bluez #1466).
    private static let longestWrite = 512
    /// What an MTU is where nothing is known of it (Bluetooth Core 5.4, volume 3, part G, 5.2.1).
    private static let smallestMTU = 23
    /// A connection that is lost sooner than this was lost early.
    private static let earlyLimit = Duration.seconds(2)

    private enum Writer {
        case socket(FileDescriptor)
        case calls(DBusObjectPath, type: String)
    }

    /// A packet that waits for room in a socket.
    private struct Blocked {
        var watch: PollExecutor.Watch
        var timer: PollExecutor.Timer
        var continuation: CheckedContinuation<Bool, Never>
    }

    nonisolated let maximumWriteLength: Int
    private nonisolated let writers: [Endpoint: Writer]
    private nonisolated let events = LinkEvents()
    private let central: BlueZCentral
    private let device: DBusObjectPath
    private let address: String
    private let begin = ContinuousClock.now
    /// The characteristics whose notifications are heard.
    private var notifying: [DBusObjectPath] = []
    private var observer: UInt64?
    private var blocked: Blocked?
    private var isOver = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { central.unownedExecutor }

    private init(
        _ central: BlueZCentral, _ device: DBusObjectPath, address: String, writers: [Endpoint: Writer],
        maximumWriteLength: Int
    ) {
        self.central = central
        self.device = device
        self.address = address
        self.writers = writers
        self.maximumWriteLength = maximumWriteLength
    }

    // MARK: Opening

    static func open(
        _ bindings: [Endpoint: EndpointBinding], of device: DBusObjectPath, address: String, _ central: BlueZCentral
    ) async throws(TransportError) -> BlueZLink {
        var writers: [Endpoint: Writer] = [:]
        var notifying: [(Endpoint, BlueZCharacteristic)] = []
        var mtus: [Int] = []
        for (endpoint, binding) in bindings.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let object = try await central.tree.object(of: binding.characteristic, in: binding.service, at: device)
            switch binding.use {
            case .notify: notifying.append((endpoint, object))
            case .write, .writeAndNotify:
                writers[endpoint] = .calls(object.path, type: "request")
                mtus.append(object.mtu ?? smallestMTU)
                if binding.use.isHeard { notifying.append((endpoint, object)) }
            case .writeWithoutResponse:
                let (writer, mtu) = try await acquireWriter(of: object, at: device, central)
                writers[endpoint] = writer.map(Writer.socket) ?? .calls(object.path, type: "command")
                mtus.append(mtu ?? object.mtu ?? smallestMTU)
            }
        }
        let link = BlueZLink(
            central, device, address: address, writers: writers,
            maximumWriteLength: min((mtus.min() ?? smallestMTU) - 3, longestWrite))
        await link.watchConnection()
        do throws(TransportError) {
            for (endpoint, object) in notifying { try await link.subscribe(endpoint, to: object.path) }
        } catch {
            await link.close()
            throw error
        }
        return link
    }

    /// A socket of our own to write commands to; nil where BlueZ gives none.
    private static func acquireWriter(
        of object: BlueZCharacteristic, at device: DBusObjectPath, _ central: BlueZCentral
    ) async throws(TransportError) -> (socket: FileDescriptor?, mtu: Int?) {
        do throws(BlueZError) {
            let answer = try await central.request(
                "AcquireWrite", at: object.path, [.properties([:])], of: device, limit: central.limits.call)
            guard case .fileDescriptor(let socket) = answer.first, case .uint16(let mtu) = answer.last else {
                return (nil, nil)
            }
            return (socket, Int(mtu))
        } catch {
            switch error {
            case .notSupported, .objectGone: return (nil, nil)
            default: throw await central.failure(error, during: .write)
            }
        }
    }

    private func watchConnection() {
        observer = central.daemon.assumeIsolated { daemon in
            daemon.observe { [weak self] result in
                guard let self else { return }
                assumeIsolated { link in
                    if case .success(let tree) = result, tree.device(at: link.device)?.isConnected == true { return }
                    link.end()
                }
            }
        }
    }

    /// Subscribes by `StartNotify`, whose values come as signals.
    ///
    /// Not by a socket: BlueZ 5.66 loses what comes before its answer to `AcquireNotify`, gives none where the device says
    /// no, and dies where the connection ends meanwhile, or where a program ends its bus connection before its socket
    /// (`NotificationTests` of the lab).
    private func subscribe(_ endpoint: Endpoint, to path: DBusObjectPath) async throws(TransportError) {
        listen(to: path, for: endpoint)
        do throws(BlueZError) {
            _ = try await central.request("StartNotify", at: path, of: device, limit: central.limits.request)
        } catch {
            throw await central.failure(error, during: .subscribe)
        }
    }

    // MARK: Hearing

    private func listen(to path: DBusObjectPath, for endpoint: Endpoint) {
        let events = events
        notifying.append(path)
        central.daemon.assumeIsolated { daemon in
            daemon.setNotified(path) { events.send(.notification($0, from: endpoint)) }
        }
    }

    nonisolated func setReceiver(_ receiver: (@Sendable (LinkEvent) -> Void)?) {
        events.setReceiver(receiver)
    }

    /// The connection is over.
    private func end() {
        guard !isOver else { return }
        noteEnd(isEarly: begin.duration(to: .now) < Self.earlyLimit)
        let notifying = notifying
        release()
        events.send(.disconnected)
        // BlueZ would subscribe again by itself as soon as it is connected, and tell nobody when that is done.
        Task { await stopNotifying(notifying) }
    }

    /// Gives back what BlueZ gave for the link. Harmless when it is over.
    func close() async {
        guard !isOver else { return }
        let notifying = notifying
        noteEnd(isEarly: false)
        release()
        events.send(.disconnected)
        // The device hears of it with the end of the connection at the latest.
        await stopNotifying(notifying)
    }

    private func stopNotifying(_ paths: [DBusObjectPath]) async {
        for path in paths {
            _ = try? await central.call(
                "StopNotify", of: BlueZInterface.characteristic, at: path, limit: .seconds(1))
        }
    }

    private func noteEnd(isEarly: Bool) {
        central.assumeIsolated { $0.noteEnd(of: address, at: device, isEarly: isEarly) }
    }

    private func release() {
        isOver = true
        for path in notifying { central.daemon.assumeIsolated { $0.setNotified(path, nil) } }
        notifying = []
        if let observer { central.daemon.assumeIsolated { $0.endObserving(observer) } }
        observer = nil
        // Its next try tells why.
        unblock(isWritable: true)
    }

    // MARK: Writing

    nonisolated func write(_ bytes: [UInt8], to endpoint: Endpoint) async throws(TransportError) {
        precondition(bytes.count <= maximumWriteLength, "\(bytes.count) bytes are too many for one write")
        guard let writer = writers[endpoint] else { preconditionFailure("the link has no endpoint \(endpoint)") }
        switch writer {
        case .socket(let socket):
            while try !send(bytes, to: socket) { try await waitUntilWritable(socket) }
        case .calls(let path, let type):
            do throws(BlueZError) {
                _ = try await central.request(
                    "WriteValue", at: path, [.bytes(bytes), .properties(["type": .string(type)])], of: device,
                    limit: central.limits.request)
            } catch {
                throw await central.failure(error, during: .write)
            }
        }
    }

    /// Queues a packet; false where the socket is full.
    private nonisolated func send(_ bytes: [UInt8], to socket: FileDescriptor) throws(TransportError) -> Bool {
        while true {
            let count = Glibc.send(socket.number, bytes, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
            if count >= 0 { return true }
            switch errno {
            case EINTR: continue
            case EAGAIN: return false
            // BlueZ closes it with the connection.
            default: throw TransportError(.notConnected, during: .write)
            }
        }
    }

    /// Waits until a full socket takes something again, or is closed.
    private func waitUntilWritable(_ socket: FileDescriptor) async throws(TransportError) {
        guard !isOver else { throw TransportError(.notConnected, during: .write) }
        precondition(blocked == nil, "packets are written one after the other")
        let executor = central.daemon.executor
        let isWritable = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let watch = executor.watch(socket.number, for: .writable) { [weak self] _ in
                    self?.assumeIsolated { $0.unblock(isWritable: true) }
                }
                let timer = executor.after(central.limits.request) { [weak self] in
                    self?.assumeIsolated { $0.unblock(isWritable: false) }
                }
                blocked = Blocked(watch: watch, timer: timer, continuation: continuation)
            }
        } onCancel: {
            executor.submit { [weak self] in self?.assumeIsolated { $0.unblock(isWritable: false) } }
        }
        if Task.isCancelled { throw TransportError(.cancelled, during: .write) }
        guard isWritable else { throw TransportError(.timedOut, during: .write) }
    }

    private func unblock(isWritable: Bool) {
        guard let blocked = blocked.take() else { return }
        central.daemon.executor.unwatch(blocked.watch)
        central.daemon.executor.cancel(blocked.timer)
        blocked.continuation.resume(returning: isWritable)
    }
}
