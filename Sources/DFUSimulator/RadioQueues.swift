import DFUTransport

/// What both sides of a connection have still to send, and what one connection event carries of it: a value, no clock.
struct RadioQueues<HostPacket: Sendable, DevicePacket: Sendable>: Sendable {
    /// What a connection event has carried.
    struct Event {
        /// The packets that have arrived whole at the device.
        var toDevice: [HostPacket] = []
        /// The packets that have arrived whole at the host.
        var toHost: [DevicePacket] = []
        /// How many link-layer packets with something in them the host has sent.
        var hostPackets = 0
        /// How long the radio was busy.
        var duration = Duration.zero
    }

    private struct Side<Packet: Sendable>: Sendable {
        private var packets = Queue<(packet: Packet, length: Int)>()
        /// What is left of the first packet.
        private var rest = 0

        var isEmpty: Bool { packets.isEmpty }

        mutating func append(_ packet: Packet, length: Int) {
            if packets.isEmpty { rest = length }
            packets.append((packet, length))
        }

        func fragment(_ dataLength: Int) -> Int {
            min(rest, dataLength)
        }

        /// Sends a fragment, and gives the packet that it completes.
        mutating func send(_ fragment: Int) -> Packet? {
            rest -= fragment
            guard rest == 0, let sent = packets.popFirst() else { return nil }
            rest = packets.first?.length ?? 0
            return sent.packet
        }
    }

    private let radio: RadioModel
    private var host = Side<HostPacket>()
    private var device = Side<DevicePacket>()

    init(radio: RadioModel) {
        self.radio = radio
    }

    /// Whether a connection event would carry nothing.
    var isEmpty: Bool { host.isEmpty && device.isEmpty }

    /// Queues a packet of the host, given the length of its attribute packet.
    mutating func send(_ packet: HostPacket, attributeLength: Int) {
        host.append(packet, length: attributeLength + Self.l2capHeader)
    }

    /// Queues a packet of the device, given the length of its attribute packet.
    mutating func answer(_ packet: DevicePacket, attributeLength: Int) {
        device.append(packet, length: attributeLength + Self.l2capHeader)
    }

    /// Lets one connection event pass.
    mutating func passEvent() -> Event {
        var event = Event()
        var exchanges = 0
        while !isEmpty, exchanges < radio.packetsPerEvent ?? .max {
            let fromHost = host.fragment(radio.dataLength)
            let fromDevice = device.fragment(radio.dataLength)
            let duration = event.duration + radio.exchangeTime(host: fromHost, device: fromDevice)
            // The first goes even where the interval is too short for it.
            guard duration <= radio.interval || exchanges == 0 else { break }
            event.duration = duration
            exchanges += 1
            if fromHost > 0 { event.hostPackets += 1 }
            if let packet = host.send(fromHost) { event.toDevice.append(packet) }
            if let packet = device.send(fromDevice) { event.toHost.append(packet) }
        }
        return event
    }

    private static var l2capHeader: Int { 4 }
}
