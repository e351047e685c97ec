import DFUTransport
import TestSupport
import Testing

@Suite(.privateBus, .timeLimit(.minutes(1))) struct DBusServiceTests {
    @Test func ownsANameAlone() async throws {
        let (first, second) = (try await connectToPrivateBus(), try await connectToPrivateBus())
        let name = "org.example.Owned"
        #expect(try await first.requestName(name))
        #expect(try await first.requestName(name))
        #expect(try await second.requestName(name) == false)
        try await first.releaseName(name)
        #expect(try await second.requestName(name))
        await #expect {
            try await first.requestName("no name")
        } throws: { ($0 as? DBusError)?.name == "org.freedesktop.DBus.Error.InvalidArgs" }
    }

    @Test func answersByItsName() async throws {
        let peer = try await TestPeer()
        #expect(try await peer.connection.requestName("org.example.Echo"))
        let caller = try await connectToPrivateBus()
        async let echo: Void = peer.echo()
        var message = peer.call("Echo", [.string("hello")])
        message.destination = "org.example.Echo"
        let answer = try await caller.call(message)
        #expect(answer.body == [.string("hello")])
        #expect(answer.sender == peer.name)
        #expect(answer.destination == (await caller.uniqueName))
        await peer.connection.close()
        try await echo
    }

    @Test func findsTheNearestObject() async throws {
        let (server, caller) = (try await connectToPrivateBus(), try await connectToPrivateBus())
        let name = await server.uniqueName
        let objects: [(String, Bool)] = [("/a", true), ("/a/b", true), ("/a/b/c", false)]
        try await withThrowingTaskGroup { group in
            for (object, isWithAllBelow) in objects {
                let calls = await server.calls(of: path(object), withAllBelow: isWithAllBelow)
                group.addTask {
                    for await call in calls { try await server.answer(call, with: [.string(object)]) }
                }
            }
            for (called, answering) in [
                ("/a", "/a"), ("/a/x/y", "/a"), ("/a/b", "/a/b"), ("/a/bb", "/a"), ("/a/b/c", "/a/b/c"),
                ("/a/b/c/d", "/a/b"),
            ] {
                let answer = try await caller.call(.call("Who", of: nil, at: path(called), destination: name))
                #expect(answer.body == [.string(answering)], "\(called)")
            }
            for called in ["/", "/aa"] {
                let unknown = DBusError(
                    name: "org.freedesktop.DBus.Error.UnknownObject", message: "there is no object \(called) here")
                await #expect(throws: unknown) {
                    try await caller.call(.call("Who", of: nil, at: path(called), destination: name))
                }
            }
            await server.close()
            try await group.waitForAll()
        }
    }

    @Test func servesAnObjectAsLongAsItsCallsAreRead() async throws {
        let (server, caller) = (try await connectToPrivateBus(), try await connectToPrivateBus())
        let call = await DBusMessage.call("Who", of: nil, at: .root, destination: server.uniqueName)
        let first = Task { [calls = await server.calls(of: .root)] in
            for await call in calls { try await server.answer(call, with: [.string("first")]) }
        }
        #expect(try await caller.call(call).body == [.string("first")])
        first.cancel()
        try await first.value
        let unknown = DBusError(name: "org.freedesktop.DBus.Error.UnknownObject", message: "there is no object / here")
        await #expect(throws: unknown) { try await caller.call(call) }
        let second = Task { [calls = await server.calls(of: .root)] in
            for await call in calls { try await server.answer(call, with: [.string("second")]) }
        }
        #expect(try await caller.call(call).body == [.string("second")])
        second.cancel()
        try await second.value
    }

    @Test func takesCallsInTheirOrderAndAnswersNoneThatNeedsNone() async throws {
        let peer = try await TestPeer()
        let caller = try await connectToPrivateBus()
        var message = peer.call("Note")
        message.expectsReply = false
        for number in UInt32(0)..<1000 {
            message.body = [.uint32(number)]
            try await caller.send(message)
        }
        var numbers: [DBusValue] = []
        for await call in peer.calls {
            #expect(call.expectsReply == false)
            try await peer.connection.answer(call, with: call.body)
            numbers += call.body
            if numbers.count == 1000 { break }
        }
        #expect(numbers == (0..<1000).map { .uint32($0) })
    }

    @Test func answersPingsByItself() async throws {
        let (server, caller) = (try await connectToPrivateBus(), try await connectToPrivateBus())
        let name = await server.uniqueName
        let answer = try await caller.call(.call("Ping", of: "org.freedesktop.DBus.Peer", at: .root, destination: name))
        #expect(answer.body == [])
    }
}
