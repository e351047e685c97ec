// Whether a firmware and its init packet fit each other: what the bootloader will check at the end is checked before the
// start.
extension Package {
    mutating func check(_ part: Part, against packet: SecureInitPacket) {
        let file = part.initPacketFileName ?? "the init packet"
        if let type = packet.imageType {
            checkType(type, part, file)
        } else {
            add(.malformed, "initPacketMalformed", "\(file) does not say the type of the image, so it will be refused")
        }
        if let signature = packet.signature, signature.bytes.count != 64 {
            add(
                .malformed, "signatureLength",
                "the signature in \(file) has \(signature.bytes.count) bytes, and \(signature.type) has 64")
        }
        guard !part.firmware.isEmpty else { return }
        let size = part.sizes.softdevice + part.sizes.bootloader + part.sizes.application
        if size != part.firmware.count {
            add(
                .mismatch, "sizeMismatch",
                "\(part.fileName) has \(part.firmware.count) bytes, \(file) announces \(size): "
                    + "they are not of one build, or the file is damaged; make the package again")
        }
        checkHash(packet, part, file)
    }

    mutating func check(_ part: Part, against packet: LegacyInitPacket) {
        guard !part.firmware.isEmpty else { return }
        let file = part.initPacketFileName ?? "the init packet"
        switch packet.check {
        case .crc16(let crc), .extendedCRC16(let crc):
            let found = Checksum.crc16(part.firmware)
            if found != crc {
                add(
                    .mismatch, "crc16Mismatch",
                    "\(part.fileName) has the CRC-16 \(found.hexadecimal), \(file) says \(crc.hexadecimal): "
                        + "they are not of one build, or the file is damaged; make the package again")
            }
        case .sha256(let size, let hash), .signed(let size, let hash, _):
            if size != part.firmware.count {
                add(
                    .mismatch, "sizeMismatch",
                    "\(part.fileName) has \(part.firmware.count) bytes, \(file) announces \(size); "
                        + "make the package again")
            }
            let found = Checksum.digest(.sha256, part.firmware)
            if found != hash { add(.mismatch, "hashMismatch", hashMessage(part, file, found, hash)) }
        }
    }

    /// Legacy bootloaders write words, and are told the sizes before anything else.
    mutating func checkLegacySizes(_ part: Part) {
        let count = part.firmware.count
        guard count > 0 else { return }
        if count % 4 != 0 {
            add(
                .malformed, "sizeNotMultipleOf4",
                "\(part.fileName) has \(count) bytes, which is not a multiple of 4, and Legacy DFU takes nothing else; "
                    + "pad the firmware where it is built")
        }
        guard part.role == .softdeviceBootloader else { return }
        let (softdevice, bootloader) = (part.sizes.softdevice, part.sizes.bootloader)
        if softdevice == 0 || bootloader == 0 {
            add(
                .missing, "sizesMissing",
                "the manifest does not say sd_size and bl_size of \(part.fileName), without which Legacy DFU cannot "
                    + "start; make the package again")
        } else if softdevice.addingReportingOverflow(bootloader) != (count, false) {
            add(
                .mismatch, "sizeMismatch",
                "\(part.fileName) has \(count) bytes, the manifest says \(softdevice) for the SoftDevice and "
                    + "\(bootloader) for the bootloader; make the package again")
        } else if softdevice % 4 != 0 {
            add(
                .malformed, "sizeNotMultipleOf4",
                "the SoftDevice in \(part.fileName) has \(softdevice) bytes, which is not a multiple of 4")
        }
    }

    /// The manifest's copy of a legacy init packet is for people; a difference shows that someone changed one of them.
    mutating func compare(_ packet: LegacyInitPacket, with data: NordicManifest.InitPacketData?, _ part: Part) {
        guard let data else { return }
        let pairs: [(String, UInt64?, UInt64?)] = [
            ("device_type", data.deviceType, packet.deviceType.map(UInt64.init)),
            ("device_revision", data.deviceRevision, packet.deviceRevision.map(UInt64.init)),
            ("application_version", data.applicationVersion, packet.applicationVersion.map(UInt64.init)),
        ]
        let file = part.initPacketFileName ?? "the init packet"
        for (name, wanted, found) in pairs where wanted != nil && wanted != found {
            warnings.append(
                PackageWarning(
                    reason: "manifestDiffers",
                    message:
                        "the manifest says \(name) \(wanted ?? 0), \(file) \(found.map { "says \($0)" } ?? "has none")"
                        + "; the device goes by the latter"))
        }
    }

    private mutating func checkType(_ type: SecureInitPacket.ImageType, _ part: Part, _ file: String) {
        let fits =
            switch part.role {
            case .application, .externalApplication: type == .application || type == .externalApplication
            case .softdevice: type == .softdevice
            case .bootloader: type == .bootloader
            case .softdeviceBootloader: type == .softdeviceBootloader
            case .image, .firmware: false
            }
        if !fits {
            add(
                .mismatch, "imageTypeMismatch",
                "the manifest calls \(part.fileName) \(part.role.rawValue), \(file) says \(type); "
                    + "make the package again")
        }
    }

    private mutating func checkHash(_ packet: SecureInitPacket, _ part: Part, _ file: String) {
        guard packet.hashType == .sha256 else {
            add(
                .unsupported, "hashTypeUnsupported",
                "\(file) has the hash type \(packet.hashType?.description ?? "none"), and bootloaders accept SHA256 alone"
            )
            return
        }
        let found = Checksum.digest(.sha256, part.firmware)
        if packet.hash == found {
            warnings.append(
                PackageWarning(
                    reason: "hashNotReversed",
                    message:
                        "\(file) has the SHA-256 of \(part.fileName) in natural order; Nordic's bootloaders expect "
                        + "its bytes reversed and will refuse it at the end, unless the device's maker changed that"))
        } else if packet.hash != found.reversed() {
            add(.mismatch, "hashMismatch", hashMessage(part, file, found.reversed(), packet.hash))
        }
    }

    private func hashMessage(_ part: Part, _ file: String, _ found: [UInt8], _ wanted: [UInt8]) -> String {
        "\(part.fileName) has the SHA-256 \(found.hexadecimal), \(file) says \(wanted.hexadecimal): "
            + "they are not of one build, or the file is damaged; make the package again"
    }

    private mutating func add(_ code: PackageError.Code, _ reason: String, _ message: String) {
        problems.append(PackageError(code, reason: reason, message: message))
    }
}
