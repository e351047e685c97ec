import DFUTransport
import TestSupport
import Testing

@testable import DFUSimulator

@Suite struct BlueZFaultReaderTests {
    private static let busy = DBusError(name: "org.bluez.Error.InProgress", message: "")
    private static let gone = DBusError(name: "org.bluez.Error.Failed", message: "Not connected")

    private static let entries: [(String, BlueZFault)] = [
        (
            #"{"fault": "fail", "method": "StartDiscovery", "error": "org.bluez.Error.InProgress"}"#,
            BlueZFault(.fail(method: "StartDiscovery", busy, times: 1))
        ),
        (
            #"{"fault": "fail", "method": "WriteValue", "error": "org.bluez.Error.Failed", "message": "Not connected", "count": "forever", "bytes": 3000}"#,
            BlueZFault(.fail(method: "WriteValue", gone, times: .max), atByte: 3000)
        ),
        (
            #"{"fault": "ignore", "method": "Disconnect", "count": 2}"#,
            BlueZFault(.fail(method: "Disconnect", nil, times: 2))
        ),
        (
            #"{"fault": "failConnects", "message": "le-connection-abort-by-local"}"#,
            BlueZFault(.failConnects("le-connection-abort-by-local", shown: nil, times: 1))
        ),
        (
            #"{"fault": "failConnects", "message": "x", "shown": 100, "count": 3}"#,
            BlueZFault(.failConnects("x", shown: .milliseconds(100), times: 3))
        ),
        (
            #"{"fault": "unplug", "adapter": "hci0", "bytes": 20, "device": "c0:ff:ee:00:00:01", "milliseconds": 5}"#,
            BlueZFault(.unplug(adapter: "hci0"), atByte: 20, of: "C0:FF:EE:00:00:01", after: .milliseconds(5))
        ),
        (
            #"{"fault": "plugIn", "adapter": "hci1", "milliseconds": 5}"#,
            BlueZFault(.plugIn(adapter: "hci1"), after: .milliseconds(5))
        ),
        (#"{"fault": "powerOff", "adapter": "hci0"}"#, BlueZFault(.power(false, adapter: "hci0"))),
        (#"{"fault": "powerOn", "adapter": "hci0"}"#, BlueZFault(.power(true, adapter: "hci0"))),
        (#"{"fault": "block", "adapter": "hci0"}"#, BlueZFault(.block(true, adapter: "hci0"))),
        (#"{"fault": "unblock", "adapter": "hci0"}"#, BlueZFault(.block(false, adapter: "hci0"))),
        (#"{"fault": "restart"}"#, BlueZFault(.restart(after: .milliseconds(500)))),
        (#"{"fault": "restart", "lasting": 0}"#, BlueZFault(.restart(after: .zero))),
        (#"{"fault": "closeBus", "bytes": 1}"#, BlueZFault(.closeBus, atByte: 1)),
    ]

    @Test("each kind of entry", arguments: entries)
    func entry(json: String, fault: BlueZFault) throws {
        #expect(try BlueZFaultScript(json: Array("[\(json)]".utf8)).faults == [fault])
    }

    @Test(
        "an error names the entry and what is wrong with it",
        arguments: [
            (#"{}"#, "a fault script is a list, and this is an object"),
            (
                #"[{"fault": "drop"}]"#,
                #"entry 1: no fault is called "drop"; there are fail, ignore, failConnects, unplug, plugIn, powerOff, "#
                    + "powerOn, block, unblock, restart, closeBus"
            ),
            (#"[{"fault": "restart"}, {"fault": "fail"}]"#, #"entry 2: "method" is missing"#),
            (
                #"[{"fault": "fail", "method": "Pair", "error": "InProgress"}]"#,
                #"entry 1: "error" wants a name, as "org.bluez.Error.Failed""#
            ),
            (#"[{"fault": "unplug", "adapter": "eth0"}]"#, #"entry 1: "adapter" wants a name, as "hci0""#),
            (
                #"[{"fault": "closeBus", "bytes": 1, "device": "C0"}]"#,
                #"entry 1: "device" wants an address, as "C0:FF:EE:00:00:01""#
            ),
            (
                #"[{"fault": "closeBus", "device": "C0:FF:EE:00:00:01"}]"#, #"entry 1: "device" goes with "bytes""#
            ),
            (#"[{"fault": "closeBus", "bytes": 0}]"#, #"entry 1: "bytes" wants a whole number from 1 up"#),
            (#"[{"fault": "restart", "adapter": "hci0"}]"#, #"entry 1: "adapter" is no member of "restart""#),
        ])
    func errors(json: String, message: String) {
        #expect(throws: FaultScriptError(message: message)) {
            try BlueZFaultScript(json: Array(json.utf8))
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct BlueZFaultScriptTests {
    private static func write(_ bytes: [UInt8], on bench: BlueZBench) async throws {
        try await bench.call(
            "WriteValue", [.bytes(bytes), .properties(["type": .string("command")])], at: BlueZBench.command)
    }

    private static func play(_ faults: BlueZFault..., on bench: BlueZBench) async {
        await bench.blueZ.play(BlueZFaultScript(faults)) {}
    }

    @Test("BLZ-22 an adapter is gone when a device has got so many bytes") func atAByte() async throws {
        try await BlueZBench.run { bench in
            await Self.play(
                BlueZFault(.unplug(adapter: "hci0"), atByte: 15),
                BlueZFault(.plugIn(adapter: "hci0"), atByte: 15, after: .milliseconds(20)), on: bench)
            try await bench.connect()
            try await Self.write([UInt8](repeating: 0, count: 10), on: bench)
            try await Self.write([UInt8](repeating: 0, count: 5), on: bench)
            #expect(await bench.story(until: "+ hci0") == ["- hci0", "+ hci0"])
            #expect(bench.written.count == 2)
        }
    }

    @Test func ofAnotherDevice() async throws {
        try await BlueZBench.run { bench in
            await Self.play(
                BlueZFault(.power(false, adapter: "hci0"), atByte: 1, of: "C0:FF:EE:00:00:02"),
                BlueZFault(.block(true, adapter: "hci0"), atByte: 2, of: "C0:FF:EE:00:00:01"), on: bench)
            try await bench.connect()
            try await Self.write([0], on: bench)
            try await bench.call("ReadValue", [.properties([:])], at: BlueZBench.version)
            #expect(await bench.story(until: "service0014") != ["hci0 Powered false"])
            try await Self.write([0], on: bench)
            #expect(await bench.story(until: "hci0 Powered").last == "hci0 Powered false")
        }
    }

    @Test func methodsFailFromTheStart() async throws {
        try await BlueZBench.run { bench in
            let error = DBusError(name: "org.bluez.Error.InProgress", message: "")
            await Self.play(
                BlueZFault(.fail(method: "StartDiscovery", error, times: 1)),
                BlueZFault(.failConnects("le-connection-abort-by-local", shown: nil, times: .max)), on: bench)
            #expect(try await bench.refusal("StartDiscovery") == "InProgress: ")
            try await bench.discover()
            for _ in 0..<2 {
                #expect(
                    try await bench.refusal("Connect", at: BlueZBench.device) == "Failed: le-connection-abort-by-local")
            }
        }
    }

    @Test("BLZ-22 the daemon restarts") func restarts() async throws {
        try await BlueZBench.run { bench in
            await Self.play(BlueZFault(.restart(after: .milliseconds(10)), after: .milliseconds(10)), on: bench)
            #expect(await bench.story(until: "+ hci0") == ["+ /org/bluez", "+ hci0"])
            try await bench.connect()
        }
    }

    @Test("BLZ-22 the bus ends") func closesTheBus() async throws {
        try await BlueZBench.run { bench in
            let (closed, continuation) = AsyncStream.makeStream(of: Void.self)
            await bench.blueZ.play(BlueZFaultScript([BlueZFault(.closeBus, atByte: 1)])) { continuation.finish() }
            try await bench.connect()
            try await Self.write([0], on: bench)
            for await _ in closed {}
        }
    }
}
