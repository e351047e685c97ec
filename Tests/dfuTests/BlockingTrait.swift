import TestSupport
import Testing

/// Runs a suite's tests on threads of their own, because they wait for child processes.
struct BlockingTrait: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(ThreadExecutor.shared) { try await function() }
    }
}

extension Trait where Self == BlockingTrait {
    static var blocking: Self { BlockingTrait() }
}
