import DFUTransport
import TestSupport
import Testing

/// What is sent and received, judged by programs that share no code with ours.
@Suite(.privateBus, .timeLimit(.minutes(1))) struct DBusForeignToolTests {
    @Test func busctlSendsAndPrintsEachType() async throws {
        let address = try #require(PrivateBus.current).address
        let peer = try await TestPeer()
        var calls = peer.calls.makeAsyncIterator()
        for sample in DBusSample.all {
            let command =
                [
                    "busctl", "--address=" + address, "--", "call", peer.name, TestPeer.path.string, TestPeer.interface,
                    "Echo",
                ]
                + [sample.value.type.code] + sample.words
            async let outcome = Program.run(command)
            let call = try #require(await calls.next())
            #expect(call.body == [sample.value])
            try await peer.connection.answer(call, with: call.body)
            let expected = "\(sample.value.type.code) \(sample.printed)\n"
            #expect(try await outcome == Program.Outcome(output: expected, errors: "", status: 0))
        }
    }

    @Test func dbusSendPrintsEachType() async throws {
        let address = try #require(PrivateBus.current).address
        let peer = try await TestPeer()
        var calls = peer.calls.makeAsyncIterator()
        for sample in DBusSample.all {
            let command =
                ["dbus-send", "--bus=" + address, "--print-reply", "--dest=" + peer.name, TestPeer.path.string]
                + [TestPeer.interface + ".Echo"] + [sample.argument].compactMap(\.self)
            async let outcome = Program.run(command)
            let call = try #require(await calls.next())
            if sample.argument != nil { #expect(call.body == [sample.value]) }
            try await peer.connection.answer(call, with: [sample.value])
            // The first line tells of the message, the time, the names.
            let value = try await outcome.output.split(separator: "\n").dropFirst().joined(separator: " ")
            #expect(value.split(separator: " ").joined(separator: " ") == sample.shown)
        }
    }

    @Test func dbusSendShowsErrorsByNameAndMessage() async throws {
        let address = try #require(PrivateBus.current).address
        let peer = try await TestPeer()
        var calls = peer.calls.makeAsyncIterator()
        async let outcome = Program.run([
            "dbus-send", "--bus=" + address, "--print-reply", "--dest=" + peer.name, TestPeer.path.string,
            TestPeer.interface + ".Fail",
        ])
        let call = try #require(await calls.next())
        try await peer.connection.answer(call, with: DBusError(name: "test.Error.Refused", message: "not today"))
        #expect(
            try await outcome
                == Program.Outcome(output: "", errors: "Error test.Error.Refused: not today\n", status: 1))
    }
}
