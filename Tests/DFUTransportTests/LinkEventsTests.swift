import DFUProtocol
import DFUTransport
import Testing

@Suite struct LinkEventsTests {
    private let events = LinkEvents()
    private let heard = Locked<[LinkEvent]>([])

    private func listen() {
        heard.withLock { $0 = [] }
        events.setReceiver { [heard] event in heard.withLock { $0.append(event) } }
    }

    private func notification(_ byte: UInt8) -> LinkEvent { .notification([byte], from: .reply) }

    @Test func keepsWhatComesWhileNobodyListens() {
        events.send(notification(1))
        listen()
        events.send(notification(2))
        #expect(heard.withLock { $0 } == [notification(1), notification(2)])
        events.setReceiver(nil)
        events.send(notification(3))
        events.send(notification(4))
        #expect(heard.withLock { $0 } == [notification(1), notification(2)])
        listen()
        #expect(heard.withLock { $0 } == [notification(3), notification(4)])
    }

    @Test func tellsEachReceiverOfTheEnd() {
        listen()
        events.send(.disconnected)
        #expect(heard.withLock { $0 } == [.disconnected])
        listen()
        #expect(heard.withLock { $0 } == [.disconnected])
    }

    @Test func tellsOfTheEndLastAndOnce() {
        events.send(notification(1))
        events.send(.disconnected)
        listen()
        #expect(heard.withLock { $0 } == [notification(1), .disconnected])
    }
}
