public import DFUKit
internal import DFUSimulator
private import DFUTransport

/// A link and a bootloader to measure transfers by Secure DFU on, and the bound that both have.
public struct MeasuredSecureLink: Sendable {
    /// How it is called.
    public let name: String
    /// What the connection can carry.
    let radio: RadioModel
    /// The shortest time for a transfer, and the times of the flash.
    public let bound: SecureDFUBound

    /// The links of `MeasuredLink`, with a flash that works in no time, and that of nRF5 SDK 17's bootloader as it is
    /// shipped: long packets in short pieces, 15 ms from event to event. Its flash is an nRF52840's: 85 ms for a page, and
    /// 41 µs for each word of a packet.
    public static let all = [
        MeasuredSecureLink(
            name: "1M, MTU 23", radio: .bluetooth40, bound: SecureDFUBound(events: .bluetooth40, packetSize: 20)),
        MeasuredSecureLink(
            name: "1M, MTU 247", radio: .bluetooth42, bound: SecureDFUBound(events: .bluetooth42, packetSize: 244)),
        MeasuredSecureLink(
            name: "2M, MTU 247", radio: .bluetooth50, bound: SecureDFUBound(events: .bluetooth50, packetSize: 244)),
        stock,
    ]

    private static let stock = {
        var events = ConnectionEvents.bluetooth40
        events.interval = 15_000
        return MeasuredSecureLink(
            name: "SDK 17 as shipped", radio: RadioModel(interval: .milliseconds(15), mtu: 247),
            bound: SecureDFUBound(events: events, packetSize: 244, eraseTime: 85_000, writeTime: 244 / 4 * 41))
    }()
}

/// A whole transfer by Secure DFU to a simulated bootloader in virtual time.
public struct MeasuredSecureTransfer: Sendable {
    /// From the first write to the answer to the last `execute`.
    public let total: Duration
    /// The shortest time that it could have taken.
    public let bound: Duration
    /// How it ended.
    public let result: Result<SecureDFU.Transfer.Outcome, ProcedureError>
    /// What it went through.
    public let statistics: SecureDFU.Statistics
    /// Whether the device has the image at the end.
    public let isInstalled: Bool

    /// Sends firmware of `size` bytes to a fresh device.
    public init(
        of size: Int, over link: MeasuredSecureLink, receipts: SecureDFU.Parameters.Receipts
    ) async throws {
        var settings = SecureDevice.Settings()
        settings.startsInBootloader = true
        settings.bootloader.capacity = 2 * size + 4096
        settings.bootloader.eraseTime = .microseconds(link.bound.eraseTime)
        settings.bootloader.writeTime = .microseconds(link.bound.writeTime)
        let device = SecureDevice(settings)
        let world = VirtualTime()
        let transport = SimulatedTransport([device], radio: link.radio, time: .virtual(world))
        let firmware = Firmware.bytes(size)
        let image = SecureDFU.Image(initPacket: SampleFirmware.secure(firmware), firmware: firmware)
        var parameters = SecureDFU.Parameters()
        parameters.receipts = receipts
        (total, result, statistics) = try await world.run { [parameters] in
            let peripheral = try await transport.connect(to: device.address, timeout: .seconds(10))
            let service = SecureDFU.Attributes.service
            let link = try await peripheral.openLink([
                .controlPoint: EndpointBinding(
                    service: service, characteristic: SecureDFU.Attributes.controlPoint, use: .writeAndNotify),
                .packet: EndpointBinding(
                    service: service, characteristic: SecureDFU.Attributes.packet, use: .writeWithoutResponse),
            ])
            var transfer = SecureDFU.Transfer(image, by: parameters, maximumWriteLength: link.maximumWriteLength)
            let start = world.now
            let result = await run(&transfer, over: link, clock: world)
            let total = start.duration(to: world.now)
            // The device restarts into the image.
            try await world.sleep(for: .seconds(10))
            return (total, result, transfer.statistics)
        }
        bound = .microseconds(link.bound.time(initPacket: image.initPacket.count, firmware: size))
        let left = transport.device(device.address) as? SecureDevice
        isInstalled = left?.memory.application?.firmware == firmware
    }

    /// How much of the bound was reached.
    public var share: Double { bound / total }

    /// Whether it went as it should, without a packet lost.
    public var isWhole: Bool { result == .success(.installed) && isInstalled && statistics.objectsResent == 0 }
}
