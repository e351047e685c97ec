import DFUSimulator
import DFUTransport
import TestSupport

extension FlashBench {
    /// `dfu flash` over a bus of the test's own, ready to run.
    func program(over bus: PrivateBus, on devices: [String], _ options: [String]) -> BuiltProgram {
        var program = program(on: devices, options)
        program.environment.removeAll { $0.hasPrefix("DBUS_SYSTEM_BUS_ADDRESS=") }
        program.environment.append("DBUS_SYSTEM_BUS_ADDRESS=" + bus.address)
        return program
    }

    /// Runs `dfu flash` over a bus of the test's own.
    func flash(over bus: PrivateBus, on devices: [String], _ options: [String] = []) async -> BuiltProgram.Outcome {
        withoutFolder(await program(over: bus, on: devices, ["--progress", "none", "--gap", "0"] + options).outcome())
    }
}

extension AdvertisedDevice {
    /// A band at this address.
    static func band(
        _ address: String, name: String? = "Band", packetLimit: UInt8 = 20, faults: [Fault] = []
    ) -> AdvertisedDevice {
        var settings = Band.Settings()
        settings.address = address
        settings.packetLimit = packetLimit
        return AdvertisedDevice(FaultyBand(Band(settings), faults: FaultScript(faults)), name: name)
    }
}

extension BlueZStage {
    /// The band with this address as it is now.
    func band(_ address: String) -> Band? { (blueZ.device(address) as? FaultyBand)?.band }
}
