import DFUSimulator
import DFUTransport
import TestSupport
import Testing

/// `dfu inspect` over a bus.
@Suite(.serialized, .timeLimit(.minutes(5))) struct BlueZInspectTests {
    private static let address = "C0:FF:EE:00:00:10"

    @Test("Services, values and protocols are shown, and nothing is written")
    func text() async throws {
        try await AirBench.run([AdvertisedDevice(GATTDevice.bench)]) { bench in
            let text = """
                C0:FF:EE:00:00:10
                  Maker        Acme
                  Model        B-1
                  Firmware     1.2.3
                  Battery      77 %
                  Update by    no protocol that is known here

                180A  Device Information
                    2A24  Model Number       read
                    2A26  Firmware Revision  read
                    2A29  Manufacturer Name  read

                180F  Battery
                    2A19  Battery Level  read, notify

                ABC0
                    ABC1                 write without response, write
                    ABC2                 notify
                    2A19  Battery Level  read

                """
            #expect(await bench.dfu("inspect", Self.address) == .init(output: text, errors: "", status: 0))
            #expect(bench.written == [])
        }
    }

    @Test("With --json there is one document")
    func document() async throws {
        try await AirBench.run([AdvertisedDevice(Band(), name: "Band")]) { bench in
            let outcome = await bench.dfu("inspect", "C0:FF:EE:00:00:01", "--json")
            guard case .object(let document) = try JSONValue(parsing: Array(outcome.output.utf8)) else {
                Issue.record("no object")
                return
            }
            #expect(document["ok"] == .boolean(true))
            #expect(document["device"] == .string("C0:FF:EE:00:00:01"))
            #expect(document["simulated"] == .boolean(false))
            #expect(
                document["protocols"]
                    == .array([
                        .object([
                            "protocol": .string("block-ack"),
                            "has": .string("has its characteristics; nothing was asked"),
                        ])
                    ]))
            #expect(
                document["values"]
                    == .array([
                        .object([
                            "uuid": .string("00002a26-0000-1000-8000-00805f9b34fb"),
                            "name": .string("Firmware Revision"), "value": .string("1.0.0"),
                        ])
                    ]))
        }
    }

    @Test("A value that cannot be read is told, and the rest is shown")
    func unreadable() async throws {
        try await AirBench.run([AdvertisedDevice(Band())]) { bench in
            await bench.blueZ.fail(
                "ReadValue",
                with: DBusError(name: "org.bluez.Error.Failed", message: "Operation failed with ATT error: 0x0e"))
            let outcome = await bench.dfu("inspect", "C0:FF:EE:00:00:01")
            #expect(outcome.output.contains("  Firmware     not readable: ATT error 0x0E (unlikely error)\n"))
            #expect(outcome.output.contains("FF02  write without response"))
            #expect(outcome.status == 0)
        }
    }

    @Test("A device that is not there is 68, in the document as well")
    func notFound() async throws {
        try await AirBench.run([AdvertisedDevice(Band())]) { bench in
            let outcome = await bench.dfu("inspect", "C0:FF:EE:00:00:77", "--scan-timeout", "1", "--json")
            guard case .object(let document) = try JSONValue(parsing: Array(outcome.output.utf8)) else {
                Issue.record("no object")
                return
            }
            #expect(document["ok"] == .boolean(false))
            #expect(document["status"] == .number(68))
            #expect(document["reason"] == .string("notFound"))
            #expect(outcome.errors.hasPrefix("dfu: C0:FF:EE:00:00:77: scan: it was not heard within "))
            #expect(outcome.status == 68)
        }
    }
}
