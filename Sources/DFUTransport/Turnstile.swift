/// Lets one task after the other through, in the order in which they came.
package final class Turnstile: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [(id: UInt64, continuation: CheckedContinuation<Bool, Never>)] = []
        var lastID: UInt64 = 0
    }

    private let state = Locked(State())

    package init() {}

    /// Waits for its turn, which lasts until `leave()`.
    ///
    /// - Returns: False when the task was cancelled before: then there is no turn, and nothing to leave.
    package func enter() async -> Bool {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    guard state.isTaken else {
                        state.isTaken = true
                        return true
                    }
                    state.waiting.append((id, continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0) }
            }
            waiter?.continuation.resume(returning: false)
        }
    }

    /// Ends the turn.
    package func leave() {
        let next: CheckedContinuation<Bool, Never>? = state.withLock { state in
            precondition(state.isTaken, "a turn that was not taken")
            guard state.waiting.isEmpty else { return state.waiting.removeFirst().continuation }
            state.isTaken = false
            return nil
        }
        next?.resume(returning: true)
    }
}
