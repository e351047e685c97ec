import DFUSimulator
import DFUTransport
import TestSupport
import Testing

/// `bluetoothd` ends, stays away and comes back.
@Suite(.lab) struct DaemonTests {
    private let band = Band()

    @Test("BLZ-22 bluetoothd is killed in the middle: 69, and the same command goes on where the device says")
    func killed() async throws {
        let file = try ImageFile(20_000)
        let count = WriteCount(700)
        let writes = Locked(0)
        try await Lab.run(
            [AdvertisedDevice(band)],
            observer: { event, device in
                if case .written = event.kind { writes.withLock { $0 += 1 } }
                count.note(event, device)
            }
        ) { air in
            let process = try await Guest.bluetoothd()
            count.whenReached { Guest.end(process) }
            let first = try await Guest.dfu("flash", file.path, "--device", band.address)
            #expect(
                first
                    == Guest.failed(
                        69, "dfu: \(band.address): reconnect: the Bluetooth service was stopped or restarted"))
            try await Guest.untilBluetoothdIsThere()
            let before = writes.withLock { $0 }
            let second = try await Guest.dfu("flash", file.path, "--device", band.address)
            #expect(second == Guest.updated(band.address))
            #expect((await air.device(band.address) as? Band)?.memory.image == file.bytes)
            #expect(writes.withLock { $0 } - before < 900, "what the device has is not sent again")
        }
    }

    @Test("BLZ-17 bluetoothd is not there") func absent() async throws {
        let file = try ImageFile(1000)
        try await Lab.run([AdvertisedDevice(band)]) { _ in
            let process = try await Guest.bluetoothd()
            Guest.keepBluetoothdAway(true)
            Guest.end(process)
            let outcome = try await Guest.dfu("flash", file.path, "--device", band.address)
            Guest.keepBluetoothdAway(false)
            try await Guest.untilBluetoothdIsThere()
            #expect(
                outcome
                    == Guest.failed(
                        69,
                        "dfu: the Bluetooth service is not running; start it (systemctl start bluetooth) or install bluez"
                    ))
        }
    }
}
