/// The events of a link on their way to whoever listens: what a `Link` needs for its `setReceiver`.
package final class LinkEvents: Sendable {
    private struct State {
        var receiver: (@Sendable (LinkEvent) -> Void)?
        var kept: [LinkEvent] = []
        var isOver = false
    }

    private let state = Locked(State())

    package init() {}

    /// Hands an event over, or keeps it until somebody listens. The end is told to everybody who comes to listen.
    package func send(_ event: LinkEvent) {
        // Under the lock, so that the order of arrival is kept; the contract of a receiver is that it does not block.
        state.withLock { state in
            if event == .disconnected { state.isOver = true }
            if let receiver = state.receiver {
                receiver(event)
            } else if !state.isOver {
                state.kept.append(event)
            }
        }
    }

    /// See `Link.setReceiver`.
    package func setReceiver(_ receiver: (@Sendable (LinkEvent) -> Void)?) {
        state.withLock { state in
            state.receiver = receiver
            guard let receiver else { return }
            state.kept.forEach(receiver)
            state.kept.removeAll()
            if state.isOver { receiver(.disconnected) }
        }
    }
}
