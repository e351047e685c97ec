import DFUTransport

/// What a link's characteristics notify, from when this is made on.
struct Notifications: Sendable {
    private let values: AsyncStream<[UInt8]>
    private let link: any Link

    init(_ link: any Link) {
        self.link = link
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        values = stream
        link.setReceiver { event in
            switch event {
            case .notification(let bytes, _): continuation.yield(bytes)
            case .disconnected: continuation.finish()
            }
        }
    }

    /// Hands over one value after the other, as long as `body` wants another.
    ///
    /// - Returns: Whether `body` had enough; false where the task was cancelled.
    /// - Throws: `disconnected`.
    func forEach(_ body: ([UInt8]) -> Bool) async throws(TransportError) -> Bool {
        defer { link.setReceiver(nil) }
        for await value in values where !body(value) { return true }
        guard Task.isCancelled else {
            throw TransportError(.disconnected, message: "the connection to the device is lost")
        }
        return false
    }

    /// The first value.
    ///
    /// - Throws: `timeout`, `disconnected`, `cancelled`.
    func first(within limit: Duration, clock: any Clock<Duration>) async throws(TransportError) -> [UInt8] {
        let result: Result<[UInt8], TransportError> = await withTaskGroup { group in
            group.addTask { () -> Result<[UInt8], TransportError>? in
                var first: [UInt8]?
                do throws(TransportError) {
                    _ = try await forEach { value in
                        first = value
                        return false
                    }
                } catch {
                    return .failure(error)
                }
                return first.map { .success($0) }
            }
            group.addTask { () -> Result<[UInt8], TransportError>? in
                try? await clock.sleep(for: limit)
                return nil
            }
            let first = await group.next().flatMap(\.self)
            group.cancelAll()
            if let first { return first }
            let error = TransportError(.timeout, message: "no answer came within \(limit.components.seconds) s")
            return .failure(Task.isCancelled ? TransportError(.cancelled, message: "it was stopped") : error)
        }
        return try result.get()
    }
}
