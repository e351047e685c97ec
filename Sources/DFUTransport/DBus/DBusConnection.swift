private import CLinux

/// A connection to a message bus.
///
/// It lives on a thread of its own, which reads as long as the connection is open: that is from `open` until `close`, or
/// until the bus ends it, or until nobody holds it any more.
package actor DBusConnection {
    typealias Completion = (Result<DBusMessage, DBusError>) -> Void

    private struct PendingCall {
        var timer: PollExecutor.Timer?
        var completion: Completion
    }

    /// The thread, on which other actors may live as well.
    package nonisolated let executor: PollExecutor

    /// This connection's own name on the bus, such as `:1.42`.
    package private(set) var uniqueName = ""

    private var library: LibraryConnection?
    private var pendingCalls: [UInt32: PendingCall] = [:]
    private var lastSerial: UInt32 = 0
    var subscriptions: [UInt64: Subscription] = [:]
    var objects: [DBusObjectPath: ServedObject] = [:]
    var lastID: UInt64 = 0

    /// Whether the connection is open.
    package var isConnected: Bool { library != nil }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// The name that belongs to the bus itself.
    package static let busName = "org.freedesktop.DBus"
    /// The object that is the bus itself.
    package static let busPath = DBusObjectPath(checked: "/org/freedesktop/DBus")

    /// The address of the system bus: the variable `DBUS_SYSTEM_BUS_ADDRESS`, or else what the D-Bus specification says
    /// ("Well-known Message Bus Instances").
    package static var systemBusAddress: String {
        getenv("DBUS_SYSTEM_BUS_ADDRESS").map { String(cString: $0) } ?? "unix:path=/var/run/dbus/system_bus_socket"
    }

    /// Connects to the bus at an address as the D-Bus specification writes it ("Server Addresses").
    ///
    /// - Parameter timeout: The limit for the bus to let us in.
    /// - Throws: `connectFailed`, `timeout`, `cancelled`.
    package static func open(
        _ address: String = systemBusAddress, timeout: Duration = .seconds(10)
    ) async throws(DBusError) -> DBusConnection {
        guard let executor = PollExecutor(name: "dfu-dbus") else {
            throw DBusError(.connectFailed, message: "this process has no file descriptor left for a bus")
        }
        let connection = DBusConnection(executor: executor)
        try await connection.start(address, timeout: timeout)
        return connection
    }

    private init(executor: PollExecutor) {
        self.executor = executor
    }

    isolated deinit { end("nobody holds the connection to the bus any more") }

    private func start(_ address: String, timeout: Duration) async throws(DBusError) {
        library = try LibraryConnection(address: address, executor: executor) { [weak self] message in
            self?.assumeIsolated { $0.receive(message) }
        }
        do {
            let hello = try await call(
                .call("Hello", of: Self.busName, at: Self.busPath, destination: Self.busName), timeout: timeout)
            guard case .string(let name) = hello.body.first else { preconditionFailure("a bus without names") }
            uniqueName = name
        } catch {
            end("the bus at “\(address)” did not let us in")
            guard error.code == .disconnected else { throw error }
            throw DBusError(.connectFailed, message: "the bus at “\(address)” does not let us in")
        }
    }

    /// Ends the connection: calls that wait fail with `disconnected`, subscribers hear `.disconnected`.
    ///
    /// What has not left yet is lost. Harmless when it is over.
    package func close() {
        end("the connection to the bus was closed")
    }

    private func end(_ reason: String) {
        library?.close()
        library = nil
        for serial in pendingCalls.keys { finish(serial, .failure(DBusError(.disconnected, message: reason))) }
        endSubscriptions()
        endObjects()
    }

    /// Has `body` called on the thread, after what is there to do; not at all when the connection is not held any more.
    nonisolated func onThread(_ body: @escaping @Sendable (isolated DBusConnection) -> Void) {
        executor.submit { [weak self] in self?.assumeIsolated(body) }
    }

    // MARK: Sending

    /// Calls a method and waits for its answer.
    ///
    /// A call that is given up, over its limit or cancelled, may have been carried out all the same.
    /// - Parameter timeout: The limit for the answer; nil: none.
    /// - Throws: `answered` when the answer is an error, `timeout`, `cancelled`, `disconnected`, `invalidMessage`.
    package func call(
        _ message: DBusMessage, timeout: Duration? = .seconds(25)
    ) async throws(DBusError) -> DBusMessage {
        guard !Task.isCancelled else { throw Self.cancelled }
        let serial = nextSerial()
        let result = await withTaskCancellationHandler {
            await answer(to: message, serial: serial, timeout: timeout)
        } onCancel: {
            onThread { $0.finish(serial, .failure(Self.cancelled)) }
        }
        return try result.get()
    }

    /// Calls a method of the bus itself, which answers at once; so this does not heed cancellation.
    ///
    /// - Parameter arrived: Called at the answer's place among all that is received; the caller goes on some time later.
    @discardableResult
    func callBus(
        _ member: String, _ body: [DBusValue], arrived: @escaping Completion = { _ in }
    ) async throws(DBusError) -> DBusMessage {
        let message = DBusMessage.call(
            member, of: Self.busName, at: Self.busPath, destination: Self.busName, body: body)
        return try await answer(to: message, serial: nextSerial(), timeout: .seconds(25), arrived: arrived).get()
    }

    private func answer(
        to message: DBusMessage, serial: UInt32, timeout: Duration?, arrived: @escaping Completion = { _ in }
    ) async -> Result<DBusMessage, DBusError> {
        precondition(message.kind == .methodCall && message.expectsReply, "nothing will answer this message")
        do {
            try transmit(message, serial: serial)
        } catch {
            return .failure(error)
        }
        let timer = timeout.map { timeout in
            executor.after(timeout) { [weak self] in self?.assumeIsolated { $0.expire(serial, message, timeout) } }
        }
        return await withCheckedContinuation { continuation in
            pendingCalls[serial] = PendingCall(timer: timer) { result in
                arrived(result)
                continuation.resume(returning: result)
            }
        }
    }

    private func expire(_ serial: UInt32, _ call: DBusMessage, _ timeout: Duration) {
        let message = "\(call.destination ?? "the peer") did not answer \(call.member ?? "") within \(timeout)"
        finish(serial, .failure(DBusError(.timeout, message: message)))
    }

    private func finish(_ serial: UInt32, _ result: Result<DBusMessage, DBusError>) {
        // An answer that nobody waits for any more is dropped.
        guard let call = pendingCalls.removeValue(forKey: serial) else { return }
        call.timer.map(executor.cancel)
        call.completion(result)
    }

    /// Sends what is not answered: a signal, an answer, or a call that expects none.
    ///
    /// When this returns, the message is in its place behind those sent before.
    /// - Throws: `disconnected`, `invalidMessage`.
    package func send(_ message: DBusMessage) throws(DBusError) {
        try transmit(message, serial: nextSerial())
    }

    private func transmit(_ message: DBusMessage, serial: UInt32) throws(DBusError) {
        guard let library else { throw DBusError(.disconnected, message: "there is no connection to the bus any more") }
        try library.send(message, serial: serial)
    }

    private func nextSerial() -> UInt32 {
        repeat { lastSerial &+= 1 } while lastSerial == 0 || pendingCalls[lastSerial] != nil
        return lastSerial
    }

    private static let cancelled = DBusError(.cancelled, message: "the task that waited for an answer was cancelled")

    // MARK: Receiving

    private func receive(_ message: DBusMessage) {
        switch message.kind {
        case .methodReturn(let call): finish(call, .success(message))
        case .error(let name, let call):
            var text = ""
            if case .string(let words) = message.body.first { text = words }
            finish(call, .failure(DBusError(name: name, message: text)))
        case .methodCall: route(message)
        case .signal where message.interface == "org.freedesktop.DBus.Local":
            // libdbus's own, which no peer can send (D-Bus specification, "Message Types").
            end("the bus ended the connection")
        case .signal: deliver(message)
        }
    }
}
