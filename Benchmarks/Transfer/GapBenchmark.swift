import DFUKit

/// How exactly the driver keeps a gap between packets by the wall clock.
enum GapBenchmark {
    /// Writes packets with a gap between them, as block-ack does.
    private struct Packets: Procedure {
        let gap: Duration
        var rest: Int
        var isPausing = false

        var phase: Phase { .transfer }

        mutating func next() -> Step<Void> {
            if rest == 0 {
                .finish(.success(()))
            } else if isPausing {
                .wait(WaitTimer(id: rest, duration: gap))
            } else {
                .write([], to: .command)
            }
        }

        mutating func receive(_ event: Event) {
            switch event {
            case .written: isPausing = true
            case .timeout:
                isPausing = false
                rest -= 1
            case .notification, .writeFailed, .disconnected, .abort: break
            }
        }
    }

    private final class TimingLink: Link {
        private let times = Locked<[ContinuousClock.Instant]>([])

        var maximumWriteLength: Int { 20 }

        var gaps: [Duration] {
            let times = times.withLock { $0 }
            return zip(times, times.dropFirst()).map { $0.duration(to: $1) }
        }

        func write(_ bytes: [UInt8], to endpoint: Endpoint) async throws(TransportError) {
            times.withLock { $0.append(.now) }
        }

        func setReceiver(_ receiver: (@Sendable (LinkEvent) -> Void)?) {}
    }

    /// The gaps between `count` + 1 packets, shortest first.
    static func measure(_ gap: Duration, count: Int) async -> [Duration] {
        let link = TimingLink()
        var packets = Packets(gap: gap, rest: count + 1)
        _ = await run(&packets, over: link, clock: ContinuousClock())
        return link.gaps.sorted()
    }
}
