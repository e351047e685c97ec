import DFUTransport

/// Counts the bytes that arrive at devices, and tells when they are enough.
final class ArrivalCounter: Sendable {
    private struct Watch {
        var bytes: Int
        /// Nil: any.
        var device: String?
        var body: @Sendable () -> Void
    }

    private struct State {
        var counts: [String: Int] = [:]
        var watches: [Watch] = []
    }

    private let state = Locked(State())

    /// Has `body` called once, from any thread, when a device has got so many bytes.
    func watch(for bytes: Int, at device: String?, _ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.watches.append(Watch(bytes: bytes, device: device, body: body)) }
    }

    /// Takes what happened to a device.
    func take(_ event: SimulatedEvent) {
        guard case .written(let bytes, _) = event.kind else { return }
        let due = state.withLock { state in
            state.counts[event.address, default: 0] += bytes.count
            let count = state.counts[event.address, default: 0]
            func isDue(_ watch: Watch) -> Bool {
                watch.device ?? event.address == event.address && watch.bytes <= count
            }
            defer { state.watches.removeAll(where: isDue) }
            return state.watches.filter(isDue)
        }
        for watch in due { watch.body() }
    }
}
