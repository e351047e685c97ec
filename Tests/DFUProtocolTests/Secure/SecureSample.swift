import DFUProtocol

/// Images and bootloaders for the tests of Secure DFU.
enum SecureSample {
    /// Bytes without a pattern that a swap or a shift would leave alone.
    static func bytes(_ count: Int, seed: UInt32 = 0x2545_F491) -> [UInt8] {
        var state = seed
        return (0..<count).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: state >> 24)
        }
    }

    static func image(_ count: Int, initPacket: Int = 132) -> SecureDFU.Image {
        SecureDFU.Image(initPacket: bytes(initPacket, seed: 7), firmware: bytes(count))
    }

    /// Small objects, so that every write of a transfer can be tried: three of them, the last one shorter.
    static let small = image(64 + 64 + 45, initPacket: 50)

    static func smallDevice(_ memory: SecureBootloader.Memory = .kept) -> SecureBootloader {
        var device = SecureBootloader(firmwareSize: small.firmware.count)
        device.maximumObject = 64
        device.memory = memory
        return device
    }

    static func device(for image: SecureDFU.Image) -> SecureBootloader {
        SecureBootloader(firmwareSize: image.firmware.count)
    }
}
