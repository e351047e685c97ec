private import Dispatch

extension BuiltProgram {
    /// Runs it to its end; what it talks to may live in this process.
    func outcome() async -> Outcome {
        await elsewhere { run() }
    }
}

/// Runs what blocks on a thread of its own, away from those that tasks need.
func elsewhere<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(returning: body()) }
    }
}
