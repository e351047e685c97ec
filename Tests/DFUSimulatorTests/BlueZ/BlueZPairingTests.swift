import DFUSimulator
import DFUTransport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct BlueZPairingTests {
    private static func device(_ pairing: DevicePairing?) -> AdvertisedDevice {
        var device = AdvertisedDevice(Band(), name: "Band")
        device.pairing = pairing
        return device
    }

    private static var noOptions: [DBusValue] { [.properties([:])] }

    /// A bench with a device that wants to be paired like this.
    private static func run(
        _ pairing: DevicePairing?, _ body: (BlueZBench) async throws -> Void
    ) async throws {
        try await BlueZBench.run(devices: [device(pairing)], body)
    }

    // MARK: Pair

    @Test func pairsWithADeviceThatIsNotConnected() async throws {
        try await Self.run(DevicePairing()) { bench in
            try await TestAgent.registerClient(of: bench)
            try await bench.discover()
            #expect(try await bench.refusal("Pair", at: BlueZBench.device) == nil)
            let story = await bench.story(until: "device Paired")
            #expect(story.first == "device Connected true")
            #expect(story.contains("device Bonded true"))
            #expect(story.suffix(2) == ["device ServicesResolved true", "device Paired true"])
            #expect(try await bench.refusal("Pair", at: BlueZBench.device) == "AlreadyExists: Already Exists")
            #expect(
                try await bench.refusal("CancelPairing", at: BlueZBench.device) == "DoesNotExist: Does Not Exist")
        }
    }

    @Test func pairsWithADeviceThatIsConnected() async throws {
        try await Self.run(DevicePairing()) { bench in
            try await TestAgent.registerClient(of: bench)
            try await bench.connect()
            #expect(try await bench.refusal("Pair", at: BlueZBench.device) == nil)
            #expect(await bench.story(until: "device Paired") == ["device Bonded true", "device Paired true"])
            #expect(try await bench.refusal("ReadValue", Self.noOptions, at: BlueZBench.version) == nil)
        }
    }

    @Test(
        "the client's agent is asked as the device wants it",
        arguments: [
            (.comparison(42), "RequestConfirmation 42", []), (.entry(123_456), "RequestPasskey", [.uint32(123_456)]),
            (.display(7), "DisplayPasskey 7 0", []),
        ] as [(DevicePairing.Method, String, [DBusValue])])
    func asksTheAgent(_ method: DevicePairing.Method, _ question: String, _ answer: [DBusValue]) async throws {
        try await Self.run(DevicePairing(method)) { bench in
            let agent = try await TestAgent.register(on: bench)
            try await bench.connect()
            async let refusal = bench.refusal("Pair", at: BlueZBench.device)
            #expect(try await agent.answer(with: answer) == question)
            #expect(try await refusal == nil)
        }
    }

    @Test(
        "an answer that does not fit, a refusal and an agent that cannot do it",
        arguments: [
            (.entry(1), "KeyboardDisplay", [.uint32(2)]), (.comparison(1), "DisplayYesNo", nil),
            (.display(1), "DisplayOnly", nil),
        ] as [(DevicePairing.Method, String, [DBusValue]?)])
    func failsWithTheAgent(_ method: DevicePairing.Method, _ capability: String, _ answer: [DBusValue]?) async throws {
        try await Self.run(DevicePairing(method)) { bench in
            let agent = try await TestAgent.register(capability, on: bench)
            try await bench.connect()
            async let refusal = bench.refusal("Pair", at: BlueZBench.device)
            if let answer { try await agent.answer(with: answer) } else { try await agent.reject() }
            #expect(try await refusal == "AuthenticationFailed: Authentication Failed")
            #expect(
                try await bench.property("Paired", of: "org.bluez.Device1", at: BlueZBench.device) == .boolean(false))
        }
    }

    @Test(
        arguments: [
            (DevicePairing(.entry(1)), "DisplayYesNo"), (DevicePairing(.comparison(1)), "KeyboardOnly"),
            (DevicePairing(.display(1)), "NoInputNoOutput"), (nil, "KeyboardDisplay"),
        ] as [(DevicePairing?, String)])
    func failsWithoutAnAgentThatCan(_ pairing: DevicePairing?, _ capability: String) async throws {
        try await Self.run(pairing) { bench in
            try await TestAgent.registerClient(capability, of: bench)
            try await bench.connect()
            #expect(
                try await bench.refusal("Pair", at: BlueZBench.device) == "AuthenticationFailed: Authentication Failed")
        }
    }

    @Test func failsWithoutAnAgent() async throws {
        try await Self.run(DevicePairing()) { bench in
            try await bench.connect()
            #expect(
                try await bench.refusal("Pair", at: BlueZBench.device) == "AuthenticationFailed: Authentication Failed")
        }
    }

    @Test(
        "a device that does not want to",
        arguments: [
            (.failed, "AuthenticationFailed: Authentication Failed"),
            (.rejected, "AuthenticationRejected: Authentication Rejected"),
            (.canceled, "AuthenticationCanceled: Authentication Canceled"),
            (.timedOut, "AuthenticationTimeout: Authentication Timeout"),
        ] as [(DevicePairing.Refusal, String)])
    func isRefused(_ refusal: DevicePairing.Refusal, _ error: String) async throws {
        try await Self.run(DevicePairing(refusal: refusal)) { bench in
            try await TestAgent.registerClient(of: bench)
            try await bench.connect()
            #expect(try await bench.refusal("Pair", at: BlueZBench.device) == error)
        }
    }

    @Test func isCanceled() async throws {
        try await Self.run(DevicePairing(.comparison(1))) { bench in
            let agent = try await TestAgent.register(on: bench)
            try await bench.connect()
            async let refusal = bench.refusal("Pair", at: BlueZBench.device)
            #expect(await agent.question()?.member == "RequestConfirmation")
            #expect(try await bench.refusal("Pair", at: BlueZBench.device) == "InProgress: In Progress")
            #expect(try await bench.refusal("CancelPairing", at: BlueZBench.device) == nil)
            #expect(try await refusal == "AuthenticationCanceled: Authentication Canceled")
            #expect(await agent.question()?.member == "Cancel")
        }
    }

    @Test func isCanceledWithTheConnection() async throws {
        try await Self.run(DevicePairing(.comparison(1))) { bench in
            let agent = try await TestAgent.register(on: bench)
            try await bench.connect()
            async let refusal = bench.refusal("Pair", at: BlueZBench.device)
            _ = await agent.question()
            bench.blueZ.loseLink(to: "C0:FF:EE:00:00:01")
            #expect(try await refusal == "AuthenticationCanceled: Authentication Canceled")
        }
    }

    @Test func givesUpADeviceThatDoesNotAnswer() async throws {
        var settings = BlueZBench.quickSettings
        settings.connectTimeout = .milliseconds(30)
        var device = Self.device(DevicePairing())
        device.isConnectable = false
        try await BlueZBench.run(devices: [device], settings: settings) { bench in
            try await bench.discover()
            #expect(try await bench.refusal("Pair", at: BlueZBench.device) == "ConnectionAttemptFailed: Page Timeout")
        }
    }

    // MARK: Security

    @Test(arguments: [
        ("ReadValue", BlueZBench.version), ("WriteValue", BlueZBench.command), ("StartNotify", BlueZBench.reply),
    ])
    func neverAnswersWhatWantsPairing(_ member: String, _ path: String) async throws {
        try await Self.run(DevicePairing()) { bench in
            try await bench.connect()
            let options = DBusValue.properties(member == "WriteValue" ? ["type": .string("request")] : [:])
            let body =
                switch member {
                case "WriteValue": [.bytes([1]), options]
                case "ReadValue": [options]
                default: [] as [DBusValue]
                }
            try await Self.expectNoAnswer(member, body, at: path, on: bench)
        }
    }

    /// A call that is never answered: after some time the device is gone, with no word of its connection.
    private static func expectNoAnswer(
        _ member: String, _ body: [DBusValue], at path: String, on bench: BlueZBench
    ) async throws {
        let call = Task { try await bench.refusal(member, body, at: path) }
        let story = await bench.story(until: "- device")
        #expect(story.allSatisfy { !$0.contains("Connected") })
        call.cancel()
        #expect(try await call.value?.hasPrefix("cancelled") == true)
    }

    @Test func aDeviceThatRefusesEndsTheConnection() async throws {
        try await Self.run(DevicePairing(refusal: .failed)) { bench in
            try await bench.connect()
            #expect(
                try await bench.refusal("ReadValue", Self.noOptions, at: BlueZBench.version)
                    == "Failed: Operation failed with ATT error: 0x0e")
            #expect(await bench.story(until: "device Connected").last == "device Connected false")
        }
    }

    @Test func pairsByItselfWhereAnAgentAllowsIt() async throws {
        try await Self.run(DevicePairing()) { bench in
            let agent = try await TestAgent.register(on: bench)
            try await bench.connect()
            async let first: Void = Self.expectNoAnswer(
                "ReadValue", Self.noOptions, at: BlueZBench.version, on: bench)
            #expect(try await agent.reject() == "RequestAuthorization")
            try await first
            try await bench.connect()
            async let second = bench.refusal("ReadValue", Self.noOptions, at: BlueZBench.version)
            #expect(try await agent.answer() == "RequestAuthorization")
            #expect(try await second == nil)
            #expect(
                try await bench.property("Paired", of: "org.bluez.Device1", at: BlueZBench.device) == .boolean(true))
        }
    }

    @Test func protectsOneCharacteristic() async throws {
        let version = BluetoothUUID(short: 0x2A26)
        try await Self.run(DevicePairing(of: [version])) { bench in
            try await bench.connect()
            #expect(try await bench.refusal("StartNotify", at: BlueZBench.reply) == nil)
            try await Self.expectNoAnswer("ReadValue", Self.noOptions, at: BlueZBench.version, on: bench)
        }
    }

    @Test func losesCommandsThatWantPairing() async throws {
        try await Self.run(DevicePairing(of: [DeviceProfile.band.command])) { bench in
            try await bench.connect()
            let command = DBusValue.properties(["type": .string("command")])
            #expect(
                try await bench.refusal("WriteValue", [.bytes([1]), command], at: BlueZBench.command) == nil)
            // It would have been there before the request for the value.
            try await bench.call("ReadValue", Self.noOptions, at: BlueZBench.version)
            #expect(bench.written == [])
        }
    }

    // MARK: The bond

    @Test func keepsTheBondUntilTheDeviceIsRemoved() async throws {
        try await Self.run(DevicePairing()) { bench in
            try await TestAgent.registerClient(of: bench)
            try await bench.discover()
            try await bench.call("Pair", at: BlueZBench.device)
            _ = await bench.story(until: "device Paired")
            await bench.blueZ.stop()
            try await bench.blueZ.start()
            #expect(await bench.story(until: "+ device") == ["+ /org/bluez", "+ hci0", "+ device"])
            try await bench.call("Connect", at: BlueZBench.device)
            _ = await bench.story(until: "device ServicesResolved true")
            #expect(try await bench.refusal("ReadValue", Self.noOptions, at: BlueZBench.version) == nil)
            try await bench.call(
                "RemoveDevice", [.objectPath(try #require(DBusObjectPath(BlueZBench.device)))])
            _ = await bench.story(until: "- device")
            try await bench.connect()
            try await Self.expectNoAnswer("ReadValue", Self.noOptions, at: BlueZBench.version, on: bench)
        }
    }

    @Test("BLZ-23 a device that has lost its keys") func losesItsKeys() async throws {
        var settings = BlueZBench.quickSettings
        settings.lostKeysDelay = .milliseconds(10)
        var device = Self.device(DevicePairing())
        device.isPaired = true
        device.hasLostKeys = true
        try await BlueZBench.run(devices: [device], settings: settings) { bench async throws in
            #expect(await bench.story(until: "+") == ["+ device"])
            for _ in 0..<2 {
                #expect(
                    try await bench.refusal("Connect", at: BlueZBench.device)
                        == "Failed: le-connection-abort-by-local")
                #expect(
                    await bench.story(until: "device Connected false")
                        == ["device Connected true", "device Connected false"])
            }
            #expect(
                try await bench.property("Paired", of: "org.bluez.Device1", at: BlueZBench.device) == .boolean(true))
        }
    }

    @Test("BLZ-23 a device loses its keys after an update") func losesItsKeysLater() async throws {
        var device = Self.device(DevicePairing())
        device.isPaired = true
        var settings = BlueZBench.quickSettings
        settings.lostKeysDelay = .milliseconds(10)
        try await BlueZBench.run(devices: [device], settings: settings) { bench in
            try await bench.call("Connect", at: BlueZBench.device)
            _ = await bench.story(until: "device ServicesResolved true")
            #expect(try await bench.refusal("ReadValue", Self.noOptions, at: BlueZBench.version) == nil)
            try await bench.call("Disconnect", at: BlueZBench.device)
            await bench.blueZ.loseKeys(of: "C0:FF:EE:00:00:01")
            #expect(
                try await bench.refusal("Connect", at: BlueZBench.device) == "Failed: le-connection-abort-by-local")
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct BlueZAgentTests {
    private static func manage(
        _ member: String, _ body: [DBusValue] = [TestAgent.path], on bench: BlueZBench
    ) async throws -> String? {
        try await bench.refusal(member, body, at: "/org/bluez")
    }

    @Test func registersOneAgentForAClient() async throws {
        try await BlueZBench.run { bench async throws in
            let other = DBusValue.objectPath(DBusObjectPath.root)
            #expect(try await Self.manage("UnregisterAgent", on: bench) == "DoesNotExist: Does Not Exist")
            #expect(try await Self.manage("RequestDefaultAgent", on: bench) == "DoesNotExist: Does Not Exist")
            #expect(
                try await Self.manage("RegisterAgent", [TestAgent.path, .string("Telepathy")], on: bench)
                    == "InvalidArguments: Invalid arguments in method call")
            #expect(try await Self.manage("RegisterAgent", [TestAgent.path, .string("")], on: bench) == nil)
            #expect(
                try await Self.manage("RegisterAgent", [TestAgent.path, .string("")], on: bench)
                    == "AlreadyExists: Already Exists")
            #expect(try await Self.manage("RequestDefaultAgent", [other], on: bench) == "DoesNotExist: Does Not Exist")
            #expect(try await Self.manage("RequestDefaultAgent", on: bench) == nil)
            #expect(try await Self.manage("UnregisterAgent", on: bench) == nil)
        }
    }

    @Test func asksTheDefaultAgentOfWhatNobodyHasCalledFor() async throws {
        var device = AdvertisedDevice(Band(), name: "Band")
        device.pairing = DevicePairing()
        try await BlueZBench.run(devices: [device]) { bench in
            let first = try await TestAgent.register(on: bench)
            let second = try await TestAgent.register(on: bench)
            try await bench.call("RequestDefaultAgent", [TestAgent.path], at: "/org/bluez", by: second.connection)
            try await bench.connect()
            async let read = bench.refusal("ReadValue", [.properties([:])], at: BlueZBench.version)
            #expect(try await second.answer() == "RequestAuthorization")
            #expect(try await read == nil)
            await first.connection.close()
        }
    }

    @Test func forgetsTheAgentOfAClientThatLeavesTheBus() async throws {
        var device = AdvertisedDevice(Band(), name: "Band")
        device.pairing = DevicePairing()
        try await BlueZBench.run(devices: [device]) { bench in
            let agent = try await TestAgent.register(on: bench)
            await agent.connection.close()
            try await bench.connect()
            #expect(
                try await bench.refusal("Pair", at: BlueZBench.device) == "AuthenticationFailed: Authentication Failed")
        }
    }
}
