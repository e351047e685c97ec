import DFUProtocol
import Testing

@testable import DFUSimulator

@Suite struct FaultScriptTests {
    private static let entries: [(String, Fault)] = [
        (#"{"fault": "drop", "frame": 12}"#, .drop(FaultPlace(.frame, 12))),
        (#"{"fault": "drop", "reply": 3, "op": "start"}"#, .drop(FaultPlace(.reply, 3, of: .start))),
        (
            #"{"fault": "drop", "frame": 5, "op": "data", "count": 4}"#,
            .drop(FaultPlace(.frame, 5, of: .data, count: 4))
        ),
        (#"{"fault": "drop", "frame": 5, "count": "forever"}"#, .drop(FaultPlace(.frame, 5, count: .max))),
        (#"{"fault": "damage", "frame": 1}"#, .damage(FaultPlace(.frame, 1), byte: nil)),
        (#"{"fault": "damage", "reply": 1, "byte": 0}"#, .damage(FaultPlace(.reply, 1), byte: 0)),
        (#"{"fault": "double", "reply": 2}"#, .double(FaultPlace(.reply, 2), after: .zero)),
        (
            #"{"fault": "double", "reply": 2, "milliseconds": 20}"#,
            .double(FaultPlace(.reply, 2), after: .milliseconds(20))
        ),
        (
            #"{"fault": "delay", "reply": 21, "op": "blockEnd", "milliseconds": 8000}"#,
            .delay(FaultPlace(.reply, 21, of: .blockEnd), by: .seconds(8))
        ),
        (#"{"fault": "swap", "frame": 7}"#, .swap(FaultPlace(.frame, 7))),
        (#"{"fault": "disconnect", "frame": 7}"#, .disconnect(FaultPlace(.frame, 7), after: .zero)),
        (
            #"{"fault": "disconnect", "reply": 1, "op": "complete", "milliseconds": 200}"#,
            .disconnect(FaultPlace(.reply, 1, of: .complete), after: .milliseconds(200))
        ),
        (#"{"fault": "disconnect", "byte": 5000}"#, .disconnectAtByte(5000)),
        (#"{"fault": "disconnect", "packetsPerEvent": 8}"#, .disconnectOverPackets(8)),
        (#"{"fault": "silence", "frame": 40}"#, .silence(FaultPlace(.frame, 40), lasting: nil)),
        (
            #"{"fault": "silence", "frame": 40, "milliseconds": 1}"#,
            .silence(FaultPlace(.frame, 40), lasting: .milliseconds(1))
        ),
        (
            #"{"fault": "reboot", "frame": 40}"#,
            .reboot(FaultPlace(.frame, 40), keepsBlocks: nil, offAir: .seconds(2))
        ),
        (
            #"{"fault": "reboot", "frame": 40, "keepsBlocks": false, "milliseconds": 500}"#,
            .reboot(FaultPlace(.frame, 40), keepsBlocks: false, offAir: .milliseconds(500))
        ),
        (
            #"{"fault": "status", "frame": 1, "op": "start", "status": "0x0B", "count": 3}"#,
            .status(FaultPlace(.frame, 1, of: .start, count: 3), .busy)
        ),
        (
            #"{"fault": "status", "frame": 1, "op": "battery", "status": 127}"#,
            .status(FaultPlace(.frame, 1, of: .battery), BlockAck.Status(rawValue: 127))
        ),
        (#"{"fault": "truncate", "length": 120}"#, .truncate(length: 120)),
        (#"{"fault": "battery", "tenths": 2}"#, .battery(tenths: 2)),
        (#"{"fault": "battery", "tenths": null}"#, .battery(tenths: nil)),
        (#"{"fault": "oldVersion"}"#, .oldVersion),
    ]

    @Test("each kind of entry", arguments: entries)
    func entry(json: String, fault: Fault) throws {
        #expect(try FaultScript(json: Array("[\(json)]".utf8)).faults == [fault])
    }

    @Test func aScriptKeepsItsOrder() throws {
        let json = "[" + Self.entries.map(\.0).joined(separator: ",") + "]"
        #expect(try FaultScript(json: Array(json.utf8)) == FaultScript(Self.entries.map(\.1)))
        #expect(try FaultScript(json: Array("[]".utf8)) == FaultScript())
    }

    @Test(
        "an error names the entry and what is wrong with it",
        arguments: [
            (#"{}"#, "a fault script is a list, and this is an object"),
            (#"[1]"#, "entry 1: a fault is an object, and this is a number"),
            (#"[{"fault": "oldVersion"}, {}]"#, #"entry 2: "fault" is missing"#),
            (#"[{"fault": 3}]"#, #"entry 1: "fault" is a number, not a text"#),
            (
                #"[{"fault": "explode"}]"#,
                #"entry 1: no fault is called "explode"; there are drop, damage, double, delay, swap, disconnect, "#
                    + "silence, reboot, status, truncate, battery, oldVersion"
            ),
            (#"[{"fault": "drop"}]"#, #"entry 1: it wants one of "frame" and "reply""#),
            (#"[{"fault": "drop", "frame": 1, "reply": 1}]"#, #"entry 1: it wants one of "frame" and "reply""#),
            (#"[{"fault": "drop", "frame": 0}]"#, #"entry 1: "frame" wants a whole number from 1 up"#),
            (#"[{"fault": "drop", "frame": 1.5}]"#, #"entry 1: "frame" wants a whole number from 1 up"#),
            (
                #"[{"fault": "drop", "frame": 1, "count": "often"}]"#,
                #"entry 1: "count" wants a whole number from 1 up"#
            ),
            (
                #"[{"fault": "drop", "frame": 1, "op": "erase"}]"#,
                #"entry 1: "op" is "erase"; it can be battery, setTime, start, blockHeader, data, blockEnd, complete, abort"#
            ),
            (
                #"[{"fault": "drop", "reply": 1, "op": "data"}]"#,
                #"entry 1: "op" is "data"; it can be battery, setTime, start, blockEnd, complete, abort"#
            ),
            (#"[{"fault": "drop", "frame": 1, "byte": 2}]"#, #"entry 1: "byte" is no member of "drop""#),
            (#"[{"fault": "delay", "frame": 1}]"#, #"entry 1: "milliseconds" is missing"#),
            (
                #"[{"fault": "delay", "frame": 1, "milliseconds": -1}]"#,
                #"entry 1: "milliseconds" wants a whole number from 0 to 86400000"#
            ),
            (
                #"[{"fault": "reboot", "frame": 1, "keepsBlocks": 1}]"#,
                #"entry 1: "keepsBlocks" is a number, not true or false"#
            ),
            (
                #"[{"fault": "status", "frame": 1, "op": "data", "status": 1}]"#,
                #"entry 1: a status wants "frame" and an "op" that is answered"#
            ),
            (
                #"[{"fault": "status", "reply": 1, "op": "start", "status": 1}]"#,
                #"entry 1: a status wants "frame" and an "op" that is answered"#
            ),
            (#"[{"fault": "status", "frame": 1, "op": "start"}]"#, #"entry 1: "status" is missing"#),
            (
                #"[{"fault": "status", "frame": 1, "op": "start", "status": "0x+B"}]"#,
                #"entry 1: "status" wants a byte, as "0x0B" or 11"#
            ),
            (#"[{"fault": "truncate"}]"#, #"entry 1: "length" is missing"#),
            (#"[{"fault": "battery", "tenths": 256}]"#, #"entry 1: "tenths" wants a byte, as "0x0B" or 11"#),
        ])
    func errors(json: String, message: String) {
        #expect(throws: FaultScriptError(message: message)) {
            try FaultScript(json: Array(json.utf8))
        }
    }

    @Test func whatIsNoJSONIsSaidToBeNone() {
        #expect { try FaultScript(json: Array("[{".utf8)) } throws: { error in
            (error as? FaultScriptError)?.message == "it is not valid JSON"
        }
    }
}
