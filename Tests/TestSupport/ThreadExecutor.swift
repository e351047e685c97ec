private import Glibc

/// Runs each job on a thread of its own, for what blocks: the threads that tasks share are as few as the processor's cores.
public final class ThreadExecutor: TaskExecutor {
    /// The one that there is.
    public static let shared = ThreadExecutor()

    private init() {}

    /// Runs a job; for the runtime.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Self.start { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Runs `body` on a thread of its own.
    public func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            Self.start { continuation.resume(returning: body()) }
        }
    }

    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    private static func start(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { body in
                guard let body else { return nil }
                Unmanaged<Body>.fromOpaque(body).takeRetainedValue().run()
                return nil
            }, Unmanaged.passRetained(Body(body)).toOpaque())
        precondition(result == 0, "pthread_create failed with \(result)")
        pthread_detach(thread)
    }
}
