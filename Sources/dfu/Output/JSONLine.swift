import DFUProtocol
import DFUTransport
import FoundationEssentials

/// One line of `--json`: what happened, when, and to which device.
struct JSONLine: Encodable {
    /// What happened.
    enum Event {
        case start(version: String)
        case phase(Phase, part: Int, parts: Int)
        case progress(bytes: Int, total: Int, bytesPerSecond: Double?, secondsLeft: Double?)
        case warning(reason: String, message: String)
        /// A device is in range, or something of it has changed.
        case scanned(ScannedDevice)
        /// A device is not in range any more.
        case gone
        /// What a characteristic was read as.
        case value(CharacteristicID.Match, [UInt8])
        /// What a characteristic notified.
        case notification(CharacteristicID.Match, [UInt8])
        case result(Result)
        /// A bus that simulated devices are on.
        case bus(address: String)
        /// A simulated device that is in range now.
        case device(name: String?)
        /// Something that happened to a simulated device.
        case simulated(String)
    }

    /// How it ended for a device, or for the whole run.
    struct Result {
        struct Firmware {
            var version: String?
            var versionBefore: String?
            var hash: String?
        }

        var status: ExitStatus
        var reason: String?
        var deviceCode: Int?
        var phase: Phase?
        var deviceState: String?
        var message: String
        var protocolName: String?
        var bytes = 0
        var seconds = 0.0
        var attempts = 0
        var retries = 0
        var firmware = Firmware()
    }

    /// The device that a line is about.
    struct Device {
        /// The address of the unit as asked, or the ID as typed while it is not resolved.
        var device: String
        /// The ID as typed.
        var id: String
        /// The address now spoken to.
        var address: String?
        /// Whether it is no device at all.
        var isSimulated = false
    }

    var event: Event
    /// When it happened: RFC 3339 with milliseconds.
    var time: String
    /// Nil for what is about the whole run.
    var device: Device?

    init(_ event: Event, device: Device? = nil, at date: Date = .now) {
        self.event = event
        self.device = device
        time = Self.text(of: date)
    }

    /// A time: RFC 3339 with milliseconds.
    static func text(of date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// The time now.
    static var now: String { text(of: .now) }

    /// The line, without a line break.
    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self) else {
            preconditionFailure("A line of texts and finite numbers is always encodable")
        }
        return String(decoding: data, as: UTF8.self)
    }

    private enum Key: String, CodingKey {
        case event, time, device, id, address
        case schema, version
        case phase, part, parts
        case bytes, total, fraction, bytesPerSecond, etaSeconds
        case message, reason
        case ok, status, name, deviceCode, deviceState, `protocol`, seconds, attempts, retries, firmware, simulated
        case versionBefore, hash
        case service, characteristic, value, text
    }

    func encode(to encoder: any Encoder) throws {
        var line = encoder.container(keyedBy: Key.self)
        try line.encode(time, forKey: .time)
        if let device {
            try line.encode(device.device, forKey: .device)
            try line.encode(device.id, forKey: .id)
            try line.encodeIfPresent(device.address, forKey: .address)
        }
        switch event {
        case .start(let version):
            try line.encode("start", forKey: .event)
            try line.encode(1, forKey: .schema)
            try line.encode(version, forKey: .version)
        case .phase(let phase, let part, let parts):
            try line.encode("phase", forKey: .event)
            try line.encode(phase, forKey: .phase)
            try line.encode(part, forKey: .part)
            try line.encode(parts, forKey: .parts)
        case .progress(let bytes, let total, let bytesPerSecond, let secondsLeft):
            try line.encode("progress", forKey: .event)
            try line.encode(bytes, forKey: .bytes)
            try line.encode(total, forKey: .total)
            try line.encode(fraction(bytes, total), forKey: .fraction)
            try line.encode(bytesPerSecond.map { $0.rounded(toDecimals: 1) }, forKey: .bytesPerSecond)
            try line.encode(secondsLeft.map { $0.rounded(toDecimals: 1) }, forKey: .etaSeconds)
        case .warning(let reason, let message):
            try line.encode("warning", forKey: .event)
            try line.encode(reason, forKey: .reason)
            try line.encode(message, forKey: .message)
        case .scanned(let device):
            try line.encode("device", forKey: .event)
            try device.encode(to: encoder)
        case .gone: try line.encode("gone", forKey: .event)
        case .value(let characteristic, let bytes):
            try line.encode("value", forKey: .event)
            try encode(bytes, of: characteristic, into: &line)
        case .notification(let characteristic, let bytes):
            try line.encode("notification", forKey: .event)
            try encode(bytes, of: characteristic, into: &line)
        case .result(let result):
            try line.encode("result", forKey: .event)
            if device == nil {
                try line.encodeNil(forKey: .device)
            }
            try encode(result, into: &line)
        case .bus(let address):
            try line.encode("bus", forKey: .event)
            try line.encode(address, forKey: .address)
        case .device(let name):
            try line.encode("device", forKey: .event)
            try line.encode(name, forKey: .name)
        case .simulated(let event):
            try line.encode(event, forKey: .event)
        }
    }

    private func encode(_ result: Result, into line: inout KeyedEncodingContainer<Key>) throws {
        try line.encode(result.status == .ok, forKey: .ok)
        try line.encode(result.status.rawValue, forKey: .status)
        try line.encode(result.status.name, forKey: .name)
        try line.encode(result.reason, forKey: .reason)
        try line.encode(result.message, forKey: .message)
        guard let device else { return }
        try line.encode(result.deviceCode, forKey: .deviceCode)
        try line.encode(result.phase, forKey: .phase)
        try line.encode(result.deviceState, forKey: .deviceState)
        try line.encode(result.protocolName, forKey: .protocol)
        try line.encode(result.bytes, forKey: .bytes)
        try line.encode(result.seconds.rounded(toDecimals: 3), forKey: .seconds)
        try line.encode(result.attempts, forKey: .attempts)
        try line.encode(result.retries, forKey: .retries)
        try line.encode(device.isSimulated, forKey: .simulated)
        var firmware = line.nestedContainer(keyedBy: Key.self, forKey: .firmware)
        try firmware.encode(result.firmware.version, forKey: .version)
        try firmware.encode(result.firmware.versionBefore, forKey: .versionBefore)
        try firmware.encode(result.firmware.hash, forKey: .hash)
    }

    private func encode(
        _ bytes: [UInt8], of match: CharacteristicID.Match, into line: inout KeyedEncodingContainer<Key>
    ) throws {
        try line.encode(match.service.description, forKey: .service)
        try line.encode(match.characteristic.uuid.description, forKey: .characteristic)
        try line.encode(bytes.map { $0.hexadecimal.lowercased() }.joined(), forKey: .value)
        try line.encodeIfPresent(String(validating: bytes, as: UTF8.self), forKey: .text)
    }

    /// Rounded down, so that it is 1 only when all bytes are acknowledged.
    private func fraction(_ bytes: Int, _ total: Int) -> Double {
        total > 0 ? (Double(bytes) / Double(total) * 10_000).rounded(.down) / 10_000 : 0
    }
}

extension Double {
    fileprivate func rounded(toDecimals decimals: Int) -> Double {
        let scale = (0..<decimals).reduce(1.0) { scale, _ in scale * 10 }
        return (self * scale).rounded() / scale
    }
}
