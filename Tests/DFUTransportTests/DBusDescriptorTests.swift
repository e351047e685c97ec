import DFUTransport
import Glibc
import TestSupport
import Testing

@Suite(.privateBus, .timeLimit(.minutes(1))) struct DBusDescriptorTests {
    /// The descriptor that is this value.
    private func descriptor(_ value: DBusValue?) throws -> FileDescriptor {
        guard case .fileDescriptor(let descriptor) = try #require(value) else {
            throw DBusError(.invalidMessage, message: "no descriptor")
        }
        return descriptor
    }

    @Test func goBothWaysAndAreClosedWithTheirLastHolder() async throws {
        let peer = try await TestPeer()
        let caller = try await connectToPrivateBus()
        var calls = peer.calls.makeAsyncIterator()
        let mine: FileDescriptor
        let theirs: FileDescriptor
        do {
            let (there, back) = (DescriptorPair(), DescriptorPair())
            (mine, theirs) = (there.near, back.near)
            async let answer = caller.call(peer.call("Swap", [.fileDescriptor(there.far)]))
            let call = try #require(await calls.next())
            let taken = try descriptor(call.body.first)
            #expect(taken.number != there.far.number)
            #expect(fcntl(taken.number, F_GETFD) & FD_CLOEXEC != 0)
            taken.write("to the caller")
            #expect(mine.read() == "to the caller")
            try await peer.connection.answer(call, with: [.fileDescriptor(back.far)])
            let given = try descriptor(try await answer.body.first)
            given.write("to the peer")
            #expect(theirs.read() == "to the peer")
        }
        // The end is seen when no copy is open any more: not here, not in libdbus, not in the bus.
        #expect(mine.read() == "")
        #expect(theirs.read() == "")
    }

    @Test func travelInsideOfOtherValues() async throws {
        let peer = try await TestPeer()
        let caller = try await connectToPrivateBus()
        var calls = peer.calls.makeAsyncIterator()
        let pairs = (0..<3).map { _ in DescriptorPair() }
        let body: [DBusValue] = [
            .array([.fileDescriptor(pairs[0].far), .fileDescriptor(pairs[1].far)], of: .fileDescriptor),
            .variant(.fileDescriptor(pairs[2].far)),
        ]
        async let answer = caller.call(peer.call("Take", body))
        let call = try #require(await calls.next())
        guard case .array(let first, of: .fileDescriptor) = call.body[0], case .variant(let last) = call.body[1] else {
            Issue.record("\(call.body)")
            return
        }
        for (number, value) in (first + [last]).enumerated() { try descriptor(value).write("\(number)") }
        #expect(pairs.map { $0.near.read() } == ["0", "1", "2"])
        try await peer.connection.answer(call)
        _ = try await answer
    }

    @Test func areClosedWhenNobodyTakesThem() async throws {
        let peer = try await TestPeer()
        let caller = try await connectToPrivateBus()
        var calls = peer.calls.makeAsyncIterator()
        let mine: FileDescriptor
        do {
            let pair = DescriptorPair()
            mine = pair.near
            // An answer that comes too late, and a call of an object that is not there.
            _ = try? await caller.call(peer.call("Give"), timeout: .milliseconds(1))
            try await peer.connection.answer(try #require(await calls.next()), with: [.fileDescriptor(pair.far)])
            await #expect(throws: DBusError.self) {
                try await caller.call(
                    .call("Take", of: nil, at: .root, destination: peer.name, body: [.fileDescriptor(pair.far)]))
            }
        }
        #expect(mine.read() == "")
    }

    @Test func refusesOneThatIsNotOpen() async throws {
        let peer = try await TestPeer()
        let closed = FileDescriptor(owning: .max)
        let refused = DBusError(
            .invalidMessage,
            message: "the file descriptor 2147483647 cannot be duplicated: this message cannot be sent")
        await #expect(throws: refused) {
            try await peer.connection.call(peer.call("Take", [.array([.fileDescriptor(closed)], of: .fileDescriptor)]))
        }
    }
}
