/// A verb's work: its stored properties are its arguments, and `run` is the program.
protocol Command: Sendable {
    /// The command with its defaults.
    init()

    /// Where each word of the command line goes.
    static var grammar: Grammar<Self> { get }

    /// Refuses combinations that no single option can judge.
    func validate() throws(Failure)

    /// Does the work, and writes what there is to say.
    /// - Throws: What one line on stderr says. A command that has said it itself returns the status.
    func run(_ session: Session) async throws(Failure) -> ExitStatus
}

extension Command {
    func validate() throws(Failure) {}
}
