import DFUTransport
import TestSupport
import Testing

@testable import DFUSimulator

/// What is said to a radio, and what becomes of what it says.
@Suite(.timeLimit(.minutes(5))) struct EmulatedRadioTests {
    private static let address = "C0:FF:EE:00:00:10"
    private static let device = #""device":"C0:FF:EE:00:00:10""#
    private static let command = device + #","characteristic":"abc1""#
    private static let reply = #""characteristic":"abc2","# + device

    /// Runs `body` with a device on the air that a host has connected to.
    private static func run(
        _ adjust: (inout GATTDevice) -> Void = { _ in }, _ body: (FakeRadio, EmulatedRadio) async throws -> Void
    ) async throws {
        var device = GATTDevice.bench
        adjust(&device)
        let radio = try FakeRadio()
        let air = try EmulatedRadio(socket: radio.path, devices: [AdvertisedDevice(device)])
        await radio.accept()
        async let started: Void = air.start()
        #expect(await radio.line().contains(#""do":"up""#))
        radio.say(#"{"event":"up",\#(Self.device)}"#)
        try await started
        radio.say(#"{"event":"connected",\#(Self.device)}"#)
        try await body(radio, air)
        await air.close()
    }

    @Test("a radio that does not answer is given up") func silentRadio() async throws {
        let radio = try FakeRadio()
        let air = try EmulatedRadio(socket: radio.path, devices: [AdvertisedDevice(GATTDevice.bench)])
        await #expect(throws: RadioError(message: "the radio has ended, or does not do what it is told")) {
            try await air.start(within: .milliseconds(20))
        }
        await air.close()
    }

    @Test("a radio that says that it failed is given up") func failingRadio() async throws {
        let radio = try FakeRadio()
        let air = try EmulatedRadio(socket: radio.path, devices: [AdvertisedDevice(GATTDevice.bench)])
        await radio.accept()
        let starting = Task { try await air.start() }
        _ = await radio.line()
        radio.say(#"{"event":"failed","message":"no"}"#)
        await #expect(throws: RadioError.self) { try await starting.value }
        await air.close()
    }

    @Test("a radio that goes away leaves nobody waiting") func goneRadio() async throws {
        try await Self.run { radio, air in
            async let gone: Void = air.untilGone()
            radio.close()
            await gone
            await air.untilDisconnected(Self.address)
            await #expect(throws: RadioError(message: "the radio has ended")) {
                try await air.setPlugged(false, adapter: 0)
            }
            #expect(await air.device(Self.address) is GATTDevice)
        }
    }

    @Test("a restart is down, then up; what is written meanwhile is nobody's") func restart() async throws {
        try await Self.run {
            $0.reaction = { _ in [.reboot(after: .zero, offAir: .milliseconds(1))] }
        } _: { radio, _ in
            radio.say(#"{"event":"written",\#(Self.command),"value":"01"}"#)
            #expect(await radio.line() == #"{"device":"C0:FF:EE:00:00:10","do":"down"}"#)
            radio.say(#"{"event":"written",\#(Self.command),"value":"02"}"#)
            #expect(await radio.line().contains(#""do":"up""#))
        }
    }

    @Test("a command is not answered, a request is, and then the device does its part") func writes() async throws {
        try await Self.run { radio, _ in
            radio.say(#"{"event":"written",\#(Self.command),"value":"0102"}"#)
            #expect(
                await radio.line()
                    == #"{"characteristic":"ABC2","device":"C0:FF:EE:00:00:10","do":"notify","value":"0201"}"#)
            radio.say(#"{"event":"written",\#(Self.command),"value":"03","id":7}"#)
            #expect(await radio.line() == #"{"device":"C0:FF:EE:00:00:10","do":"answer","id":7,"value":""}"#)
            #expect(
                await radio.line()
                    == #"{"characteristic":"ABC2","device":"C0:FF:EE:00:00:10","do":"notify","value":"03"}"#)
        }
    }

    @Test("a device answers as it likes, after what it notifies, or not at all") func answers() async throws {
        try await Self.run {
            $0.answering = { request in
                switch request {
                case .read: AttributeAnswer(.error(AttributeErrorCode(rawValue: 0x80)))
                case .write: AttributeAnswer(.silence)
                case .subscribe(let uuid): AttributeAnswer(after: [.notify([9], from: uuid, after: .zero)])
                }
            }
        } _: { radio, _ in
            radio.say(#"{"event":"written",\#(Self.command),"value":"03","id":1}"#)
            radio.say(#"{"event":"read",\#(Self.command),"id":2}"#)
            #expect(await radio.line() == #"{"device":"C0:FF:EE:00:00:10","do":"answer","error":128,"id":2}"#)
            radio.say(#"{"event":"subscribed",\#(Self.command),"isOn":true,"id":3}"#)
            #expect(
                await radio.line()
                    == #"{"characteristic":"ABC1","device":"C0:FF:EE:00:00:10","do":"notify","value":"09"}"#)
            #expect(await radio.line() == #"{"device":"C0:FF:EE:00:00:10","do":"answer","id":3,"value":""}"#)
            radio.say(#"{"event":"subscribed",\#(Self.command),"isOn":false,"id":4}"#)
            #expect(await radio.line() == #"{"device":"C0:FF:EE:00:00:10","do":"answer","id":4,"value":""}"#)
        }
    }
}
