private import Dispatch

extension BuiltProgram {
    /// Runs it to its end, waiting on a thread of its own: what it talks to lives in this process and needs the others.
    func outcome() async -> Outcome {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: run()) }
        }
    }
}
