import DFUKit
import DFUProtocol

/// What an update has told of its progress so far: bytes never fall, and the rate is the reader's own.
struct ProgressStory: Sendable {
    /// What a snapshot changed.
    struct Change: OptionSet {
        let rawValue: Int
        static let phase = Change(rawValue: 1)
        static let bytes = Change(rawValue: 2)
    }

    private(set) var phase: Phase?
    private(set) var part = 1
    private(set) var parts = 1
    private(set) var bytes = 0
    private(set) var total = 0
    private var meter = RateMeter()

    /// Takes in a snapshot, and says what is new in it.
    mutating func note(_ snapshot: UpdateProgress, at time: Duration) -> Change {
        var change: Change = []
        if snapshot.phase != phase || snapshot.part != part {
            change.insert(.phase)
            meter.reset()
        }
        if snapshot.bytes > bytes {
            change.insert(.bytes)
        }
        phase = snapshot.phase
        part = snapshot.part
        parts = snapshot.parts
        bytes = max(bytes, snapshot.bytes)
        total = snapshot.total
        if phase == .transfer {
            meter.note(bytes, at: time)
        }
        return change
    }

    /// Bytes a second over the last seconds; nil while nothing is transferred.
    func bytesPerSecond(at time: Duration) -> Double? {
        phase == .transfer ? meter.rate(at: time) : nil
    }

    /// How long the rest takes at that rate.
    func secondsLeft(at time: Duration) -> Double? {
        guard let rate = bytesPerSecond(at: time), rate > 0 else { return nil }
        return Double(total - bytes) / rate
    }

    /// What a terminal's line shows at `time`.
    func barState(name: String, at time: Duration) -> ProgressBar.State {
        ProgressBar.State(
            name: name, phase: phaseName, bytes: bytes, total: total, bytesPerSecond: bytesPerSecond(at: time),
            secondsLeft: secondsLeft(at: time))
    }

    /// The phase, and which part it is about where there are several.
    var phaseName: String {
        let name = phase?.rawValue ?? ""
        return parts > 1 ? "\(name) \(part)/\(parts)" : name
    }
}
