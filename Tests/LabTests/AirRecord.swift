import DFUSimulator
import DFUTransport

/// What happens to devices on the air.
final class AirRecord: Sendable {
    private let kept = Locked<[SimulatedEvent.Kind]>([])
    private let news = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// What a radio is to tell its events to.
    var observer: EmulatedRadio.Observer {
        { event, _ in
            self.kept.withLock { $0.append(event.kind) }
            self.news.continuation.yield()
        }
    }

    var events: [SimulatedEvent.Kind] { kept.withLock(\.self) }

    /// What has arrived at devices.
    var written: [[UInt8]] {
        events.compactMap { if case .written(let bytes, _) = $0 { bytes } else { nil } }
    }

    /// Waits until so many writes have arrived.
    func untilWritten(_ count: Int) async -> [[UInt8]] {
        for await _ in news.stream where written.count >= count { break }
        return written
    }
}
