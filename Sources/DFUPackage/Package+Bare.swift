// Firmware without a package around it.
extension Package {
    mutating func readBinary(_ bytes: [UInt8]) {
        kind = .binary
        addPart(Part(role: .firmware, fileName: fileName, firmware: bytes))
        if let problem = statedName.problem { problems.append(problem) }
    }

    /// An image proves itself by its digest, so a number in its name that is not its CRC-32 is no fault: it may be the
    /// commit that it was built from. Block-ack, which has nothing but the name, asks `statedName` again.
    mutating func readMCUboot(_ bytes: [UInt8]) {
        kind = .mcuboot
        var part = Part(role: .image, fileName: fileName, firmware: bytes)
        part.imageIndex = 0
        problems += part.mcuboot?.problems ?? []
        addPart(part)
    }

    mutating func readIntelHex(_ bytes: [UInt8]) throws(PackageError) {
        kind = .intelHex
        let hex = try IntelHex(bytes)
        var part = Part(role: .firmware, fileName: fileName, firmware: try flattened(hex.image, of: fileName))
        part.intelHex = hex
        addPart(part)
        // A CRC-32 in the name may be meant of the text as well as of the firmware.
        guard let problem = FileName(fileName, crc32: Checksum.crc32(part.firmware)).problem else {
            statedName = FileName(fileName, crc32: Checksum.crc32(part.firmware))
            return
        }
        if statedName.problem != nil { problems.append(problem) }
    }

    /// The bytes of an image without the chip's configuration words, which no bootloader writes.
    ///
    /// Nordic's linker scripts put them (UICR, 0x10001000) into the same file as the program.
    mutating func flattened(_ image: SparseImage, of file: String) throws(PackageError) -> [UInt8] {
        let registers: Range<UInt32> = 0x1000_1000..<0x1000_2000
        guard let first = image.segments.first, first.address < registers.lowerBound else {
            return try image.flattened().bytes
        }
        let kept = image.segments.filter { !registers.contains($0.address) }
        if kept.count < image.segments.count {
            warnings.append(
                PackageWarning(
                    reason: "registersLeftOut",
                    message: "\(file) has data for the chip's configuration words at 0x10001000, which was left out"))
        }
        return try SparseImage(segments: kept).flattened().bytes
    }

    private mutating func addPart(_ part: Part) {
        var part = part
        part.sizes.application = part.firmware.count
        parts.append(part)
    }
}
