/// An object, or a part of the tree of objects, that answers calls.
struct ServedObject {
    var id: UInt64
    var isWithAllBelow: Bool
    var calls: AsyncStream<DBusMessage>.Continuation
}

extension DBusConnection {
    /// Takes a bus name, so that it can be called by it; false when somebody else has it.
    ///
    /// - Throws: `answered`, `timeout`, `disconnected`.
    package func requestName(_ name: String) async throws(DBusError) -> Bool {
        // DBUS_NAME_FLAG_DO_NOT_QUEUE; DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER and …_ALREADY_OWNER (D-Bus specification,
        // "org.freedesktop.DBus.RequestName").
        let answer = try await callBus("RequestName", [.string(name), .uint32(4)])
        return answer.body == [.uint32(1)] || answer.body == [.uint32(4)]
    }

    /// Gives a bus name back.
    ///
    /// - Throws: `answered`, `timeout`, `disconnected`.
    package func releaseName(_ name: String) async throws(DBusError) {
        try await callBus("ReleaseName", [.string(name)])
    }

    /// The calls of an object's methods, in the order of arrival; each is to be answered by `answer(_:with:)`, at any time.
    ///
    /// The object is there until the stream is dropped, the task that reads it is cancelled, or the connection is gone,
    /// which ends the stream. An object counts before one that is served with all below. Calls of objects that nobody
    /// serves are answered with UnknownObject.
    /// - Parameter isWithAllBelow: Whether the objects below are served as well.
    package func calls(
        of path: DBusObjectPath, withAllBelow isWithAllBelow: Bool = false
    ) -> AsyncStream<DBusMessage> {
        precondition(objects[path] == nil, "the object \(path) is served already")
        lastID += 1
        let id = lastID
        let (stream, calls) = AsyncStream.makeStream(of: DBusMessage.self)
        guard isConnected else {
            calls.finish()
            return stream
        }
        calls.onTermination = { [weak self] _ in
            self?.onThread { if $0.objects[path]?.id == id { $0.objects[path] = nil } }
        }
        objects[path] = ServedObject(id: id, isWithAllBelow: isWithAllBelow, calls: calls)
        return stream
    }

    /// Answers a call; nothing is sent when the caller does not wait for an answer.
    ///
    /// - Throws: `disconnected`, `invalidMessage`.
    package func answer(_ call: DBusMessage, with body: [DBusValue] = []) throws(DBusError) {
        guard call.expectsReply else { return }
        try send(DBusMessage(kind: .methodReturn(of: call.serial), destination: call.sender, body: body))
    }

    /// Answers a call with an error: `error`'s name, or Failed where it has none, and its message.
    ///
    /// - Throws: `disconnected`, `invalidMessage`.
    package func answer(_ call: DBusMessage, with error: DBusError) throws(DBusError) {
        guard call.expectsReply else { return }
        let name = error.name ?? "org.freedesktop.DBus.Error.Failed"
        try send(
            DBusMessage(
                kind: .error(name, of: call.serial), destination: call.sender, body: [.string(error.message)]))
    }

    /// Hands a call to the object it is for.
    func route(_ call: DBusMessage) {
        // A call always has a path (D-Bus specification, "Message Types"), which libdbus checks.
        let path = call.path ?? .root
        let nearest = objects.filter { $0.key == path || $0.value.isWithAllBelow && path.isAtOrBelow($0.key) }
            .max { $0.key.string.utf8.count < $1.key.string.utf8.count }
        if let nearest {
            nearest.value.calls.yield(call)
        } else {
            let error = DBusError(
                name: "org.freedesktop.DBus.Error.UnknownObject", message: "there is no object \(path) here")
            // It fails only where the connection is gone, and with it the caller's wait.
            try? answer(call, with: error)
        }
    }

    /// Ends all that is served.
    func endObjects() {
        for object in objects.values { object.calls.finish() }
        objects.removeAll()
    }
}
