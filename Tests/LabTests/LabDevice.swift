import DFUProtocol
import DFUSimulator
import DFUTransport
import TestSupport

/// A device of the lab's with all kinds of attributes, and the way to it.
enum LabDevice {
    static let command = binding(0xABC1, .writeWithoutResponse)
    static let reply = binding(0xABC2, .notify)
    /// It is written with response, and read.
    static let control = binding(0xABC3, .write)

    private static func binding(_ uuid: UInt32, _ use: EndpointBinding.Use) -> EndpointBinding {
        EndpointBinding(
            service: BluetoothUUID(short: 0xABC0), characteristic: BluetoothUUID(short: uuid), use: use)
    }

    /// Runs `body` with a device that has these ways of its own, and a connection to it.
    static func run(
        radio: RadioModel = .lab, _ adjust: (inout GATTDevice) -> Void = { _ in },
        _ body: (Stage) async throws -> Void
    ) async throws {
        var device = GATTDevice(
            "C0:FF:EE:00:00:20",
            [(0xABC0, [(0xABC1, .writeWithoutResponse), (0xABC2, .notify), (0xABC3, [.read, .write])])])
        device.values[control.characteristic] = [1]
        adjust(&device)
        let record = AirRecord()
        try await Lab.run([AdvertisedDevice(device, name: "Device")], radio: radio, observer: record.observer) { air in
            let transport = try await BlueZTransport()
            let peripheral = try await transport.connect(to: device.address, timeout: .seconds(10))
            let client = try await BlueZClient()
            try await body(
                Stage(air: air, record: record, transport: transport, peripheral: peripheral, client: client))
            await peripheral.disconnect()
        }
    }

    /// What a test has at hand.
    struct Stage {
        let air: EmulatedRadio
        let record: AirRecord
        let transport: BlueZTransport
        let peripheral: any Peripheral
        /// Another program.
        let client: BlueZClient

        /// A characteristic, for the other program.
        func characteristic(_ binding: EndpointBinding) async throws -> BlueZCharacteristic {
            try await client.characteristic(binding.characteristic, of: peripheral.address)
        }
    }
}

/// What a link hears.
final class LinkRecord: Sendable {
    private let events = AsyncStream.makeStream(of: LinkEvent.self)

    init(_ link: any Link) {
        link.setReceiver { [events] in events.continuation.yield($0) }
    }

    /// The next events.
    func next(_ count: Int) async -> [LinkEvent] {
        var heard: [LinkEvent] = []
        for await event in events.stream.prefix(count) { heard.append(event) }
        return heard
    }
}
