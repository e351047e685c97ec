import DFUSimulator
import DFUTransport
import Glibc
import TestSupport
import Testing

/// `dfu pair` over a bus, with nobody at a terminal, and `dfu forget` of what was paired.
@Suite(.serialized, .timeLimit(.minutes(5))) struct BlueZPairTests {
    private static let address = "C0:FF:EE:00:00:10"

    private static func device(_ pairing: DevicePairing?, isPaired: Bool = false) -> AdvertisedDevice {
        var device = AdvertisedDevice(GATTDevice.bench, name: "Bench")
        device.pairing = pairing
        device.isPaired = isPaired
        device.isKnown = isPaired
        return device
    }

    @Test("A device that asks nothing is paired, by address or name", arguments: [address, "Bench"])
    func pairs(_ id: String) async throws {
        try await AirBench.run([Self.device(DevicePairing())]) { bench in
            let outcome = await bench.dfu("pair", id, "--scan-timeout", "1")
            #expect(outcome.output == "\(Self.address): paired\n")
            #expect(outcome.status == 0)
            try await bench.wait {
                $0.devices().map(\.isBonded) == [true] && $0.devices().map(\.isConnected) == [false]
            }
        }
    }

    @Test("With --json there is a result")
    func result() async throws {
        try await AirBench.run([Self.device(DevicePairing())]) { bench in
            let events = try await bench.dfu("pair", Self.address, "--json").events()
            try #require(events.map(\.name) == ["start", "result"])
            #expect(events[1].text("device") == Self.address)
            #expect(events[1].text("message") == "paired")
            #expect(events[1]["ok"] == .boolean(true))
        }
    }

    @Test("What is paired already stays so, in range or not", arguments: [true, false])
    func alreadyPaired(_ isInRange: Bool) async throws {
        var device = Self.device(DevicePairing(), isPaired: true)
        device.isInRange = isInRange
        try await AirBench.run([device]) { bench in
            let (outcome, calls) = try await bench.stage.noteCalls { await bench.dfu("pair", Self.address) }
            #expect(outcome == .init(output: "\(Self.address): paired already\n", errors: "", status: 0))
            #expect(!calls.compactMap(\.member).contains("Pair"))
        }
    }

    @Test(
        "A device that says no is 76, with what it said",
        arguments: [
            (.failed, "Authentication Failed"), (.rejected, "Authentication Rejected"),
            (.canceled, "Authentication Canceled"), (.timedOut, "Authentication Timeout"),
        ] as [(DevicePairing.Refusal, String)])
    func refused(_ refusal: DevicePairing.Refusal, _ text: String) async throws {
        try await AirBench.run([Self.device(DevicePairing(refusal: refusal))]) { bench in
            #expect(
                await bench.dfu("pair", Self.address)
                    == .failed(
                        76,
                        "dfu: \(Self.address): the pairing failed (\(text)); put the device into its pairing mode, and try "
                            + "again; one that asks for something is paired on a terminal"))
            try await bench.wait { $0.devices().map(\.isConnected) == [false] }
        }
    }

    @Test(
        "Without somebody to ask, a device that asks is 76, and a terminal is named",
        arguments: [.comparison(1), .entry(1), .display(1)] as [DevicePairing.Method])
    func nobodyToAsk(_ method: DevicePairing.Method) async throws {
        try await AirBench.run([Self.device(DevicePairing(method))]) { bench in
            let outcome = await bench.dfu("pair", Self.address)
            #expect(
                outcome
                    == .failed(
                        76,
                        "dfu: \(Self.address): the pairing failed (Authentication Failed); put the device into its pairing "
                            + "mode, and try again; one that asks for something is paired on a terminal"))
        }
    }

    @Test(
        "On a terminal people are asked, or shown what to type in",
        arguments: [
            (.comparison(4711), "does the device show 004711? (yes or no)", "yes", 0),
            (.comparison(4711), "does the device show 004711? (yes or no)", "n", 76),
            (.entry(815), "which number does the device show? (nothing: stop)", "815", 0),
            (.entry(815), "which number does the device show? (nothing: stop)", "816", 76),
            (.entry(815), "which number does the device show? (nothing: stop)", "", 76),
            (.display(42), "type 000042 at the device", nil, 0),
        ] as [(DevicePairing.Method, String, String?, Int32)])
    func asks(_ method: DevicePairing.Method, _ question: String, _ answer: String?, _ status: Int32) async throws {
        try await AirBench.run([Self.device(DevicePairing(method))]) { bench in
            let program = bench.program(["pair", Self.address])
            let (isAsked, end) = await ThreadExecutor.shared.run {
                let terminal = PseudoTerminal(program, columns: 120, rows: 24)
                let isAsked = terminal.wait(for: question)
                if let answer { terminal.type(answer) }
                return (isAsked, terminal.end())
            }
            #expect(isAsked)
            #expect(end == status)
            try await bench.wait { $0.devices().map(\.isBonded) == [status == 0] }
        }
    }

    @Test("Ctrl-C at the question cancels the pairing")
    func interrupted() async throws {
        try await AirBench.run([Self.device(DevicePairing(.comparison(1)))]) { bench in
            let program = bench.program(["pair", Self.address])
            let (end, calls) = try await bench.stage.noteCalls {
                await ThreadExecutor.shared.run {
                    let terminal = PseudoTerminal(program, columns: 120, rows: 24)
                    guard terminal.wait(for: "(yes or no)") else { return Int32(-1) }
                    terminal.signal(SIGINT)
                    return terminal.end()
                }
            }
            #expect(end == 130)
            let members = calls.compactMap(\.member)
            #expect(members.contains("CancelPairing"))
            #expect(members.contains("UnregisterAgent"))
            #expect(members.contains("Disconnect"))
            try await bench.wait { $0.devices().map(\.isBonded) == [false] }
        }
    }

    @Test("Another program's pairing is 69")
    func inProgress() async throws {
        try await AirBench.run([Self.device(DevicePairing())]) { bench in
            await bench.blueZ.fail("Pair", with: DBusError(name: "org.bluez.Error.InProgress", message: "In Progress"))
            #expect(
                await bench.dfu("pair", Self.address)
                    == .failed(69, "dfu: \(Self.address): another program is pairing with it; end that"))
        }
    }

    @Test("A bond is removed, in range or not", arguments: [true, false])
    func forget(_ isInRange: Bool) async throws {
        var device = Self.device(DevicePairing(), isPaired: true)
        device.isInRange = isInRange
        try await AirBench.run([device]) { bench in
            #expect(
                await bench.dfu("forget", Self.address)
                    == .init(output: "\(Self.address): its bond is removed\n", errors: "", status: 0))
            try await bench.wait { $0.devices().allSatisfy { !$0.isPaired } }
            #expect(await bench.dfu("forget", Self.address).status == 68)
        }
    }

    @Test("What wants to be paired first says so, and is read afterwards")
    func readsWhatIsProtected() async throws {
        let device = Self.device(DevicePairing())
        try await AirBench.run([device]) { bench in
            let outcome = await bench.dfu("read", Self.address, "2A26", "--text")
            #expect(
                outcome
                    == .failed(
                        76,
                        "dfu: \(Self.address): reading 180A/2A26: it wants to be paired first (dfu pair)"))
            #expect(await bench.dfu("pair", Self.address).status == 0)
            #expect(await bench.dfu("read", Self.address, "2A26", "--text").output == "1.2.3\n")
        }
    }
}
