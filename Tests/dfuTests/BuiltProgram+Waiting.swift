import TestSupport

extension BuiltProgram {
    /// Runs it to its end; what it talks to may live in this process.
    func outcome() async -> Outcome {
        await ThreadExecutor.shared.run { run() }
    }
}
