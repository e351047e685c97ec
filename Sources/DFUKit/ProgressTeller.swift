internal import DFUProtocol
internal import DFUTransport

/// Makes one story of what an update's procedures say of their progress: over reconnections too, it never falls.
final class ProgressTeller: Sendable {
    private struct State {
        var now = UpdateProgress(phase: .connect)
        var told: UpdateProgress?
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
        tell { $0.phase = phase }
    }

    /// Tells how many bytes the image has.
    func setTotal(_ total: Int) {
        tell { $0.total = total }
    }

    /// Tells what a procedure says; the bytes of one that transfers nothing, or that begins anew, are no step back.
    func advance(_ phase: Phase, _ progress: Progress) {
        tell {
            $0.phase = phase
            $0.bytes = max($0.bytes, progress.bytes)
        }
    }

    /// Tells that the device has accepted all.
    func accepted() {
        tell { $0.bytes = $0.total }
    }

    private func tell(_ change: (inout UpdateProgress) -> Void) {
        let news: UpdateProgress? = state.withLock { state in
            change(&state.now)
            guard state.now != state.told else { return nil }
            state.told = state.now
            return state.now
        }
        if let news { observer.progress?(news) }
    }
}
