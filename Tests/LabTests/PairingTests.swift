import DFUKit
import DFUSimulator
import DFUTransport
import TestSupport
import Testing

/// Pairing, and what becomes of its keys.
@Suite(.lab) struct PairingTests {
    private let band = Band()

    private func advertised(_ pairing: DevicePairing?) -> AdvertisedDevice {
        var device = AdvertisedDevice(band, name: "Band")
        device.pairing = pairing
        return device
    }

    /// The band's version, which is what wants to be paired for.
    private static let version = BluetoothUUID(short: 0x2A26)

    private func readVersion(_ peripheral: any Peripheral) async throws -> [UInt8] {
        try await peripheral.read(Self.version, of: BluetoothUUID(short: 0x180A))
    }

    private func connect(_ transport: BlueZTransport) async throws -> any PairablePeripheral {
        try #require(
            try await transport.connect(to: band.address, timeout: .seconds(20)) as? any PairablePeripheral)
    }

    // MARK: By our agent

    @Test(
        "people are asked as the device wants it, and what is protected can be read then",
        arguments: [
            (.justWorks, nil), (.comparison(0), .comparison(0)), (.entry(123_456), .passkey),
        ] as [(DevicePairing.Method, PairingDialogue.Question?)])
    func pairs(_ method: DevicePairing.Method, _ question: PairingDialogue.Question?) async throws {
        try await Lab.run([advertised(DevicePairing(method))]) { _ in
            let peripheral = try await connect(BlueZTransport())
            let asked = Locked<[PairingDialogue.Question]>([])
            try await peripheral.pair(
                PairingDialogue(.keyboardDisplay) { question in
                    asked.withLock { $0.append(question) }
                    return question == .passkey ? .number(123_456) : .yes
                })
            #expect(asked.withLock { $0.map(\.kind) } == [question?.kind].compactMap(\.self))
            #expect(await peripheral.isPaired)
            #expect(try await readVersion(peripheral) == Array("1.0.0".utf8))
            await peripheral.disconnect()
        }
    }

    @Test("a wrong number, and a no, are refusals", arguments: [DevicePairing.Method.entry(123_456), .comparison(0)])
    func refusedByPeople(_ method: DevicePairing.Method) async throws {
        try await Lab.run([advertised(DevicePairing(method))]) { _ in
            let peripheral = try await connect(BlueZTransport())
            let error = await #expect(throws: PairingError.self) {
                try await peripheral.pair(
                    PairingDialogue(.keyboardDisplay) { $0 == .passkey ? .number(123_457) : .no })
            }
            #expect(
                error
                    == .refused(
                        "the pairing failed (Authentication Failed); put the device into its pairing mode, and try again"
                    ))
            #expect(await !peripheral.isPaired)
            await peripheral.disconnect()
        }
    }

    @Test("a device that refuses, and one that cannot be paired", arguments: [DevicePairing(refusal: .failed), nil])
    func refusedByTheDevice(_ pairing: DevicePairing?) async throws {
        try await Lab.run([advertised(pairing)]) { _ in
            let peripheral = try await connect(BlueZTransport())
            let error = await #expect(throws: PairingError.self) {
                try await peripheral.pair(PairingDialogue(.noInputNoOutput) { _ in .yes })
            }
            #expect(
                error
                    == .refused(
                        "the pairing failed (Authentication Failed); put the device into its pairing mode, and try again"
                    ))
            await peripheral.disconnect()
        }
    }

    // MARK: By the command

    @Test("a band whose characteristics want to be paired for: paired, updated, forgotten, and not known any more")
    func pairFlashForget() async throws {
        let file = try ImageFile(3000)
        try await Lab.run([advertised(DevicePairing())]) { air in
            let paired = try await Guest.dfu("pair", band.address)
            #expect(paired == Program.Outcome(output: "\(band.address): paired\n", errors: "", status: 0))
            let again = try await Guest.dfu("pair", band.address)
            #expect(again == Program.Outcome(output: "\(band.address): paired already\n", errors: "", status: 0))
            let updated = try await Guest.dfu("flash", file.path, "--device", band.address)
            #expect(updated == Guest.updated(band.address))
            #expect((await air.device(band.address) as? Band)?.memory.image == file.bytes)
            let forgotten = try await Guest.dfu("forget", band.address)
            #expect(
                forgotten == Program.Outcome(output: "\(band.address): its bond is removed\n", errors: "", status: 0))
            #expect(try await Guest.dfu("forget", band.address).status == 68)
        }
    }

    @Test("what wants to be paired for says so where nobody allows it") func readsWhatIsProtected() async throws {
        try await Lab.run([advertised(DevicePairing())]) { _ in
            let read = try await Guest.dfu("read", band.address, "2A26", "--text")
            #expect(
                read
                    == Guest.failed(
                        76, "dfu: \(band.address): reading 180A/2A26: it wants to be paired first (dfu pair)"))
        }
    }

    @Test("keys that this machine has no more: the device is paired anew") func keysLostHere() async throws {
        try await Lab.run([advertised(DevicePairing())]) { _ in
            #expect(try await Guest.dfu("pair", band.address).status == 0)
            try await Lab.forget(band.address)
            #expect(try await Guest.dfu("pair", band.address).status == 0)
            let read = try await Guest.dfu("read", band.address, "2A26", "--text")
            #expect(read == Program.Outcome(output: "1.0.0\n", errors: "", status: 0))
        }
    }
}

extension PairingDialogue.Question {
    /// What is asked, whatever the number.
    fileprivate var kind: String {
        switch self {
        case .comparison: "comparison"
        case .passkey: "passkey"
        case .pinCode: "pinCode"
        case .display: "display"
        case .authorization: "authorization"
        }
    }
}
