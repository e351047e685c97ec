import DFUPackage
import DFUProtocol
import DFUSimulator
import DFUTransport

/// A simulated device and what its host does, without a radio: what is answered comes at once.
struct SecureBench {
    var device: SecureDevice
    /// What was notified, in order.
    private(set) var heard: [[UInt8]] = []
    /// What else the device did.
    private(set) var did: [DeviceAction] = []

    init(_ device: SecureDevice = SecureDevice()) {
        self.device = device
        connect()
    }

    mutating func connect() {
        device.connected()
        for characteristic in device.services.flatMap(\.characteristics)
        where !characteristic.properties.isDisjoint(with: [.notify, .indicate]) {
            perform(device.answer(.subscribe(characteristic.uuid)).before)
        }
    }

    /// Writes a request, and gives what was notified then.
    @discardableResult
    mutating func request(_ bytes: [UInt8], to characteristic: BluetoothUUID? = nil) -> [[UInt8]] {
        let place = characteristic ?? device.requested
        guard case .success = device.answer(.write(bytes, to: place)).outcome else { return [] }
        let before = heard.count
        perform(device.written(bytes, to: place))
        return Array(heard[before...])
    }

    @discardableResult
    mutating func send(_ bytes: [UInt8]) -> [[UInt8]] {
        let before = heard.count
        perform(device.written(bytes, to: .packet))
        return Array(heard[before...])
    }

    private mutating func perform(_ actions: [DeviceAction]) {
        for action in actions {
            if case .notify(let bytes, _, _) = action { heard.append(bytes) } else { did.append(action) }
        }
    }

    /// Wakes the device as it wished last, or last with this delay.
    mutating func wake(after delay: Duration? = nil) {
        for case .wake(let token, let time) in did.reversed() where delay ?? time == time {
            return perform(device.woken(token))
        }
    }

    /// Restarts it, as it has asked for, or because its power was gone.
    mutating func restart(powerless: Bool = false) {
        device.disconnected()
        if powerless { device.powerCycled() } else { device.rebooted() }
        did = []
        connect()
    }

    /// Sends an object whole.
    mutating func object(_ type: SecureDFU.ObjectType, _ bytes: [UInt8]) -> [[UInt8]] {
        request(SecureDFU.Request.create(type, size: UInt32(bytes.count)).encoded)
        for start in stride(from: 0, to: bytes.count, by: 244) {
            send(Array(bytes[start..<min(start + 244, bytes.count)]))
        }
        return request([0x04])
    }

    /// Sends an image whole: what the last `execute` of the init packet and of the data was answered.
    mutating func install(_ image: SampleImage) -> [[UInt8]] {
        var answers = object(.command, image.initPacket)
        guard answers == [[0x60, 0x04, 0x01]] else { return answers }
        for start in stride(from: 0, to: image.firmware.count, by: 4096) {
            answers = object(.data, Array(image.firmware[start..<min(start + 4096, image.firmware.count)]))
        }
        return answers
    }
}

/// An image with an init packet, without a signature.
struct SampleImage {
    var version: UInt64 = 2
    var hardware: UInt64 = 52
    var softdevice: UInt64 = 0x0100
    var type: UInt64 = 0
    var sizes: (softdevice: Int, bootloader: Int)?
    var firmware = [UInt8](repeating: 0x5A, count: 5000)

    /// How it is signed; nil: not at all.
    var signature: (type: UInt64, bytes: [UInt8])?

    var initPacket: [UInt8] {
        let command = number(1, 1) + message(2, initCommand)
        guard let signature else { return message(1, command) }
        return message(2, message(1, command) + number(2, signature.type) + message(3, signature.bytes))
    }

    private var initCommand: [UInt8] {
        let digest = Array(Checksum.digest(.sha256, firmware).reversed())
        let application = sizes.map { firmware.count - $0.softdevice - $0.bootloader } ?? firmware.count
        return number(1, version) + number(2, hardware) + message(3, varint(softdevice)) + number(4, type)
            + number(5, UInt64(sizes?.softdevice ?? 0)) + number(6, UInt64(sizes?.bootloader ?? 0))
            + number(7, UInt64(application)) + message(8, number(1, 3) + message(2, digest))
    }

    private func varint(_ number: UInt64) -> [UInt8] {
        number < 0x80 ? [UInt8(number)] : [UInt8(number & 0x7F) | 0x80] + varint(number >> 7)
    }

    private func number(_ field: UInt8, _ value: UInt64) -> [UInt8] { [field << 3] + varint(value) }

    private func message(_ field: UInt8, _ content: [UInt8]) -> [UInt8] {
        [field << 3 | 2] + varint(UInt64(content.count)) + content
    }
}

extension BluetoothUUID {
    static let controlPoint = nordic("8ec90001")
    static let packet = nordic("8ec90002")
    static let buttonless = nordic("8ec90003")
    static let bondedButtonless = nordic("8ec90004")
    static let experimentalButtonless = nordic("8e400001")
    static let firmwareRevision = BluetoothUUID(short: 0x2A26)

    private static func nordic(_ number: String) -> BluetoothUUID {
        guard let uuid = BluetoothUUID(number + "-f315-4f60-9fb8-838830daea50") else {
            preconditionFailure("\(number) has eight digits")
        }
        return uuid
    }
}

extension SecureDevice {
    /// What requests are written to.
    fileprivate var requested: BluetoothUUID {
        services.flatMap(\.characteristics).first { $0.properties.contains(.write) }?.uuid ?? .controlPoint
    }
}
