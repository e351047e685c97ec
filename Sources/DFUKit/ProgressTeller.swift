internal import DFUProtocol
internal import DFUTransport

/// Makes one story of what an update's procedures say of their progress: over reconnections too, it never falls.
final class ProgressTeller: Sendable {
    private let state: Locked<UpdateProgress>
    private let observer: UpdateObserver

    /// A story that begins with `phase`.
    init(observer: UpdateObserver) {
        self.observer = observer
        state = Locked(UpdateProgress(phase: .connect))
    }

    /// The stage that was told last.
    var phase: Phase { state.withLock { $0.phase } }

    /// Tells a new stage.
    func enter(_ phase: Phase) {
        update { $0.phase = phase }
    }

    /// Tells how many bytes the image has.
    func setTotal(_ total: Int) {
        update { $0.total = total }
    }

    /// Tells what a procedure says; the bytes of one that transfers nothing, or that begins anew, are no step back.
    func advance(_ phase: Phase, _ progress: Progress) {
        update {
            $0.phase = phase
            $0.bytes = max($0.bytes, progress.bytes)
        }
    }

    /// Tells that the device has accepted all.
    func accepted() {
        update { $0.bytes = $0.total }
    }

    private func update(_ change: (inout UpdateProgress) -> Void) {
        let changed = state.withLock { progress in
            let before = progress
            change(&progress)
            return progress == before ? nil : progress
        }
        if let changed { observer.progress?(changed) }
    }
}
