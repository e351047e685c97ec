private import DFUTransport

/// What happens to a procedure, on its way from any thread to the one task that drives it.
///
/// Unlike an `AsyncStream` it does not care whether that task is cancelled.
final class Inbox<Element: Sendable>: Sendable {
    private struct State {
        var elements = Queue<Element>()
        var waiter: CheckedContinuation<Element, Never>?
    }

    private let state = Locked(State())

    /// Puts an element behind those that wait.
    func push(_ element: Element) {
        let waiter = state.withLock { state in
            let waiter = state.waiter.take()
            if waiter == nil { state.elements.append(element) }
            return waiter
        }
        waiter?.resume(returning: element)
    }

    /// Takes the first element, where there is one.
    func poll() -> Element? {
        state.withLock { $0.elements.popFirst() }
    }

    /// Takes the first element as soon as there is one. Only one task may wait at a time.
    func next() async -> Element {
        await withCheckedContinuation { continuation in
            let element = state.withLock { state in
                precondition(state.waiter == nil, "An inbox has one reader.")
                let element = state.elements.popFirst()
                if element == nil { state.waiter = continuation }
                return element
            }
            if let element { continuation.resume(returning: element) }
        }
    }
}
