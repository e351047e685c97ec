internal import DFUProtocol
internal import DFUTransport

/// Makes one story of what an update's procedures say of their progress: over reconnections too, it never falls.
final class ProgressTeller: Sendable {
    private struct State {
        var now = UpdateProgress(phase: .connect)
        var told: UpdateProgress?
        /// Bytes of the parts before this one.
        var bytesBefore = 0
    }

    private let state = Locked(State())
    private let observer: UpdateObserver

    /// A story of which nothing is told yet.
    init(observer: UpdateObserver) {
        self.observer = observer
    }

    /// The stage that the update is in.
    var phase: Phase { state.withLock { $0.now.phase } }

    /// Tells a new stage.
    func enter(_ phase: Phase) {
        tell { now, _ in now.phase = phase }
    }

    /// Tells how many bytes all images have.
    func setTotal(_ total: Int, parts: Int = 1) {
        tell { now, _ in (now.total, now.parts) = (total, parts) }
    }

    /// Tells that a part is begun, from 1, before which there are so many bytes of others.
    func begin(part: Int, after bytes: Int) {
        tell { now, bytesBefore in
            now.part = part
            now.bytes = max(now.bytes, bytes)
            bytesBefore = bytes
        }
    }

    /// Tells what a procedure says; the bytes of one that transfers nothing, or that begins anew, are no step back.
    func advance(_ phase: Phase, _ progress: Progress) {
        tell { now, bytesBefore in
            now.phase = phase
            now.bytes = max(now.bytes, bytesBefore + progress.bytes)
        }
    }

    /// Tells that the device has accepted all.
    func accepted() {
        tell { now, _ in now.bytes = now.total }
    }

    private func tell(_ change: (inout UpdateProgress, inout Int) -> Void) {
        let news: UpdateProgress? = state.withLock { state in
            change(&state.now, &state.bytesBefore)
            guard state.now != state.told else { return nil }
            state.told = state.now
            return state.now
        }
        if let news { observer.progress?(news) }
    }
}
