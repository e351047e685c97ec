import DFUKit
import DFUSimulator
import DFUTransport
import TestSupport
import Testing

@testable import dfu

/// A simulated device for Secure DFU, as its ID describes it.
@Suite struct SimulatedTargetTests {
    private func target(_ options: String = "") throws -> SimulatedTarget {
        try SimulatedTarget(try SimulatedDeviceID(behindScheme: "secure\(options)"), profile: .band)
    }

    private func address(_ options: String = "") throws -> String { try target(options).address }

    @Test func itHasAnAddressThatABootloadersCanFollow() throws {
        #expect(try address() == "C0:FF:EE:00:00:50")
        #expect(try address("?address=C0:FF:EE:00:00:70") == "C0:FF:EE:00:00:70")
    }

    @Test func eachNameHasAnAddressOfItsOwn() throws {
        let addresses = try [address(), address("/left"), address("/right")]
        #expect(Set(addresses).count == 3)
        #expect(try address("/left") == addresses[1])
        #expect(addresses.allSatisfy { BluetoothAddress($0)?.octets.last?.isMultiple(of: 2) == true })
    }

    @Test func inTheBootloaderItIsFoundThere() async throws {
        let target = try target("?start=bootloader&time=virtual")
        #expect(target.address == "C0:FF:EE:00:00:51")
        let services = try await target.run {
            let peripheral = try await target.transport.connect(to: target.address, timeout: .seconds(5))
            return await peripheral.services
        }
        #expect(services.map(\.uuid) == [BluetoothUUID(short: 0xFE59)])
        try target.finish()
    }

    @Test func whatItKeepsIsReadAgain() throws {
        let folder = try TemporaryFolder()
        let state = folder.path + "/device.json"
        try target("?version=7&state=\(state)").finish()
        let memory = try DeviceKeeper<FaultySecureDevice>.memory(state)
        #expect(memory?.application == .init(version: 7))
    }

    @Test func itsMTUIsTheGenerations() throws {
        #expect(try SimulatedDeviceID(behindScheme: "secure").radio.mtu == 247)
        #expect(try SimulatedDeviceID(behindScheme: "secure?mtu=64").radio.mtu == 63)
        #expect(try SimulatedDeviceID(behindScheme: "secure?sdk=12").radio.mtu == 23)
    }

    @Test func itsFilesAreLookedAtFirst() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Array("[1]".utf8), to: "file")
        #expect(throws: Failure(.config, subject: file, "this is no key of ECDSA over P-256 in PEM")) {
            try target("?key=\(file)")
        }
        #expect(throws: Failure(.config, subject: file, "entry 1: a fault is an object, and this is a number")) {
            try target("?faults=\(file)")
        }
        #expect(
            throws: Failure(
                .config, subject: file, "this is not what a simulated device keeps; remove it, or name another")
        ) {
            try target("?state=\(file)")
        }
    }

    @Test func simulatedDevicesForSecureDFUHaveTwoAddressesEach() throws {
        var simulate = Simulate()
        simulate.devices = try ["sim:secure", "sim:secure?buttonless=bonded", "sim:band"].map(AdvertisedDeviceID.init)
        #expect(simulate.addresses == ["C0:FF:EE:00:00:01", "C0:FF:EE:00:00:03", "C0:FF:EE:00:00:04"])
        simulate.devices = try [
            "sim:secure?address=C0:FF:EE:00:00:10", "sim:band?address=C0:FF:EE:00:00:11",
        ].map(AdvertisedDeviceID.init)
        #expect(throws: Failure.usage("two devices have the address C0:FF:EE:00:00:11")) { try simulate.validate() }
    }
}
