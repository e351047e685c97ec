import DFUProtocol
import DFUSimulator
import DFUTransport

/// A device of Secure DFU that does some things otherwise than it should.
struct AlteredDevice: AttributeDevice {
    /// What becomes of a packet; calling `pass` does what the device would do.
    typealias Rule = @Sendable (inout AlteredDevice, _ bytes: [UInt8], BluetoothUUID) -> [DeviceAction]

    var device: SecureDevice
    var rule: Rule = { device, bytes, uuid in device.pass(bytes, uuid) }
    /// What it shows instead of the device's services.
    var showing: @Sendable (SecureDevice) -> [GATTService] = { $0.services }
    /// What is heard besides the device's advertisements.
    var echoing: @Sendable (SecureDevice) -> [DeviceAdvertisement] = { _ in [] }

    /// How it answers a request; nil for what the device answers.
    var answering: @Sendable (inout AlteredDevice, AttributeRequest) -> AttributeAnswer? = { _, _ in nil }

    /// Packets that the control point, or what stands for it in an application, has taken.
    private(set) var requests = 0
    /// The type of the object that the last request was about.
    private(set) var object: UInt8 = 0
    /// How often the rule did something otherwise.
    var alterations = 0

    init(_ settings: SecureDevice.Settings, memory: SecureMemory? = nil) {
        device = SecureDevice(settings, memory: memory)
    }

    mutating func pass(_ bytes: [UInt8], _ characteristic: BluetoothUUID) -> [DeviceAction] {
        device.written(bytes, to: characteristic)
    }

    var address: String { device.address }
    var services: [GATTService] { showing(device) }
    var advertisements: [DeviceAdvertisement] { echoing(device) + device.advertisements }

    mutating func connected() { device.connected() }
    mutating func disconnected() { device.disconnected() }
    mutating func received(packets: Int) -> [DeviceAction] { device.received(packets: packets) }
    mutating func rebooted() { device.rebooted() }
    mutating func started() -> [DeviceAction] { device.started() }
    mutating func woken(_ token: Int) -> [DeviceAction] { device.woken(token) }
    func read(_ characteristic: BluetoothUUID) -> [UInt8]? { device.read(characteristic) }
    mutating func answer(_ request: AttributeRequest) -> AttributeAnswer {
        answering(&self, request) ?? device.answer(request)
    }

    mutating func written(_ bytes: [UInt8], to characteristic: BluetoothUUID) -> [DeviceAction] {
        if characteristic != SecureDFU.Attributes.packet {
            requests += 1
            if let opcode = bytes.first, [1, 6].contains(opcode), bytes.count > 1 { object = bytes[1] }
        }
        return rule(&self, bytes, characteristic)
    }
}

extension AlteredDevice {
    /// Answers a request of the bootloader, counted among those it applies to, otherwise.
    static func answering(
        _ opcode: UInt8, of object: UInt8, with answer: [UInt8], times: Int = .max
    ) -> Rule {
        { device, bytes, characteristic in
            guard device.device.isInBootloader, characteristic == SecureDFU.Attributes.controlPoint,
                bytes.first == opcode, device.object == object, device.alterations < times
            else { return device.pass(bytes, characteristic) }
            device.alterations += 1
            return [.notify(answer, from: characteristic, after: .zero)]
        }
    }

    /// Is told to enter its bootloader, or a name, and answers otherwise.
    static func entry(_ opcode: UInt8, _ actions: [DeviceAction], times: Int = .max) -> Rule {
        { device, bytes, characteristic in
            guard !device.device.isInBootloader, bytes.first == opcode, device.alterations < times else {
                return device.pass(bytes, characteristic)
            }
            device.alterations += 1
            return actions
        }
    }
}
