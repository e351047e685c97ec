import DFUPackage

/// What `dfu info` tells of one image of a package.
struct PartDescription: Encodable, Equatable {
    /// How the firmware divides, in bytes.
    struct Sizes: Encodable, Equatable {
        var softdevice: Int
        var bootloader: Int
        var application: Int
    }

    var role: Part.Role
    var imageIndex: Int?
    var slot: Int?
    var file: String
    /// The bytes that are sent.
    var size: Int
    /// Of the bytes that are sent; nil where there are none.
    var sha256: String?
    var sizes: Sizes
    /// The version in an MCUboot header, else the number in an init packet.
    var version: String?
    var initPacket: InitPacketDescription?
    var mcuboot: MCUbootDescription?
    var intelHex: IntelHexDescription?

    init(_ part: Part, key: SignatureKey? = nil) {
        role = part.role
        imageIndex = part.imageIndex
        slot = part.slot
        file = part.fileName
        size = part.firmware.count
        if !part.firmware.isEmpty { sha256 = Checksum.digest(.sha256, part.firmware).hexadecimal }
        sizes = Sizes(
            softdevice: part.sizes.softdevice, bootloader: part.sizes.bootloader, application: part.sizes.application)
        initPacket = part.initPacket.map { packet in
            InitPacketDescription(packet, file: part.initPacketFileName ?? "", firmware: part.firmware, key: key)
        }
        mcuboot = part.mcuboot.map(MCUbootDescription.init)
        intelHex = part.intelHex.map(IntelHexDescription.init)
        version = mcuboot?.version ?? initPacket?.version
    }
}

/// What `dfu info` tells of an Intel HEX file.
struct IntelHexDescription: Encodable, Equatable {
    /// Bytes without a gap.
    struct Segment: Encodable, Equatable {
        var address: UInt32
        var size: Int
    }

    var startAddress: UInt32?
    /// Bytes in the file, gaps left out.
    var size: Int
    var segments: [Segment]

    init(_ hex: IntelHex) {
        startAddress = hex.startAddress
        size = hex.image.count
        segments = hex.image.segments.map { Segment(address: $0.address, size: $0.bytes.count) }
    }
}
