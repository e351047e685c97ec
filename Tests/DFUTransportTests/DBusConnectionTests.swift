import DFUTransport
import Glibc
import TestSupport
import Testing

@Suite(.privateBus, .timeLimit(.minutes(1))) struct DBusConnectionTests {
    // MARK: Values

    @Test func carriesEachValueThereAndBack() async throws {
        let caller = try await connectToPrivateBus()
        let peer = try await TestPeer()
        var calls = peer.calls.makeAsyncIterator()
        for sample in DBusSample.all {
            async let answer = caller.call(peer.call("Echo", [sample.value, .byte(1)]))
            let call = try #require(await calls.next())
            #expect(call.body == [sample.value, .byte(1)])
            try await peer.connection.answer(call, with: call.body)
            #expect(try await answer.body == [sample.value, .byte(1)])
        }
    }

    @Test(arguments: [
        DBusValue.double(.infinity), .double(-0.0), .double(.leastNonzeroMagnitude), .string(""),
        .signature(signature("")),
        .int64(.max), .int32(.max), .int16(.max), .byte(0),
        .string(String(repeating: "é", count: 100_000)), .bytes(Firmware.bytes(300_000)),
        .dictionary(
            Dictionary(uniqueKeysWithValues: (0..<300).map { (.uint32($0), .string("\($0)")) }), key: .uint32,
            value: .string),
        .properties(["Address": .string("00:11:22:33:44:55"), "RSSI": .int16(-40), "UUIDs": .array([], of: .string)]),
        .array(
            (0..<300).map { .structure([.byte(UInt8($0 & 0xFF)), .uint64(UInt64($0))]) },
            of: .structure([.byte, .uint64])),
        nested(64),
    ])
    func carriesExtremes(value: DBusValue) async throws {
        let caller = try await connectToPrivateBus()
        let peer = try await TestPeer()
        async let echo: Void = peer.echo()
        #expect(try await caller.call(peer.call("Echo", [value])).body == [value])
        await peer.connection.close()
        try await echo
    }

    @Test func tellsNegativeZeroFromZero() async throws {
        let caller = try await connectToPrivateBus()
        let peer = try await TestPeer()
        async let echo: Void = peer.echo()
        let answer = try await caller.call(peer.call("Echo", [.double(-0.0), .double(.nan)]))
        await peer.connection.close()
        try await echo
        let numbers = answer.body.compactMap { value -> Double? in
            guard case .double(let number) = value else { return nil }
            return number
        }
        #expect(numbers.map(\.sign) == [.minus, .plus])
        #expect(numbers[1].isNaN)
    }

    @Test(arguments: [
        (DBusMessage.call("Ping", of: nil, at: .root, destination: "no name"), "“no name” is no bus name"),
        (.call("Ping", of: "one", at: .root, destination: "a.b"), "“one” is no interface name"),
        (.call("Pi.ng", of: nil, at: .root, destination: "a.b"), "“Pi.ng” is no member name"),
        (.call("Ping", of: nil, at: .root, destination: "a.b\0"), "“a.b\0” is no bus name"),
        (sending(.string("a\0b")), "a string holds a NUL, which a bus cannot carry"),
        (sending(.structure([])), "“()” is no signature"),
        (sending(.variant(.structure([]))), "“()” is no signature"),
        (sending(.array([.byte(1), .int16(1)], of: .byte)), "a value of type “n” stands where “y” was declared"),
        (
            sending(.dictionary([.string("a"): .byte(1)], key: .string, value: .string)),
            "a value of type “y” stands where “s” was declared"
        ),
        (sending(nested(65)), "a value is nested deeper than 64"),
        (sending(.array([], of: .dictionary(key: .variant, value: .byte))), "“aa{vy}” is no signature"),
    ])
    func refusesWhatCannotBeSent(message: DBusMessage, problem: String) async throws {
        let connection = try await connectToPrivateBus()
        let refused = DBusError(.invalidMessage, message: problem + ": this message cannot be sent")
        await #expect(throws: refused) { try await connection.call(message) }
        // The connection is as good as before.
        _ = try await connection.call(busCall("GetId"))
    }

    @Test func refusesMoreBytesThanAnArrayHolds() async throws {
        let connection = try await connectToPrivateBus()
        let message = sending(.bytes([UInt8](repeating: 0, count: 1 << 26 + 1)))
        let refused = DBusError(
            .invalidMessage, message: "67108865 bytes are too many for an array: this message cannot be sent")
        await #expect(throws: refused) { try await connection.call(message) }
    }

    // MARK: Calls

    @Test func tellsErrorsByNameAndMessage() async throws {
        let caller = try await connectToPrivateBus()
        let peer = try await TestPeer()
        var calls = peer.calls.makeAsyncIterator()
        let answer = Task { try await caller.call(peer.call("Fail")) }
        let error = DBusError(name: "org.bluez.Error.Failed", message: "Operation failed with ATT error: 0xfd")
        try await peer.connection.answer(try #require(await calls.next()), with: error)
        await #expect(throws: error) { try await answer.value }
        #expect(error.code == .answered)
    }

    @Test func tellsTheBusErrors() async throws {
        let caller = try await connectToPrivateBus()
        await #expect(
            throws: DBusError(
                name: "org.freedesktop.DBus.Error.ServiceUnknown",
                message: "The name org.example.Nobody was not provided by any .service files")
        ) { _ = try await caller.call(.call("A", of: nil, at: .root, destination: "org.example.Nobody")) }
    }

    @Test func endsACallThatIsNotAnswered() async throws {
        let caller = try await connectToPrivateBus()
        let peer = try await TestPeer()
        let late = DBusError(.timeout, message: "\(peer.name) did not answer Wait within 0.001 seconds")
        await #expect(throws: late) { try await caller.call(peer.call("Wait"), timeout: .milliseconds(1)) }
        // Its answer comes late, and is not taken for the next call's.
        var calls = peer.calls.makeAsyncIterator()
        let first = try #require(await calls.next())
        async let answer = caller.call(peer.call("Next"), timeout: nil)
        let next = try #require(await calls.next())
        try await peer.connection.answer(first, with: [.string("late")])
        try await peer.connection.answer(next, with: [.string("next")])
        #expect(try await answer.body == [.string("next")])
    }

    @Test func endsACallWhoseTaskIsCancelled() async throws {
        let caller = try await connectToPrivateBus()
        let peer = try await TestPeer()
        var calls = peer.calls.makeAsyncIterator()
        let task = Task { try await caller.call(peer.call("Wait"), timeout: nil) }
        _ = try #require(await calls.next())
        task.cancel()
        await #expect(throws: DBusError(.cancelled, message: "the task that waited for an answer was cancelled")) {
            try await task.value
        }
    }

    @Test func sendsNothingForATaskThatIsCancelled() async throws {
        let caller = try await connectToPrivateBus()
        let peer = try await TestPeer()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            _ = try await caller.call(peer.call("Never"), timeout: nil)
        }
        task.cancel()
        await #expect(throws: DBusError(.cancelled, message: "the task that waited for an answer was cancelled")) {
            try await task.value
        }
        async let answer = caller.call(peer.call("Next"))
        var calls = peer.calls.makeAsyncIterator()
        let call = try #require(await calls.next())
        #expect(call.member == "Next")
        try await peer.connection.answer(call)
        _ = try await answer
    }

    @Test func matchesAThousandAnswersToTheirCalls() async throws {
        let caller = try await connectToPrivateBus()
        let peer = try await TestPeer()
        let numbers = try await withThrowingTaskGroup(of: (UInt32, [DBusValue]).self) { group in
            for number in UInt32(0)..<1000 {
                group.addTask {
                    (number, try await caller.call(peer.call("Echo", [.uint32(number)]), timeout: nil).body)
                }
            }
            // Answered last to first, when all are there.
            var calls: [DBusMessage] = []
            for await call in peer.calls {
                calls.append(call)
                if calls.count == 1000 { break }
            }
            for call in calls.reversed() { try await peer.connection.answer(call, with: call.body) }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(numbers.count == 1000)
        #expect(numbers.allSatisfy { $0.1 == [.uint32($0.0)] })
    }

    // MARK: The connection's life

    @Test func hasANameOnTheBus() async throws {
        let connection = try await connectToPrivateBus()
        let name = await connection.uniqueName
        let answer = try await connection.call(busCall("NameHasOwner", [.string(name)]))
        #expect(answer.body == [.boolean(true)])
        #expect(answer.sender == DBusConnection.busName)
    }

    @Test func endsEverythingWhenTheBusDies() async throws {
        let bus = try await PrivateBus.start()
        let caller = try await DBusConnection.open(bus.address)
        let silent = try await DBusConnection.open(bus.address)
        let name = await silent.uniqueName
        let calls = await silent.calls(of: .root)
        let signals = try await caller.subscribe(to: DBusMatchRule(interface: "test.Interface"))
        let waiting = (0..<10).map { _ in
            Task { try await caller.call(.call("Wait", of: nil, at: .root, destination: name), timeout: nil) }
        }
        var arrived = 0
        for await _ in calls {
            arrived += 1
            if arrived == waiting.count { break }
        }
        await bus.stop()
        let ended = DBusError(.disconnected, message: "the bus ended the connection")
        for task in waiting { await #expect(throws: ended) { try await task.value } }
        var events: [DBusEvent] = []
        for await event in signals { events.append(event) }
        #expect(events == [.disconnected])
        #expect(await caller.isConnected == false)
        let over = DBusError(.disconnected, message: "there is no connection to the bus any more")
        await #expect(throws: over) { try await caller.send(busCall("GetId")) }
        await #expect(throws: over) { try await caller.call(busCall("GetId")) }
        await #expect(throws: over) { try await caller.subscribe(to: DBusMatchRule()) }
        for await _ in await caller.calls(of: .root) { Issue.record("a call without a bus") }
    }

    @Test func endsEverythingWhenItIsClosed() async throws {
        let caller = try await connectToPrivateBus()
        let peer = try await TestPeer()
        let signals = try await caller.subscribe(to: DBusMatchRule(interface: "test.Interface"))
        let served = await caller.calls(of: .root)
        let answer = Task { try await caller.call(peer.call("Wait"), timeout: nil) }
        var calls = peer.calls.makeAsyncIterator()
        _ = await calls.next()
        await caller.close()
        await caller.close()
        let closed = DBusError(.disconnected, message: "the connection to the bus was closed")
        await #expect(throws: closed) { try await answer.value }
        var events: [DBusEvent] = []
        for await event in signals { events.append(event) }
        #expect(events == [.disconnected])
        for await _ in served { Issue.record("a call without a bus") }
    }

    @Test func leavesTheBusWhenNobodyHoldsIt() async throws {
        let witness = try await connectToPrivateBus()
        let changes = try await witness.subscribe(
            to: DBusMatchRule(sender: DBusConnection.busName, member: "NameOwnerChanged"))
        var connection: DBusConnection? = try await connectToPrivateBus()
        let name = try #require(await connection?.uniqueName)
        let signals = try #require(try await connection?.subscribe(to: DBusMatchRule(interface: "test.Interface")))
        connection = nil
        for await event in signals { #expect(event == .disconnected) }
        for await case .signal(let signal) in changes
        where signal.body == [.string(name), .string(name), .string("")] { break }
    }

    @Test func leavesNoThreadAndNoDescriptor() async {
        await #expect(processExitsWith: .success) {
            let bus = try await PrivateBus.start()
            let before = (openDescriptors(), threads(named: "dfu-dbus"))
            for round in 0..<50 {
                let one = try await DBusConnection.open(bus.address)
                let other = try await DBusConnection.open(bus.address)
                let name = await other.uniqueName
                let calls = await other.calls(of: .root)
                let pair = DescriptorPair()
                async let answer = one.call(
                    .call("Take", of: nil, at: .root, destination: name, body: [.fileDescriptor(pair.near)]))
                for await call in calls {
                    try await other.answer(call, with: call.body)
                    break
                }
                _ = try await answer
                // The second way to end is that nobody holds it.
                if round.isMultiple(of: 2) {
                    await one.close()
                    await other.close()
                }
            }
            while threads(named: "dfu-dbus") != 0 { await Task.yield() }
            #expect((openDescriptors(), threads(named: "dfu-dbus")) == before)
        }
    }

    @Test func saysWhereThereIsNoBus() async {
        let missing = DBusError(
            .connectFailed,
            message: "no connection to the bus at “unix:path=/nowhere/bus”: Failed to connect to socket /nowhere/bus: "
                + "No such file or directory")
        await #expect(throws: missing) { try await DBusConnection.open("unix:path=/nowhere/bus") }
    }

    @Test func saysWhenTheBusIsSilent() async throws {
        let path = "/tmp/dfu-silent-\(getpid())"
        let listening = FileDescriptor(listeningAt: path)
        defer { unlink(path) }
        let silent = DBusError(.timeout, message: "org.freedesktop.DBus did not answer Hello within 0.001 seconds")
        await #expect(throws: silent) {
            try await DBusConnection.open("unix:path=" + path, timeout: .milliseconds(1))
        }
        let task = Task { try await DBusConnection.open("unix:path=" + path, timeout: .seconds(3600)) }
        // It has connected, and waits.
        listening.accept()
        task.cancel()
        let cancelled = DBusError(.cancelled, message: "the task that waited for an answer was cancelled")
        await #expect(throws: cancelled) { try await task.value }
    }

    @Test(arguments: ["", "bus", "unix:path=/a\0b", "unix:colour=blue"])
    func refusesAddresses(address: String) async {
        await #expect { _ = try await DBusConnection.open(address) } throws: {
            ($0 as? DBusError)?.code == .connectFailed
        }
    }

    @Test func saysWhenTheBusDoesNotLetUsIn() async throws {
        let bus = try await PrivateBus.start(users: #"<deny user="*"/>"#)
        let refused = DBusError(.connectFailed, message: "the bus at “\(bus.address)” does not let us in")
        await #expect(throws: refused) { try await DBusConnection.open(bus.address) }
        await bus.stop()
    }
}

private func busCall(_ member: String, _ body: [DBusValue] = []) -> DBusMessage {
    .call(
        member, of: DBusConnection.busName, at: DBusConnection.busPath, destination: DBusConnection.busName, body: body)
}

private func sending(_ value: DBusValue) -> DBusMessage {
    .call("Take", of: nil, at: .root, destination: "a.b", body: [value])
}

/// A byte in this many variants.
private func nested(_ depth: Int) -> DBusValue {
    (0..<depth).reduce(DBusValue.byte(1)) { value, _ in .variant(value) }
}

private func openDescriptors() -> Int { names(in: "/proc/self/fd").count }

private func threads(named name: String) -> Int {
    names(in: "/proc/self/task").count { id in
        guard let file = fopen("/proc/self/task/\(id)/comm", "r") else { return false }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 32)
        return fgets(&line, 32, file) != nil
            && String(decoding: line.prefix { $0 > 10 }.map(UInt8.init), as: UTF8.self) == name
    }
}

private func names(in folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
        names.append(
            withUnsafePointer(to: &entry.pointee.d_name) {
                String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            })
    }
    return names
}
