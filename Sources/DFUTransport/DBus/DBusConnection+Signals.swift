/// Somebody who hears signals.
struct Subscription {
    var rule: DBusMatchRule
    /// The unique name whose signals are meant: the rule's sender or its owner. Nil: it has none.
    var owner: String?
    /// What the bus was asked for, and counts.
    var addedRules: [DBusMatchRule] = []
    var receive: @Sendable (DBusEvent) -> Void
}

extension DBusConnection {
    /// Listens for signals: for all that the bus sees after this has returned, in its order.
    ///
    /// They are kept until they are taken. The subscription ends when the stream is dropped, or the task that reads it is
    /// cancelled. Only what comes from the owner of the rule's sender is let through, whoever else sends the like.
    /// - Throws: `answered`, `timeout`, `disconnected`.
    package func subscribe(to rule: DBusMatchRule) async throws(DBusError) -> AsyncStream<DBusEvent> {
        let (stream, events) = AsyncStream.makeStream(of: DBusEvent.self)
        do {
            let id = try await subscribe(to: rule) { event in
                events.yield(event)
                if event == .disconnected { events.finish() }
            }
            events.onTermination = { [weak self] _ in self?.onThread { $0.unsubscribe(id) } }
        } catch {
            events.finish()
            throw error
        }
        return stream
    }

    /// Has `receive` called on the connection's thread with each signal, at its place among all that is received, until
    /// `unsubscribe`; the rest is as with the stream.
    ///
    /// - Throws: `answered`, `timeout`, `disconnected`.
    @discardableResult
    package func subscribe(
        to rule: DBusMatchRule, _ receive: @escaping @Sendable (DBusEvent) -> Void
    ) async throws(DBusError) -> UInt64 {
        lastID += 1
        let id = lastID
        subscriptions[id] = Subscription(rule: rule, owner: rule.sender, receive: receive)
        do {
            if let sender = rule.sender, !sender.hasPrefix(":"), sender != Self.busName {
                try await follow(sender, for: id)
            }
            try await add(rule, for: id)
        } catch {
            unsubscribe(id)
            throw error
        }
        return id
    }

    /// Keeps a subscription's `owner` true to a name that changes hands.
    private func follow(_ name: String, for id: UInt64) async throws(DBusError) {
        subscriptions[id]?.owner = nil
        let rule = DBusMatchRule(
            sender: Self.busName, path: Self.busPath, interface: Self.busName, member: "NameOwnerChanged",
            firstArgument: name)
        try await add(rule, for: id)
        do {
            // Its place among the signals counts: it must not undo a change that came after it.
            try await callBus("GetNameOwner", [.string(name)]) { result in
                guard case .success(let answer) = result, case .string(let owner) = answer.body.first else { return }
                self.subscriptions[id]?.owner = owner
            }
        } catch  where error.name == "org.freedesktop.DBus.Error.NameHasNoOwner" {}
    }

    private func add(_ rule: DBusMatchRule, for id: UInt64) async throws(DBusError) {
        try await callBus("AddMatch", [.string(rule.text)])
        subscriptions[id]?.addedRules.append(rule)
    }

    /// Ends a subscription. Harmless when it is over.
    package func unsubscribe(_ id: UInt64) {
        guard let subscription = subscriptions.removeValue(forKey: id) else { return }
        for rule in subscription.addedRules {
            var message = DBusMessage.call(
                "RemoveMatch", of: Self.busName, at: Self.busPath, destination: Self.busName,
                body: [.string(rule.text)])
            message.expectsReply = false
            // It fails only where the connection is gone, and with it the rules.
            try? send(message)
        }
    }

    /// Hands a signal to whom it concerns.
    func deliver(_ signal: DBusMessage) {
        if signal.sender == Self.busName, signal.member == "NameOwnerChanged", signal.body.count == 3,
            case .string(let name) = signal.body[0], case .string(let owner) = signal.body[2]
        {
            for (id, subscription) in subscriptions where subscription.rule.sender == name {
                subscriptions[id]?.owner = owner.isEmpty ? nil : owner
            }
        }
        for subscription in subscriptions.values where subscription.rule.matches(signal, owner: subscription.owner) {
            subscription.receive(.signal(signal))
        }
    }

    /// Tells all that the connection is gone.
    func endSubscriptions() {
        let ended = subscriptions.values
        subscriptions = [:]
        for subscription in ended { subscription.receive(.disconnected) }
    }
}
