import DFUTransport
import TestSupport
import Testing

@Suite(.privateBus, .timeLimit(.minutes(1))) struct DBusSignalTests {
    private static let interface = "test.Interface"

    private func signal(_ number: UInt32, at path: DBusObjectPath = .root, to destination: String? = nil) -> DBusMessage
    {
        .signal("Counted", of: Self.interface, at: path, destination: destination, body: [.uint32(number)])
    }

    /// The numbers of the signals that come, up to this one.
    private func numbers(_ events: AsyncStream<DBusEvent>, upTo last: UInt32) async -> [UInt32] {
        var numbers: [UInt32] = []
        for await case .signal(let signal) in events {
            guard case .uint32(let number) = signal.body.first else { continue }
            numbers.append(number)
            if number == last { break }
        }
        return numbers
    }

    /// The rules that the bus keeps for a connection, in its own words.
    private func rules(of connection: DBusConnection, seenBy witness: DBusConnection) async throws -> [String] {
        let answer = try await witness.call(
            .call(
                "GetAllMatchRules", of: "org.freedesktop.DBus.Debug.Stats", at: DBusConnection.busPath,
                destination: DBusConnection.busName))
        let name = await connection.uniqueName
        guard case .dictionary(let all, key: .string, value: _) = answer.body.first,
            case .array(let rules, of: .string) = all[.string(name)]
        else { return [] }
        return rules.compactMap { if case .string(let rule) = $0 { rule } else { nil } }.sorted()
    }

    @Test func deliversAllInOrderUnderLoad() async throws {
        let listener = try await connectToPrivateBus()
        let speaker = try await TestPeer()
        let events = try await listener.subscribe(to: DBusMatchRule(sender: speaker.name))
        let count: UInt32 = 2000
        async let speaking: Void = {
            for number in 1...count { try await speaker.connection.send(signal(number)) }
        }()
        async let echo: Void = speaker.echo()
        // The connection has other things to do meanwhile.
        for number in UInt32(1)...100 {
            #expect(try await listener.call(speaker.call("Echo", [.uint32(number)])).body == [.uint32(number)])
        }
        #expect(await numbers(events, upTo: count) == Array(1...count))
        try await speaking
        await speaker.connection.close()
        try await echo
    }

    @Test func hearsWhatACallBringsAbout() async throws {
        let listener = try await connectToPrivateBus()
        let speaker = try await TestPeer()
        let events = try await listener.subscribe(to: DBusMatchRule(sender: speaker.name, interface: Self.interface))
        async let answer = listener.call(speaker.call("Speak"))
        var calls = speaker.calls.makeAsyncIterator()
        let call = try #require(await calls.next())
        try await speaker.connection.send(signal(1))
        try await speaker.connection.answer(call)
        _ = try await answer
        #expect(await numbers(events, upTo: 1) == [1])
    }

    @Test func givesEachSubscriberItsOwn() async throws {
        let listener = try await connectToPrivateBus()
        let speaker = try await connectToPrivateBus()
        let device = path("/org/bluez/hci1")
        let name = await speaker.uniqueName
        let all = try await listener.subscribe(to: DBusMatchRule(sender: name, interface: Self.interface))
        let one = try await listener.subscribe(to: DBusMatchRule(sender: name, path: device))
        let below = try await listener.subscribe(
            to: DBusMatchRule(sender: name, pathNamespace: device, member: "Counted"))
        let argument = try await listener.subscribe(to: DBusMatchRule(member: "Named", firstArgument: "it's"))
        try await speaker.send(signal(1, at: device))
        try await speaker.send(signal(2, at: path("/org/bluez/hci1/dev")))
        try await speaker.send(signal(3, at: path("/org/bluez/hci10")))
        for name in ["its", "it's"] {
            try await speaker.send(.signal("Named", of: Self.interface, at: device, body: [.string(name), .uint32(5)]))
        }
        try await speaker.send(signal(4, at: device))
        #expect(await numbers(all, upTo: 4) == [1, 2, 3, 4])
        #expect(await numbers(one, upTo: 4) == [1, 4])
        #expect(await numbers(below, upTo: 4) == [1, 2, 4])
        var names = argument.makeAsyncIterator()
        guard case .signal(let named) = await names.next() else {
            Issue.record("no signal")
            return
        }
        #expect(named.body == [.string("it's"), .uint32(5)])
    }

    @Test func asksTheBusForWhatIsWantedAndNoLonger() async throws {
        let listener = try await connectToPrivateBus()
        let speaker = try await connectToPrivateBus()
        let name = await speaker.uniqueName
        let rule = DBusMatchRule(sender: name, interface: Self.interface)
        let kept = "type='signal',interface='test.Interface',sender='\(name)'"
        var first: AsyncStream<DBusEvent>? = try await listener.subscribe(to: rule)
        let second = try await listener.subscribe(to: rule)
        #expect(try await rules(of: listener, seenBy: speaker) == [kept, kept])
        // Dropping a stream ends its subscription, and leaves the other's rule.
        _ = first
        first = nil
        while try await rules(of: listener, seenBy: speaker) != [kept] {}
        try await speaker.send(signal(1))
        #expect(await numbers(second, upTo: 1) == [1])
        // So does cancelling its reader.
        let reader = Task { for await _ in second {} }
        reader.cancel()
        await reader.value
        while try await rules(of: listener, seenBy: speaker) != [] {}
    }

    @Test func followsANameFromOwnerToOwner() async throws {
        let listener = try await connectToPrivateBus()
        let (first, second) = (try await connectToPrivateBus(), try await connectToPrivateBus())
        let name = "org.example.Followed"
        let events = try await listener.subscribe(to: DBusMatchRule(sender: name, interface: Self.interface))
        try await first.send(signal(1))
        #expect(try await first.requestName(name))
        try await first.send(signal(2))
        // Somebody else speaks alike, and to the listener alone, which the bus passes on without a rule.
        try await second.send(signal(3, to: listener.uniqueName))
        #expect(try await second.requestName(name) == false)
        try await first.releaseName(name)
        #expect(try await second.requestName(name))
        try await first.send(signal(4, to: listener.uniqueName))
        // The bus has handed on what `first` said before this is answered.
        _ = try await first.requestName("org.example.Other")
        try await second.send(signal(5))
        #expect(await numbers(events, upTo: 5) == [2, 5])
    }

    @Test func knowsTheOwnerThatWasThereBefore() async throws {
        let speaker = try await connectToPrivateBus()
        let name = "org.example.Present"
        #expect(try await speaker.requestName(name))
        let listener = try await connectToPrivateBus()
        let events = try await listener.subscribe(to: DBusMatchRule(sender: name, interface: Self.interface))
        try await speaker.send(signal(1))
        #expect(await numbers(events, upTo: 1) == [1])
    }

    @Test func tellsWhatTheBusRefuses() async throws {
        let listener = try await connectToPrivateBus()
        let rule = DBusMatchRule(interface: "no interface")
        await #expect {
            try await listener.subscribe(to: rule)
        } throws: { ($0 as? DBusError)?.name == "org.freedesktop.DBus.Error.MatchRuleInvalid" }
        #expect(try await rules(of: listener, seenBy: listener) == [])
    }
}
