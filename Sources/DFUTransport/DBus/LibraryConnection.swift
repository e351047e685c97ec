private import CDBus

/// libdbus's connection to a bus, which this owns, made part of a `PollExecutor`'s loop.
///
/// Everything happens on the executor's thread, and nothing blocks but `init`. libdbus's own timeouts are not used: it
/// has them for its own pending calls and its blocking functions only.
final class LibraryConnection {
    private let executor: PollExecutor
    private let receive: (DBusMessage) -> Void
    /// Nil when closed.
    private var pointer: OpaquePointer?
    private var watches: [OpaquePointer: PollExecutor.Watch] = [:]
    private var dispatching: PollExecutor.Timer?

    /// Opens a connection; every message that comes is handed to `receive`, on the executor's thread.
    ///
    /// `connect(2)` to a socket of this machine blocks only while the bus has not accepted its last hundred callers.
    /// - Throws: `connectFailed`.
    init(
        address: String, executor: PollExecutor, receive: @escaping (DBusMessage) -> Void
    ) throws(DBusError) {
        self.executor = executor
        self.receive = receive
        // Not this library's business: it writes with MSG_NOSIGNAL, and the process's signals are the program's.
        dbus_connection_set_change_sigpipe(0)
        var error = CDBus.DBusError()
        dbus_error_init(&error)
        defer { dbus_error_free(&error) }
        guard !address.utf8.contains(0), let pointer = dbus_connection_open_private(address, &error) else {
            let reason = error.message.map { String(cString: $0) } ?? "it is no address"
            throw DBusError(.connectFailed, message: "no connection to the bus at “\(address)”: \(reason)")
        }
        self.pointer = pointer
        let this = Unmanaged.passUnretained(self).toOpaque()
        dbus_connection_set_exit_on_disconnect(pointer, 0)
        orOutOfMemory(
            dbus_connection_add_filter(
                pointer,
                { _, message, this in
                    LibraryConnection.from(this).receive(message)
                    return DBUS_HANDLER_RESULT_HANDLED
                }, this, nil))
        dbus_connection_set_dispatch_status_function(
            pointer,
            { _, status, this in
                if status == DBUS_DISPATCH_DATA_REMAINS { LibraryConnection.from(this).dispatchSoon() }
            }, this, nil)
        orOutOfMemory(
            dbus_connection_set_watch_functions(
                pointer,
                { watch, this in
                    LibraryConnection.from(this).add(watch)
                    return 1
                },
                { watch, this in LibraryConnection.from(this).remove(watch) },
                { watch, this in LibraryConnection.from(this).toggle(watch) }, this, nil))
    }

    deinit { precondition(pointer == nil, "a connection has to be closed on its thread") }

    /// Ends the connection. What has not left yet is lost. Harmless when it is over.
    func close() {
        guard let pointer else { return }
        self.pointer = nil
        dbus_connection_set_dispatch_status_function(pointer, nil, nil, nil)
        dbus_connection_close(pointer)
        // Closing has removed the watches already; those functions must not be called any more.
        orOutOfMemory(dbus_connection_set_watch_functions(pointer, nil, nil, nil, nil, nil))
        dispatching.map(executor.cancel)
        dbus_connection_unref(pointer)
    }

    /// Queues a message, and writes as much as the socket takes.
    ///
    /// - Throws: `disconnected`, `invalidMessage`.
    func send(_ message: DBusMessage, serial: UInt32) throws(DBusError) {
        guard let pointer else { throw DBusError(.disconnected, message: "the connection to the bus is closed") }
        let message = try LibraryMessage(message, serial: serial)
        if message.carriesDescriptors, dbus_connection_can_send_type(pointer, Int32(UInt8(ascii: "h"))) == 0 {
            throw DBusError(.invalidMessage, message: "this bus takes no file descriptors: this message cannot be sent")
        }
        orOutOfMemory(dbus_connection_send(pointer, message.pointer, nil))
    }

    private static func from(_ this: UnsafeMutableRawPointer?) -> LibraryConnection {
        Unmanaged.fromOpaque(orOutOfMemory(this)).takeUnretainedValue()
    }

    // MARK: Messages

    /// libdbus forbids to dispatch while it tells that there is something to.
    private func dispatchSoon() {
        guard dispatching == nil else { return }
        dispatching = executor.after(.zero) { [unowned self] in
            dispatching = nil
            dispatch()
        }
    }

    private func dispatch() {
        // `receive` may close the connection.
        guard let pointer = pointer.map(dbus_connection_ref) else { return }
        defer { dbus_connection_unref(pointer) }
        while self.pointer != nil, dbus_connection_dispatch(pointer) == DBUS_DISPATCH_DATA_REMAINS {}
    }

    private func receive(_ message: OpaquePointer?) {
        guard let message, pointer != nil else { return }
        do {
            receive(try DBusMessage(message))
        } catch {
            // Whoever waits for this answer has to hear why it cannot be read.
            var answer = DBusMessage(headerOf: message)
            guard case .methodReturn(let call) = answer.kind else { return }
            answer.kind = .error(error.name ?? "", of: call)
            answer.body = [.string(error.message)]
            receive(answer)
        }
    }

    // MARK: Watches

    private func add(_ watch: OpaquePointer?) {
        guard let watch else { return }
        watches[watch] = executor.watch(dbus_watch_get_unix_fd(watch), for: events(of: watch)) {
            [unowned self] events in
            handle(watch, events)
        }
    }

    private func remove(_ watch: OpaquePointer?) {
        guard let watch else { return }
        watches.removeValue(forKey: watch).map(executor.unwatch)
    }

    private func toggle(_ watch: OpaquePointer?) {
        guard let watch, let watched = watches[watch] else { return }
        executor.setEvents(events(of: watch), of: watched)
    }

    private func handle(_ watch: OpaquePointer, _ events: PollExecutor.Events) {
        var flags: UInt32 = 0
        if events.contains(.readable) { flags |= DBUS_WATCH_READABLE.rawValue }
        if events.contains(.writable) { flags |= DBUS_WATCH_WRITABLE.rawValue }
        if events.contains(.hangUp) { flags |= DBUS_WATCH_HANGUP.rawValue }
        if !events.isDisjoint(with: .error) { flags |= DBUS_WATCH_ERROR.rawValue }
        orOutOfMemory(dbus_watch_handle(watch, flags))
    }

    private func events(of watch: OpaquePointer) -> PollExecutor.Events {
        guard dbus_watch_get_enabled(watch) != 0 else { return [] }
        let flags = dbus_watch_get_flags(watch)
        var events: PollExecutor.Events = []
        if flags & DBUS_WATCH_READABLE.rawValue != 0 { events.insert(.readable) }
        if flags & DBUS_WATCH_WRITABLE.rawValue != 0 { events.insert(.writable) }
        return events
    }
}
