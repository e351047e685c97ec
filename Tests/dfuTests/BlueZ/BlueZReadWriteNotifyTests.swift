import DFUSimulator
import DFUTransport
import Glibc
import TestSupport
import Testing

/// `dfu read`, `write` and `notify` over a bus.
@Suite(.serialized, .timeLimit(.minutes(5))) struct BlueZReadWriteNotifyTests {
    private static let address = "C0:FF:EE:00:00:10"
    private static let devices = [AdvertisedDevice(GATTDevice.bench, name: "Bench")]

    // MARK: Read

    @Test(
        "A value is read, in hexadecimal or as text",
        arguments: [
            ([address, "2A26"], "31 2E 32 2E 33\n"), ([address, "2a26", "--text"], "1.2.3\n"),
            ([address.lowercased(), "180F/2A19"], "4D\n"),
            ([address, "00002A2600001000800000805F9B34FB"], "31 2E 32 2E 33\n"),
        ])
    func read(_ arguments: [String], _ output: String) async throws {
        try await AirBench.run(Self.devices) { bench in
            let program = bench.program(["read"] + arguments)
            #expect(await program.outcome() == .init(output: output, errors: "", status: 0))
        }
    }

    @Test(
        "A device is found by its name or the end of its address, and its address is told",
        arguments: ["Bench", "00:10"])
    func readsByName(_ id: String) async throws {
        try await AirBench.run(Self.devices) { bench in
            #expect(
                await bench.dfu("read", id, "ABC0/2A19", "--scan-timeout", "1")
                    == .init(output: "4D\n", errors: "dfu: \(id): it is \(Self.address)\n", status: 0))
        }
    }

    @Test("With --json there are a value and a result")
    func readForPrograms() async throws {
        try await AirBench.run(Self.devices) { bench in
            let events = try await bench.dfu("read", Self.address, "2A26", "--json").events()
            try #require(events.map(\.name) == ["start", "phase", "value", "result"])
            #expect(events[2].text("value") == "312e322e33")
            #expect(events[2].text("text") == "1.2.3")
            #expect(events[2].text("service") == "0000180a-0000-1000-8000-00805f9b34fb")
            #expect(events[3].text("device") == Self.address)
            #expect(events[3]["ok"] == .boolean(true))
        }
    }

    @Test(
        "What cannot be done is one line with the reason",
        arguments: [
            (
                ["2A19"], 64,
                "discover: 2 services have a characteristic 2A19; name one of 180F/2A19, ABC0/2A19"
            ),
            (
                ["2A27"], 76,
                "discover: it has no characteristic 2A27; it has 180A/2A24, 180A/2A26, 180A/2A29, 180F/2A19, ABC0/ABC1, "
                    + "ABC0/ABC2, ABC0/2A19"
            ),
            (
                ["ABC2"], 76, "discover: its characteristic ABC0/ABC2 cannot be read; what it can do: notify"
            ),
        ] as [([String], Int32, String)])
    func cannotRead(_ arguments: [String], _ status: Int32, _ message: String) async throws {
        try await AirBench.run(Self.devices) { bench in
            let program = bench.program(["read", Self.address] + arguments)
            #expect(await program.outcome() == .failed(status, "dfu: \(Self.address): \(message)"))
        }
    }

    @Test("An ATT error is named")
    func attributeError() async throws {
        try await AirBench.run(Self.devices) { bench in
            await bench.blueZ.fail(
                "ReadValue", with: DBusError(name: "org.bluez.Error.NotAuthorized", message: "Operation Not Authorized")
            )
            #expect(
                await bench.dfu("read", Self.address, "2A26")
                    == .failed(
                        76,
                        "dfu: \(Self.address): reading 180A/2A26: it answered with the ATT error 0x08 (insufficient "
                            + "authorization)"))
        }
    }

    @Test("BLZ-16 another program's connection is used, and stays")
    func connectedAlready() async throws {
        var device = Self.devices[0]
        device.isConnected = true
        try await AirBench.run([device]) { bench in
            let line =
                "it is connected already, by another program or an earlier run: that connection is used, and stays"
            let (outcome, calls) = try await bench.stage.noteCalls {
                await bench.dfu("read", Self.address, "180F/2A19")
            }
            #expect(outcome == .init(output: "4D\n", errors: "dfu: \(Self.address): \(line)\n", status: 0))
            #expect(!calls.compactMap(\.member).contains("Disconnect"))
        }
    }

    // MARK: Write

    @Test(
        "Bytes are written as they are given, with a checksum behind them where one is asked for",
        arguments: [
            (["1b 99"], [0x1B, 0x99]), (["1B:99"], [0x1B, 0x99]), (["1B99", "--checksum"], [0x1B, 0x99, 0x4C]),
            (["1B99", "--without-response"], [0x1B, 0x99]), (["1B99", "--with-response"], [0x1B, 0x99]),
        ] as [([String], [UInt8])])
    func write(_ arguments: [String], _ bytes: [UInt8]) async throws {
        try await AirBench.run(Self.devices) { bench in
            let program = bench.program(["write", Self.address, "ABC1"] + arguments)
            #expect(await program.outcome() == .init(output: "", errors: "", status: 0))
            #expect(bench.written == [bytes])
        }
    }

    @Test("The first answer is printed with --reply")
    func reply() async throws {
        try await AirBench.run(Self.devices) { bench in
            #expect(
                await bench.dfu("write", Self.address, "ABC1", "01 02", "--reply", "ABC2")
                    == .init(output: "02 01\n", errors: "", status: 0))
        }
    }

    @Test("More than one packet is refused")
    func tooLong() async throws {
        var settings = BlueZSettings.quick
        settings.radio.mtu = 23
        try await AirBench.run(Self.devices, settings: settings) { bench in
            #expect(
                await bench.dfu("write", Self.address, "ABC1", String(repeating: "00", count: 21))
                    == .failed(
                        76, "dfu: \(Self.address): 21 bytes are too many: a write on this link takes 20"))
            #expect(bench.written == [])
        }
    }

    // MARK: Notify

    @Test("Values are printed until there are enough")
    func notify() async throws {
        try await AirBench.run(Self.devices) { bench in
            let notify = bench.start("notify", Self.address, "ABC2", "--count", "2")
            try await bench.waitForSubscription()
            try await bench.write([1, 2])
            try await bench.write([3, 4])
            let outcome = await notify.outcome()
            #expect(outcome.output.split(separator: "\n").map { $0.dropFirst(25) } == ["02 01", "04 03"])
            #expect(outcome.status == 0)
        }
    }

    @Test("A signal is how it ends, and the device is disconnected")
    func interrupted() async throws {
        try await AirBench.run(Self.devices) { bench in
            let notify = bench.start("notify", Self.address, "ABC2", "--json")
            try await bench.waitForSubscription()
            notify.signal(SIGINT)
            let outcome = await notify.outcome()
            #expect(outcome.status == 130)
            #expect(outcome.errors == "")
            #expect(try outcome.events().results.map { $0.text("name") } == ["interrupted"])
            try await bench.wait { !$0.devices().contains(where: \.isConnected) }
        }
    }

    @Test("A lost connection is told, and 75")
    func lost() async throws {
        try await AirBench.run(Self.devices) { bench in
            let notify = bench.start("notify", Self.address, "ABC2")
            try await bench.waitForSubscription()
            bench.blueZ.loseLink(to: Self.address)
            #expect(
                await notify.outcome()
                    == .failed(75, "dfu: \(Self.address): the connection to the device is lost"))
        }
    }

    @Test("The limit is how it ends as well, unless more values are wanted")
    func limited() async throws {
        try await AirBench.run(Self.devices) { bench in
            let address = Self.address
            #expect(
                await bench.dfu("notify", address, "ABC2", "--timeout", "1") == .init(output: "", errors: "", status: 0)
            )
            #expect(await bench.dfu("notify", address, "ABC2", "--timeout", "1", "--count", "1").status == 75)
        }
    }

    @Test(
        "CLI-03 a signal while it connects ends the attempt",
        arguments: [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129)] as [(Int32, Int32)])
    func interruptedConnecting(_ signal: Int32, _ status: Int32) async throws {
        var device = AdvertisedDevice(Band())
        device.discovery = .hangs
        try await AirBench.run([device]) { bench in
            let (outcome, calls) = try await bench.stage.noteCalls {
                let read = bench.start("read", "C0:FF:EE:00:00:01", "2A26")
                try await bench.wait { $0.devices().contains(where: \.isConnected) }
                read.signal(signal)
                return await read.outcome()
            }
            #expect(outcome == .failed(status, "dfu: C0:FF:EE:00:00:01: connect: it was stopped"))
            #expect(calls.compactMap(\.member).contains("Disconnect"))
            try await bench.wait { !$0.devices().contains(where: \.isConnected) }
        }
    }
}

extension AirBench {
    /// Waits until a program has subscribed to something.
    fileprivate func waitForSubscription() async throws {
        try await wait { tree in
            tree.devices().flatMap { tree.services(of: $0.path) }.flatMap { tree.characteristics(of: $0.path) }
                .contains {
                    tree.properties(of: BlueZInterface.characteristic, at: $0.path)?["Notifying"] == .boolean(true)
                }
        }
    }

    /// Writes to the device of a bench as another program.
    fileprivate func write(_ bytes: [UInt8]) async throws {
        let tree = try await daemon().tree
        let path = tree.devices().flatMap { tree.services(of: $0.path) }.flatMap { tree.characteristics(of: $0.path) }
            .first { $0.properties.contains(.write) }?.path
        try await call(
            "WriteValue", [.bytes(bytes), .properties(["type": .string("request")])], at: path?.string ?? "/")
    }
}
