import DFUKit
import DFUTransport

/// Tells people and programs how one device's update goes.
///
/// Its methods may be called from any thread, one at a time.
final class DeviceReporter: Sendable {
    /// How it is told.
    struct Style: Sendable {
        /// Whether stdout carries JSON lines.
        var json = false
        /// Bar, plain or none.
        var progress: ProgressStyle
        /// 0: warnings only; 1: the log too; 2: every packet too.
        var verbosity = 0
    }

    private struct State: Sendable {
        /// The device as it is spoken to now.
        var device: JSONLine.Device
        var story = ProgressStory()
        var toldTenth = 0
        var lastProgress: Duration?
    }

    /// Progress events on stdout are no closer than this, so that with the last one there are at most ten in a second.
    private static let shortestPause = Duration.milliseconds(125)

    private let place: Int
    private let console: Console
    private let style: Style
    private let now: @Sendable () -> Duration
    private let state: Locked<State>

    /// A reporter whose rates go by `now`.
    ///
    /// - Parameter place: Where among all devices of the command this one stands.
    init(
        device: JSONLine.Device, at place: Int = 0, console: Console, style: Style,
        now: @escaping @Sendable () -> Duration
    ) {
        state = Locked(State(device: device))
        self.place = place
        self.console = console
        self.style = style
        self.now = now
    }

    /// The device as it is spoken to now.
    var device: JSONLine.Device { state.withLock(\.device) }

    /// What tells the reporter of an update.
    var observer: UpdateObserver {
        var observer = UpdateObserver(
            progress: { self.progress($0) }, warning: { self.warning(reason: $0.reason, $0.message) },
            log: { self.log($0) })
        observer.address = { address in self.state.withLock { $0.device.address = address } }
        if style.verbosity >= 2 || console.hasLogFile { observer.packet = { self.packet($0) } }
        return observer
    }

    /// How many bytes of all parts the device has acknowledged.
    var bytes: Int { state.withLock { $0.story.bytes } }

    /// Tells where the update stands.
    func progress(_ snapshot: UpdateProgress) {
        let time = now()
        let lines = state.withLock { state in
            let change = state.story.note(snapshot, at: time)
            return (json: Self.jsonEvents(&state, change, time), plain: Self.plainLines(&state, change))
        }
        if style.json {
            lines.json.forEach { console.result(JSONLine($0, device: device).text) }
        }
        switch style.progress {
        case .plain: lines.plain.forEach { console.report("\(device.device): \($0)".printable) }
        case .bar: console.show({ [self] in line }, at: place)
        case .auto, .none: break
        }
    }

    /// Tells a remark that does not end the update.
    func warning(reason: String, _ message: String) {
        if style.json {
            console.result(JSONLine(.warning(reason: reason, message: message), device: device).text)
        }
        console.report("dfu: \(device.device): warning: \(message)".printable)
    }

    /// Tells a line for whoever looks for the cause of trouble.
    func log(_ line: String) {
        console.log("\(device.device): \(line)".printable, isShown: style.verbosity >= 1)
    }

    /// Tells a packet.
    func packet(_ packet: ProcedureObserver.Packet) {
        let line =
            switch packet {
            case .written(let bytes, let endpoint): "-> \(endpoint.rawValue) \(bytes.hexadecimal)"
            case .received(let bytes, let endpoint): "<- \(endpoint.rawValue) \(bytes.hexadecimal)"
            }
        console.log("\(device.device): \(line)", isShown: style.verbosity >= 2)
    }

    /// Tells how it ended: a result on stdout, a failure on stderr.
    func end(_ result: JSONLine.Result) {
        console.hideLine(at: place)
        if style.json {
            console.result(JSONLine(.result(result), device: device).text)
        } else if result.status == .ok {
            console.result("\(device.device): \(result.message)".printable)
        }
        if result.status != .ok {
            let failure = Failure(result.status, subject: device.device, phase: result.phase, result.message)
            console.report(failure.line)
        }
    }

    private static func jsonEvents(
        _ state: inout State, _ change: ProgressStory.Change, _ time: Duration
    ) -> [JSONLine.Event] {
        let story = state.story
        var events: [JSONLine.Event] = []
        if change.contains(.phase), let phase = story.phase {
            events.append(.phase(phase, part: story.part, parts: story.parts))
        }
        guard change.contains(.bytes) else { return events }
        let isLast = story.bytes == story.total
        if let last = state.lastProgress, time - last < shortestPause, !isLast { return events }
        state.lastProgress = time
        events.append(
            .progress(
                bytes: story.bytes, total: story.total, bytesPerSecond: story.bytesPerSecond(at: time),
                secondsLeft: story.secondsLeft(at: time)))
        return events
    }

    private static func plainLines(_ state: inout State, _ change: ProgressStory.Change) -> [String] {
        let story = state.story
        var lines: [String] = []
        if change.contains(.phase) {
            lines.append(story.phaseName)
        }
        guard change.contains(.bytes), story.total > 0 else { return lines }
        let tenth = story.bytes * 10 / story.total
        guard tenth > state.toldTenth else { return lines }
        state.toldTenth = tenth
        lines.append("\(tenth * 10) %, \(Quantities.bytes(story.bytes, of: story.total))")
        return lines
    }

    private var line: ProgressBar.State {
        state.withLock(\.story).barState(name: device.device, at: now())
    }
}
