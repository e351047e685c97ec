import DFUPackage
import TestSupport

extension Package {
    /// Parts of a zip for Secure DFU, as they are to be made.
    struct SecureImage {
        var role = "application"
        var firmware: [UInt8]
        var signature: [UInt8]?

        var initPacket: [UInt8] {
            let types: [String: UInt8] = ["softdevice": 1, "bootloader": 2, "softdevice_bootloader": 3]
            let type = types[role] ?? 0
            var secure = SampleFirmware.Secure(type: type, signature: signature)
            switch role {
            case "softdevice": secure.softdeviceSize = firmware.count
            case "bootloader": secure.bootloaderSize = firmware.count
            case "softdevice_bootloader":
                secure.softdeviceSize = firmware.count - 1000
                secure.bootloaderSize = 1000
            default: break
            }
            return secure.packet(for: firmware)
        }
    }

    /// A zip for Secure DFU with these parts: version 1, hardware 52, SoftDevice 0x0100.
    static func secure(_ images: [SecureImage], named name: String = "app.zip") -> Package {
        let files = images.map { image in
            "\"\(image.role)\": {\"bin_file\": \"\(image.role).bin\", \"dat_file\": \"\(image.role).dat\"}"
        }
        var entries = [ZipMaker.Entry("manifest.json", "{\"manifest\": {\(files.joined(separator: ", "))}}")]
        for image in images {
            entries.append(ZipMaker.Entry("\(image.role).bin", image.firmware))
            entries.append(ZipMaker.Entry("\(image.role).dat", image.initPacket))
        }
        return Package(reading: ZipMaker.zip(entries), named: name)
    }

    /// A zip with an application of these bytes.
    static func secure(_ application: [UInt8]) -> Package { secure([SecureImage(firmware: application)]) }
}
