import DFUProtocol
import DFUTransport
import TestSupport
import Testing

@testable import DFUSimulator

/// A device that comes back at another address, over one way to it.
private protocol SecureRestart {}

extension SecureRestart {
    static var application: String { "C0:FF:EE:00:00:50" }
    static var bootloader: String { "C0:FF:EE:00:00:51" }
    static var service: BluetoothUUID { BluetoothUUID(short: 0xFE59) }

    /// Sends the application into its bootloader, and ends the connection.
    static func enter(over transport: some Transport) async throws {
        let peripheral = try await transport.connect(to: application, timeout: .seconds(5))
        let link = try await peripheral.openLink([
            .buttonless: EndpointBinding(service: service, characteristic: .buttonless, use: .writeAndNotify)
        ])
        let heard = AsyncStream.makeStream(of: LinkEvent.self)
        link.setReceiver { heard.continuation.yield($0) }
        try await link.write([0x01], to: .buttonless)
        var events: [LinkEvent] = []
        for await event in heard.stream {
            events.append(event)
            if event == .disconnected { break }
        }
        #expect(events == [.notification([0x20, 0x01, 0x01], from: .buttonless), .disconnected])
        await peripheral.disconnect()
    }
}

@Suite struct SecureTransportTests: SecureRestart {
    private static func inVirtualTime(
        _ faults: SecureFault..., body: @escaping @Sendable (SimulatedTransport) async throws -> Void
    ) async throws {
        let world = VirtualTime()
        let device = FaultySecureDevice(SecureDevice(), faults: SecureFaultScript(faults))
        let transport = SimulatedTransport([device], radio: .bluetooth42, time: .virtual(world))
        try await world.run { try await body(transport) }
    }

    @Test func theBootloaderIsFoundWithItsOwnTable() async throws {
        try await Self.inVirtualTime { transport in
            try await Self.enter(over: transport)
            let found = try await transport.find(
                [DeviceHint(address: Self.bootloader, services: [Self.service])], timeout: .seconds(5))
            #expect(found == Self.bootloader)
            let peripheral = try await transport.connect(to: found, timeout: .seconds(5))
            #expect(peripheral.address == Self.bootloader)
            #expect(await peripheral.services.flatMap(\.characteristics).map(\.uuid) == [.packet, .controlPoint])
        }
    }

    @Test func aRequestThatIsNeverAnsweredEndsTheConnection() async throws {
        try await Self.inVirtualTime(.silence(SecureFaultPlace(.request, 1), lasting: nil)) { transport in
            let peripheral = try await transport.connect(to: Self.application, timeout: .seconds(5))
            let link = try await peripheral.openLink([
                .buttonless: EndpointBinding(
                    service: Self.service, characteristic: .buttonless, use: .writeAndNotify)
            ])
            let error = await #expect(throws: TransportError.self) { try await link.write([0x01], to: .buttonless) }
            #expect(error?.code == .disconnected)
        }
    }

    @Test func theBootloaderIsFoundByItsName() async throws {
        try await Self.inVirtualTime { transport in
            try await Self.enter(over: transport)
            #expect(try await transport.find([DeviceHint(name: "DfuTarg")], timeout: .seconds(5)) == Self.bootloader)
        }
    }

    @Test func whoWaitsForTheBootloaderIsConnectedWhenItIsUp() async throws {
        try await Self.inVirtualTime { transport in
            async let peripheral = transport.connect(to: Self.bootloader, timeout: .seconds(60))
            try await Self.enter(over: transport)
            #expect(try await peripheral.address == Self.bootloader)
        }
    }

    @Test func theOldAddressIsEmpty() async throws {
        try await Self.inVirtualTime { transport in
            try await Self.enter(over: transport)
            #expect(try await transport.find([DeviceHint(address: Self.bootloader)], timeout: .seconds(5)) != "")
            let error = await #expect(throws: TransportError.self) {
                try await transport.connect(to: Self.application, timeout: .seconds(5))
            }
            #expect(error?.code == .notFound)
        }
    }

    @Test func anOldAdvertisementIsHeardAndNotConnectedTo() async throws {
        try await Self.inVirtualTime(.oldAdvertisement(.milliseconds(800))) { transport in
            try await Self.enter(over: transport)
            let hints = [DeviceHint(address: Self.application)]
            #expect(try await transport.find(hints, timeout: .seconds(5)) == Self.application)
            let error = await #expect(throws: TransportError.self) {
                try await transport.connect(to: Self.application, timeout: .seconds(1))
            }
            #expect(error?.code == .notFound)
            await #expect(throws: TransportError.self) { try await transport.find(hints, timeout: .seconds(5)) }
        }
    }

    @Test func withoutAHostTheApplicationIsBackAfterTwoMinutes() async throws {
        try await Self.inVirtualTime { transport in
            try await Self.enter(over: transport)
            _ = try await transport.find([DeviceHint(address: Self.bootloader)], timeout: .seconds(5))
            let found = try await transport.find([DeviceHint(address: Self.application)], timeout: .seconds(125))
            #expect(found == Self.application)
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct BlueZSecureDeviceTests: SecureRestart {
    @Test func blueZHearsTheBootloaderAsAnotherDevice() async throws {
        var settings = SecureDevice.Settings()
        settings.startTime = .milliseconds(20)
        try await BlueZStage.run(devices: [AdvertisedDevice(SecureDevice(settings))]) { stage in
            let transport = try await stage.transport()
            try await Self.enter(over: transport)
            let peripheral = try await transport.connect(to: Self.bootloader, timeout: .seconds(20))
            let shown = await peripheral.services(within: .seconds(20)) { !$0.isEmpty }
            #expect(shown.flatMap(\.characteristics).map(\.uuid) == [.packet, .controlPoint])
            await peripheral.disconnect()
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct EmulatedRadioSecureDeviceTests: SecureRestart {
    @Test func anEmulatedRadioIsToldTheNewAddressNameAndTable() async throws {
        var settings = SecureDevice.Settings()
        settings.endDelay = .zero
        settings.startTime = .zero
        let radio = try FakeRadio()
        let air = try EmulatedRadio(socket: radio.path, devices: [AdvertisedDevice(SecureDevice(settings))])
        await radio.accept()
        async let started: Void = air.start()
        #expect(await radio.line().contains(#""name":"Nordic_Buttonless""#))
        let device = #""device":"C0:FF:EE:00:00:50""#
        radio.say(#"{"event":"up",\#(device)}"#)
        try await started
        radio.say(#"{"event":"connected",\#(device)}"#)
        let characteristic = #""characteristic":"8ec90003-f315-4f60-9fb8-838830daea50""#
        radio.say(#"{"event":"subscribed",\#(device),\#(characteristic),"isOn":true,"id":1}"#)
        _ = await radio.line()
        radio.say(#"{"event":"written",\#(device),\#(characteristic),"value":"01","id":2}"#)
        var line = ""
        while !line.contains(#""do":"up""#) { line = await radio.line() }
        #expect(line.contains(Self.bootloader))
        #expect(line.contains(#""name":"DfuTarg""#))
        #expect(line.contains("8ec90001"))
        await air.close()
    }
}
