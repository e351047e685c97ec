/// BlueZ as a bus shows it: its objects as they are now, and waits for what they are to become.
///
/// It lives on the bus connection's thread. Once the service or the bus is gone it is of no use any more: every wait and
/// call fails with the reason.
package actor BlueZDaemon {
    private enum Outcome {
        case fulfilled(BlueZObjectTree)
        case late
        case failed(TransportError)
    }

    private struct Waiter {
        var timer: PollExecutor.Timer
        var condition: (BlueZObjectTree) -> Bool
        var continuation: CheckedContinuation<Outcome, Never>
    }

    /// The objects as they are now.
    package private(set) var tree = BlueZObjectTree()

    let connection: DBusConnection
    /// Why it is of no use any more.
    private(set) var failure: TransportError?
    /// What is heard before the objects are known; nil afterwards.
    private var early: [DBusEvent]? = []
    private var observers: [UInt64: (Result<BlueZObjectTree, TransportError>) -> Void] = [:]
    private var notified: [DBusObjectPath: ([UInt8]) -> Void] = [:]
    private var waiters: [UInt64: Waiter] = [:]
    private var lastID: UInt64 = 0

    /// BlueZ's name on the bus.
    package static let busName = "org.bluez"

    /// The bus connection's thread.
    nonisolated var executor: PollExecutor { connection.executor }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.unownedExecutor }

    /// Finds BlueZ on the bus at this address.
    ///
    /// - Parameter timeout: The limit for the service to show its objects.
    /// - Throws: `environment`, `permission`, `cancelled`.
    package static func open(
        _ address: String = DBusConnection.systemBusAddress, timeout: Duration = .seconds(10)
    ) async throws(TransportError) -> BlueZDaemon {
        do throws(DBusError) {
            let connection = try await DBusConnection.open(address, timeout: timeout)
            let daemon = BlueZDaemon(connection: connection)
            try await daemon.start(timeout: timeout)
            return daemon
        } catch {
            let error = BlueZError(error)
            throw TransportError(error == .timedOut ? .serviceSilent : error, during: .look)
        }
    }

    private init(connection: DBusConnection) {
        self.connection = connection
    }

    private func start(timeout: Duration) async throws(DBusError) {
        // Before the objects are asked for, so that no change of them is missed.
        try await connection.subscribe(to: DBusMatchRule(sender: Self.busName)) { [weak self] event in
            self?.assumeIsolated { $0.receive(event) }
        }
        try await connection.subscribe(
            to: DBusMatchRule(
                sender: DBusConnection.busName, path: DBusConnection.busPath, interface: DBusConnection.busName,
                member: "NameOwnerChanged", firstArgument: Self.busName)
        ) { [weak self] event in
            // Started by our own call: nobody had the name before.
            guard case .signal(let signal) = event, signal.body.count == 3, signal.body[1] != .string("") else {
                return
            }
            self?.assumeIsolated { $0.noteRestart() }
        }
        let answer = try await connection.call(
            .call(
                "GetManagedObjects", of: "org.freedesktop.DBus.ObjectManager", at: .root, destination: Self.busName),
            timeout: timeout)
        guard let tree = BlueZObjectTree(managedObjects: answer.body) else {
            throw DBusError(.invalidMessage, message: "the owner of the name org.bluez is not BlueZ")
        }
        self.tree = tree
        // What was sent before the answer is in it.
        let later = (early ?? []).filter { !$0.isSent(before: answer) }
        early = nil
        later.forEach(receive)
    }

    // MARK: Asking

    /// Calls a method of one of BlueZ's objects.
    ///
    /// - Throws: What BlueZ, or the bus in its place, answered.
    package func call(
        _ member: String, of interface: String, at path: DBusObjectPath, body: [DBusValue] = [], timeout: Duration
    ) async throws(BlueZError) -> [DBusValue] {
        do throws(DBusError) {
            let call = DBusMessage.call(member, of: interface, at: path, destination: Self.busName, body: body)
            return try await connection.call(call, timeout: timeout).body
        } catch {
            throw BlueZError(error)
        }
    }

    /// Waits until the objects fulfil a condition: at once where they do, or after each change.
    ///
    /// - Returns: The objects as they were then; nil when they did not within the limit.
    /// - Throws: `environment` when the service or the bus goes, `cancelled`.
    package func wait(
        _ limit: Duration, until condition: @escaping @Sendable (BlueZObjectTree) -> Bool
    ) async throws(TransportError) -> BlueZObjectTree? {
        lastID += 1
        let id = lastID
        let outcome = await withTaskCancellationHandler {
            await waitedFor(id, limit, condition)
        } onCancel: {
            connection.executor.submit { [weak self] in
                self?.assumeIsolated { $0.finish(id, .failed(TransportError(.cancelled, during: .look))) }
            }
        }
        switch outcome {
        case .fulfilled(let tree): return tree
        case .late: return nil
        case .failed(let error): throw error
        }
    }

    private func waitedFor(
        _ id: UInt64, _ limit: Duration, _ condition: @escaping (BlueZObjectTree) -> Bool
    ) async -> Outcome {
        if let failure { return .failed(failure) }
        if Task.isCancelled { return .failed(TransportError(.cancelled, during: .look)) }
        if condition(tree) { return .fulfilled(tree) }
        let timer = connection.executor.after(limit) { [weak self] in
            self?.assumeIsolated { $0.finish(id, .late) }
        }
        return await withCheckedContinuation { continuation in
            waiters[id] = Waiter(timer: timer, condition: condition, continuation: continuation)
        }
    }

    private func finish(_ id: UInt64, _ outcome: Outcome) {
        guard let waiter = waiters.removeValue(forKey: id) else { return }
        connection.executor.cancel(waiter.timer)
        waiter.continuation.resume(returning: outcome)
    }

    // MARK: Hearing

    /// Has `body` called on the thread after each change, and with the failure that is the end.
    ///
    /// - Returns: What `endObserving` takes.
    func observe(_ body: @escaping @Sendable (Result<BlueZObjectTree, TransportError>) -> Void) -> UInt64 {
        lastID += 1
        observers[lastID] = body
        if let failure { body(.failure(failure)) }
        return lastID
    }

    func endObserving(_ id: UInt64) {
        observers[id] = nil
    }

    /// Has `body` called on the thread with each value that a characteristic notifies on the bus; nil: no more.
    func setNotified(_ path: DBusObjectPath, _ body: (([UInt8]) -> Void)?) {
        notified[path] = body
    }

    private func receive(_ event: DBusEvent) {
        guard early == nil else {
            early?.append(event)
            return
        }
        switch event {
        case .signal(let signal):
            tree.receive(signal)
            if let path = signal.path, let body = notified[path], let value = signal.notifiedValue { body(value) }
            for body in observers.values { body(.success(tree)) }
            for (id, waiter) in waiters where waiter.condition(tree) { finish(id, .fulfilled(tree)) }
        case .disconnected: fail(TransportError(.busGone("it ended the connection"), during: .look))
        }
    }

    private func noteRestart() {
        fail(TransportError(.environment, message: "the Bluetooth service was stopped or restarted"))
    }

    private func fail(_ error: TransportError) {
        guard failure == nil else { return }
        failure = error
        tree = BlueZObjectTree()
        for body in observers.values { body(.failure(error)) }
        for id in waiters.keys { finish(id, .failed(error)) }
    }
}

extension DBusMessage {
    /// The value that a characteristic notifies, where this signal tells of one.
    fileprivate var notifiedValue: [UInt8]? {
        guard member == "PropertiesChanged", body.first == .string(BlueZInterface.characteristic), body.count == 3,
            case .bytes(let value) = body[1].properties?["Value"]
        else { return nil }
        return value
    }
}

extension DBusEvent {
    /// Whether this is a signal that its sender sent before that answer of its own.
    fileprivate func isSent(before answer: DBusMessage) -> Bool {
        guard case .signal(let signal) = self else { return false }
        return signal.sender == answer.sender && signal.serial < answer.serial
    }
}
