internal import DFUPackage
internal import DFUProtocol

/// A part of a package that goes by Secure DFU.
struct SecurePart: Sendable {
    let part: Part
    let packet: SecureInitPacket
    let image: SecureDFU.Image

    init(_ part: Part, _ packet: SecureInitPacket) {
        self.part = part
        self.packet = packet
        image = SecureDFU.Image(initPacket: packet.bytes, firmware: part.firmware)
    }

    var byteCount: Int { part.firmware.count }

    /// Whether it replaces the bootloader or the SoftDevice, after which the device comes back for what is left.
    var isSystem: Bool {
        switch part.role {
        case .bootloader, .softdevice, .softdeviceBootloader: true
        case .application, .externalApplication, .image, .firmware: false
        }
    }

    // MARK: What it asks of a device

    /// What it is, and all that the init packet asks for, for people.
    var description: String { "\(part.role.words), \(demands)" }

    /// All that the init packet asks for: `hw 52, sd_req 0x0100, fw version 1, size 10000, signed`.
    var demands: String {
        [
            "hw \(hardwareVersion)", "sd_req \(softdevices)", "fw version \(firmwareVersion)", "size \(byteCount)",
            packet.signature == nil ? "not signed" : "signed",
        ].joined(separator: ", ")
    }

    /// The SoftDevices that it runs with, as `dfu info` shows them.
    var softdevices: String {
        let ids = packet.softdevices.map { "0x" + (UInt16(exactly: $0)?.hexadecimal ?? $0.hexadecimal) }
        return ids.isEmpty ? "none" : ids.joined(separator: ", ")
    }

    var firmwareVersion: String { packet.firmwareVersion.map { "\($0)" } ?? "none" }

    var hardwareVersion: String { packet.hardwareVersion.map { "\($0)" } ?? "none" }
}

extension Part.Role {
    /// What people call it.
    var words: String {
        switch self {
        case .application: "application"
        case .bootloader: "bootloader"
        case .softdevice: "SoftDevice"
        case .softdeviceBootloader: "SoftDevice and bootloader"
        case .externalApplication: "external application"
        case .image: "image"
        case .firmware: "firmware"
        }
    }

    /// What `--only` calls it.
    var optionWord: String {
        rawValue.map { $0 == "_" ? "-" : String($0) }.joined()
    }
}
