import Testing

@testable import DFUKit

@Suite struct InboxTests {
    private let inbox = Inbox<Int>()

    @Test func firstInFirstOut() async {
        #expect(inbox.poll() == nil)
        for number in 0..<100 { inbox.push(number) }
        for number in 0..<50 { #expect(inbox.poll() == number) }
        for number in 50..<100 { #expect(await inbox.next() == number) }
        #expect(inbox.poll() == nil)
    }

    @Test func whoWaitsIsWoken() async {
        async let first = inbox.next()
        inbox.push(1)
        #expect(await first == 1)
    }

    @Test func aCancelledTaskReadsOn() async {
        let task = Task { [inbox] in
            withUnsafeCurrentTask { $0?.cancel() }
            return await inbox.next()
        }
        inbox.push(3)
        #expect(await task.value == 3)
    }

    @Test func nothingIsLostBetweenThreads() async {
        let count = 1000
        await withTaskGroup { group in
            for number in 0..<count { group.addTask { [inbox] in inbox.push(number) } }
            var seen = Set<Int>()
            for _ in 0..<count { seen.insert(await inbox.next()) }
            #expect(seen.count == count)
        }
    }
}
