/// A procedure whose steps and events are told to somebody, and that is otherwise the same.
package struct Recording<Recorded: Procedure>: Procedure {
    /// What there is to tell, in the order of what happened.
    package enum Moment: Sendable {
        /// A line that the procedure logs, before the step that it is about.
        case log(String)
        /// What it wants done next. The same wait may be told again; a write or the end is told once.
        case step(Step<Recorded.Outcome>)
        /// What happened to it.
        case event(Event)
    }

    /// The procedure as it is now.
    package private(set) var procedure: Recorded
    private let tell: @Sendable (Moment) -> Void
    private var isStepTold = false
    private var log: [String] = []

    /// `procedure`, with `tell` hearing of it.
    package init(_ procedure: Recorded, tell: @escaping @Sendable (Moment) -> Void) {
        self.procedure = procedure
        self.tell = tell
    }

    package var phase: Phase { procedure.phase }

    package var progress: Progress { procedure.progress }

    package mutating func next() -> Step<Recorded.Outcome> {
        let step = procedure.next()
        let lines = procedure.takeLog()
        for line in lines { tell(.log(line)) }
        log += lines
        if !isStepTold { tell(.step(step)) }
        isStepTold = true
        return step
    }

    package mutating func receive(_ event: Event) {
        tell(.event(event))
        procedure.receive(event)
        isStepTold = false
    }

    package mutating func takeLog() -> [String] {
        defer { log.removeAll() }
        return log
    }
}
