import DFUTransport
import Testing

@Suite struct QueueTests {
    @Test func firstInFirstOut() {
        var queue = Queue<Int>()
        #expect(queue.popFirst() == nil)
        var (appended, popped) = (0, 0)
        // It grows and shrinks in turn.
        for round in 0..<200 {
            for _ in 0..<(round % 7) {
                queue.append(appended)
                appended += 1
            }
            for _ in 0..<(round % 5) where popped < appended {
                #expect(queue.first == popped)
                #expect(queue.popFirst() == popped)
                popped += 1
            }
            #expect(queue.count == appended - popped)
            #expect(queue.isEmpty == (appended == popped))
        }
        while let element = queue.popFirst() {
            #expect(element == popped)
            popped += 1
        }
        #expect(popped == appended)
    }

    @Test func letsGoOfWhatIsTaken() {
        final class Token {}
        var queue = Queue<Token>()
        weak var token: Token?
        do {
            let made = Token()
            token = made
            queue.append(made)
            queue.append(Token())
            queue.append(Token())
        }
        _ = queue.popFirst()
        #expect(token == nil)
        #expect(queue.count == 2)
    }
}
