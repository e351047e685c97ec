import DFUProtocol
import DFUSimulator
import DFUTransport
import TestSupport
import Testing

/// `dfu flash` over a bus with a simulated BlueZ on it.
@Suite(.timeLimit(.minutes(5))) struct FlashOnAirTests {
    private static let first = "C0:FF:EE:00:44:50"
    private static let second = "C0:FF:EE:01:44:50"
    private let bench: FlashBench

    init() throws {
        bench = try FlashBench()
    }

    private static func band(_ address: String = first, _ name: String? = "Band") -> AdvertisedDevice {
        .band(address, name: name)
    }

    private func flash(
        _ stage: BlueZStage, on devices: [String] = [first], _ options: [String] = []
    ) async -> BuiltProgram.Outcome {
        await bench.flash(over: stage.bus, on: devices, options)
    }

    private func image(of address: String, _ stage: BlueZStage) -> [UInt8]? {
        stage.band(address)?.memory.image
    }

    private static func updated(_ device: String, saying line: String = "") -> BuiltProgram.Outcome {
        BuiltProgram.Outcome(
            output: "\(device): updated: it runs 1.1.0 (before: 1.0.0)\n", errors: line, status: 0)
    }

    @Test func byTheFullAddressInAnyCase() async throws {
        try await BlueZStage.run(devices: [Self.band(), Self.band(Self.second)]) { stage in
            #expect(await flash(stage, on: [Self.first.lowercased()]) == Self.updated(Self.first))
            #expect(image(of: Self.first, stage) == bench.image)
            #expect(image(of: Self.second, stage) != bench.image)
        }
    }

    @Test(arguments: ["00:44:50", "Band"]) func byTheEndOfTheAddressOrTheName(id: String) async throws {
        try await BlueZStage.run(devices: [Self.band(), Self.band(Self.second, "Other")]) { stage in
            let outcome = await flash(stage, on: [id], ["--scan-timeout", "1"])
            #expect(outcome == Self.updated(Self.first, saying: "dfu: \(id): it is \(Self.first)\n"))
            #expect(image(of: Self.first, stage) == bench.image)
        }
    }

    @Test func isCapturedWithTheEndOfTheAddressAloneAndReplayed() async throws {
        let band = AdvertisedDevice.band(Self.first, faults: [.disconnect(FaultPlace(.frame, 200), after: .zero)])
        try await BlueZStage.run(devices: [band]) { stage in
            let outcome = await flash(stage, on: [Self.first], ["--capture", bench.path("{}.txt")])
            #expect(outcome == Self.updated(Self.first))
            let capture = String(decoding: try bench.bytes("4450.txt"), as: UTF8.self)
            #expect(capture.contains("# device: 44:50\n"))
            for part in ["C0:FF", "C0_FF", bench.folder.path] { #expect(!capture.contains(part)) }
            let replay = BuiltProgram(arguments: ["replay", bench.path("4450.txt"), bench.package]).run()
            #expect(replay.status == 0)
            #expect(replay.output.contains(", 3 links, ended as captured: ok - updated (it runs 1.1.0)\n"))
        }
    }

    @Test(arguments: ["44:50", "Band"]) func whatFitsSeveralIsListedAndNothingIsConnected(id: String) async throws {
        let connections = Locked(0)
        try await BlueZStage.run(
            devices: [Self.band(), Self.band(Self.second)],
            observer: { event, _ in
                if case .connected = event.kind { connections.withLock { $0 += 1 } }
            },
            { stage in
                let outcome = await flash(stage, on: [id], ["--scan-timeout", "1"])
                #expect(
                    outcome
                        == .failed(
                            64,
                            "dfu: \(id): 2 devices fit: \(Self.first) Band, \(Self.second) Band; "
                                + "name one by its full address"))
            })
        #expect(connections.withLock { $0 } == 0)
    }

    @Test func anAbsentDeviceIsNotFound() async throws {
        try await BlueZStage.run(devices: [Self.band(Self.second)]) { stage in
            let outcome = await flash(stage, ["--scan-timeout", "1"])
            #expect(
                outcome
                    == .failed(
                        68,
                        "dfu: \(Self.first): scan: it was not heard within 1.0 s (1 other device was); "
                            + "switch it on, bring it closer, and end other connections to it"))
        }
    }

    @Test func severalDevicesSideBySide() async throws {
        try await BlueZStage.run(devices: [Self.band(), Self.band(Self.second)]) { stage in
            let outcome = await flash(stage, on: [Self.first, Self.second], ["--jobs", "2"])
            #expect(outcome.status == 0)
            #expect(outcome.errors == "")
            #expect(outcome.output.hasSuffix("2 of 2 devices updated\n"))
            #expect(image(of: Self.first, stage) == bench.image)
            #expect(image(of: Self.second, stage) == bench.image)
        }
    }

    @Test func eightBandsOfWhichTwoAreFaultyFourAtOnce() async throws {
        let addresses = (1...8).map { "C0:FF:EE:00:00:0\($0)" }
        let faulty: Set = [addresses[2], addresses[5]]
        let tooLarge = Fault.status(FaultPlace(.frame, 1, of: .start, count: .max), .imageTooLarge)
        let devices = addresses.map { AdvertisedDevice.band($0, faults: faulty.contains($0) ? [tooLarge] : []) }
        try await BlueZStage.run(devices: devices) { stage in
            let outcome = await flash(stage, on: addresses, ["--jobs", "4", "--json"])
            #expect(outcome.status == 80)
            let results = try outcome.events().results
            let statuses = Dictionary(
                uniqueKeysWithValues: results.map { ($0.text("device") ?? "all", $0.number("status")) })
            var expected: [String: Double?] = ["all": 80]
            for address in addresses { expected[address] = faulty.contains(address) ? 76 : 0 }
            #expect(statuses == expected)
            for address in addresses where !faulty.contains(address) {
                #expect(image(of: address, stage) == bench.image)
            }
        }
    }

    @Test("CLI-09 the limit of the whole command holds in the scan too") func timeLimit() async throws {
        try await BlueZStage.run(devices: []) { stage in
            let start = ContinuousClock.now
            let outcome = await flash(stage, ["--timeout", "1"])
            #expect(start.duration(to: .now) < .seconds(9), "a scan takes 10 s")
            #expect(outcome.status == 68)
            #expect(outcome.errors.contains(/scan: it was not heard within [01]\.\d s/))
        }
    }

    @Test func oneAbsentDeviceDoesNotStopTheOther() async throws {
        try await BlueZStage.run(devices: [Self.band()]) { stage in
            let outcome = await flash(stage, on: [Self.second, Self.first], ["--scan-timeout", "1", "--json"])
            #expect(outcome.status == 80)
            let results = try outcome.events().results
            #expect(results.map { $0.text("device") } == [Self.second, Self.first, nil])
            #expect(results.map { $0.number("status") } == [68, 0, 80])
            #expect(image(of: Self.first, stage) == bench.image)
        }
    }

    @Test func twoNamesOfOneDeviceAreAnError() async throws {
        try await BlueZStage.run(devices: [Self.band()]) { stage in
            let outcome = await flash(stage, on: [Self.first, "Band"], ["--scan-timeout", "1"])
            #expect(outcome.status == 64)
            #expect(outcome.errors.hasSuffix("'\(Self.first)' and 'Band' are the same device, \(Self.first)\n"))
        }
    }

    @Test func withoutADeviceThoseInRangeAreListed() async throws {
        try await BlueZStage.run(devices: [Self.band(), Self.band(Self.second, nil)]) { stage in
            let outcome = await flash(stage, on: [], ["--scan-timeout", "1"])
            #expect(
                outcome
                    == .failed(
                        64,
                        "dfu: --device is missing: which device is to be updated? In range: \(Self.first) Band, "
                            + "\(Self.second) (no name)"))
        }
    }

    @Test func aDeviceThatAnotherDfuIsUsingIsLeftToIt() async throws {
        try await BlueZStage.run(devices: [Self.band()]) { stage in
            let peripheral = try await stage.transport().connect(to: Self.first, timeout: .seconds(30))
            let inUse = "another dfu on this machine is using this device; wait until it ends, or end it"
            #expect(await flash(stage) == .failed(69, "dfu: \(Self.first): connect: \(inUse)"))
            for verb in ["read 180A/2A26", "forget"] {
                var program = bench.program(over: stage.bus, on: [], [])
                let words = verb.split(separator: " ").map(String.init)
                program.arguments = [words[0], Self.first] + words.dropFirst()
                let outcome = await program.outcome()
                #expect(outcome.status == 69)
                #expect(outcome.errors.hasSuffix(inUse + "\n"))
            }
            #expect(
                try await peripheral.read(BluetoothUUID(short: 0x2A26), of: BluetoothUUID(short: 0x180A))
                    == Array("1.0.0".utf8))
            await peripheral.disconnect()
            #expect(await flash(stage) == Self.updated(Self.first))
        }
    }

    @Test func jsonNamesTheUnitAsAskedAndTheAddress() async throws {
        try await BlueZStage.run(devices: [Self.band()]) { stage in
            let events = try await flash(stage, on: ["Band"], ["--scan-timeout", "1", "--json"]).events()
            #expect(events.first?.name == "start")
            let phases = events.filter { $0.name == "phase" }
            #expect(phases.first?.text("phase") == "scan")
            #expect(phases.first?.text("device") == "Band")
            let result = try #require(events.last)
            #expect(result.text("device") == Self.first)
            #expect(result.text("id") == "Band")
            #expect(result.text("address") == Self.first)
            #expect(result["simulated"] == .boolean(false))
        }
    }
}
