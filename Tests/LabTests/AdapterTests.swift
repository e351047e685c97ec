import DFUSimulator
import DFUTransport
import TestSupport
import Testing

/// Adapters that go, come and are two.
@Suite(.lab) struct AdapterTests {
    private let band = Band()

    /// `dfu flash`, in whose middle something is done to the adapter.
    private func interrupted(
        saying message: String, by trouble: @escaping @Sendable (EmulatedRadio) async throws -> Void,
        healedBy cure: @escaping @Sendable (EmulatedRadio) async throws -> Void
    ) async throws {
        let file = try ImageFile(20_000)
        let count = WriteCount(700)
        try await Lab.run([AdvertisedDevice(band)], observer: { count.note($0, $1) }) { air in
            count.whenReached { Task { try await trouble(air) } }
            let first = try await Guest.dfu("flash", file.path, "--device", band.address)
            #expect(first == Guest.failed(69, "dfu: \(band.address): reconnect: \(message)"))
            try await cure(air)
            try await Guest.untilBluetoothdIsThere()
            let second = try await Guest.dfu("flash", file.path, "--device", band.address)
            #expect(second == Guest.updated(band.address))
            #expect((await air.device(band.address) as? Band)?.memory.image == file.bytes)
        }
    }

    @Test("BLZ-22 the adapter is pulled out in the middle: 69, and with it again the same command goes on")
    func unplugged() async throws {
        try await interrupted(
            saying: "the adapter hci0 disappeared; plug it in again",
            by: { try await $0.setPlugged(false, adapter: 0) }, healedBy: { try await $0.setPlugged(true, adapter: 0) })
    }

    @Test("BLZ-17 another program switches the adapter off in the middle") func switchedOff() async throws {
        try await interrupted(
            saying: "the adapter hci0 was switched off (bluetoothctl power on)",
            by: { _ in try await OtherProgram().setPowered(false) },
            healedBy: { _ in
                let off = "dfu: the adapter hci0 is off; switch it on (bluetoothctl power on), or use --power-on"
                #expect(try await Guest.dfu("scan") == Guest.failed(69, off))
                try await OtherProgram().setPowered(true)
            })
    }

    @Test("BLZ-19 with --adapter hci1 all goes by that one, though hci0 hears the device") func second()
        async throws
    {
        let file = try ImageFile(3000)
        try await Lab.run([AdvertisedDevice(band)]) { air in
            try await air.setPlugged(true, adapter: 1)
            try await Guest.untilBluetoothdIsThere(adapter: "hci1")
            let other = try await OtherProgram()
            try await other.call("StartDiscovery", adapter: "hci0")
            try await other.call("StartDiscovery", adapter: "hci1")
            let daemon = try await BlueZDaemon.open()
            let address = band.address
            #expect(
                try await daemon.wait(.seconds(20)) { $0.devices().filter { $0.address == address }.count == 2 } != nil)
            let outcome = try await Guest.dfu("flash", file.path, "--device", "00:00:01", "--adapter", "hci1")
            #expect(outcome == Guest.updated(address, saying: "dfu: 00:00:01: it is \(address)"))
            #expect((await air.device(address) as? Band)?.memory.image == file.bytes)
            let tree = await daemon.tree
            #expect(!tree.gattServices(of: OtherProgram.path("hci1", device: address)).isEmpty)
            #expect(tree.gattServices(of: OtherProgram.path("hci0", device: address)).isEmpty)
            let missing = try await Guest.dfu("scan", "--adapter", "hci7")
            #expect(missing == Guest.failed(69, "dfu: there is no adapter hci7; there is hci0, hci1"))
            try await other.call("StopDiscovery", adapter: "hci0")
            try await air.setPlugged(false, adapter: 1)
        }
    }

    @Test("four devices at once by one adapter, each with the image byte by byte") func four() async throws {
        let file = try ImageFile(20_000)
        let bands = ["01", "02", "03", "04"].map { Band(at: $0) }
        try await Lab.run(bands.map { AdvertisedDevice($0) }) { air in
            let outcome = try await Guest.dfu(
                "flash", file.path, "--device", bands[0].address, "--device", bands[1].address, "--device",
                bands[2].address, "--device", bands[3].address, "--jobs", "4")
            #expect(outcome.status == 0)
            #expect(outcome.output.hasSuffix("\n4 of 4 devices updated\n"))
            for band in bands {
                #expect((await air.device(band.address) as? Band)?.memory.image == file.bytes, "\(band.address)")
            }
        }
    }
}
