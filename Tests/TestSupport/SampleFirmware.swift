private import DFUPackage

/// Firmware and init packets as Nordic's generators make them, in small.
package enum SampleFirmware {
    /// Bytes that never repeat.
    package static func bytes(_ count: Int, seed: UInt8 = 0) -> [UInt8] {
        var bytes: [UInt8] = []
        var block = [seed]
        while bytes.count < count {
            block = Checksum.digest(.sha256, block)
            bytes += block
        }
        return Array(bytes.prefix(count))
    }

    /// An InitCommand's fields; what is nil is left out.
    package struct Secure {
        package var type: UInt8?
        package var softdeviceSize: Int
        package var bootloaderSize: Int
        package var applicationSize: Int?
        package var hashType: UInt8
        package var hash: [UInt8]?
        package var signature: [UInt8]?
        /// Fields of the outer message that no specification has.
        package var extra: [UInt8]

        package init(
            type: UInt8? = 0, softdeviceSize: Int = 0, bootloaderSize: Int = 0, applicationSize: Int? = nil,
            hashType: UInt8 = 3, hash: [UInt8]? = nil, signature: [UInt8]? = nil, extra: [UInt8] = []
        ) {
            self.type = type
            self.softdeviceSize = softdeviceSize
            self.bootloaderSize = bootloaderSize
            self.applicationSize = applicationSize
            self.hashType = hashType
            self.hash = hash
            self.signature = signature
            self.extra = extra
        }

        /// The packet for `image`.
        package func packet(for image: [UInt8]) -> [UInt8] {
            let hash = hash ?? Checksum.digest(.sha256, image).reversed()
            var command: [UInt8] = Wire.number(1, 1) + Wire.number(2, 52) + Wire.bytes(3, [0x80, 2])
            if let type { command += Wire.number(4, Int(type)) }
            command += Wire.number(5, softdeviceSize) + Wire.number(6, bootloaderSize)
            command += Wire.number(7, applicationSize ?? (type == 0 ? image.count : 0))
            command += Wire.bytes(8, Wire.number(1, Int(hashType)) + Wire.bytes(2, hash))
            let inner = Wire.number(1, 1) + Wire.bytes(2, command)
            guard let signature else { return Wire.bytes(1, inner) + extra }
            return Wire.bytes(2, Wire.bytes(1, inner) + Wire.number(2, 0) + Wire.bytes(3, signature)) + extra
        }
    }

    package static func secure(_ image: [UInt8]) -> [UInt8] { Secure().packet(for: image) }

    package static func legacy(_ image: [UInt8]) -> [UInt8] {
        [0x52, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, 0, 0xFE, 0xFF] + littleEndian(Checksum.crc16(image))
    }

    /// Writes protobuf.
    package enum Wire {
        package static func varint(_ number: Int) -> [UInt8] {
            number < 0x80 ? [UInt8(number)] : [UInt8(number & 0x7F | 0x80)] + varint(number >> 7)
        }

        package static func number(_ field: Int, _ value: Int) -> [UInt8] { varint(field << 3) + varint(value) }

        package static func bytes(_ field: Int, _ content: [UInt8]) -> [UInt8] {
            varint(field << 3 | 2) + varint(content.count) + content
        }
    }

    /// An MCUboot image of version 1.2.3 with its SHA-256.
    package static func mcuboot(_ program: [UInt8]) -> [UInt8] {
        var header: [UInt8] = [0x3D, 0xB8, 0xF3, 0x96, 0, 0, 0, 0, 32, 0, 0, 0]
        header += littleEndian(UInt32(program.count)) + [0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        let digest = Checksum.digest(.sha256, header + program)
        return header + program + [0x07, 0x69, 40, 0, 0x10, 0, 32, 0] + digest
    }
}
