// Packages for Nordic's bootloaders.
extension Package {
    mutating func readNordic(
        _ manifest: NordicManifest, in folder: String, of archive: inout ZipArchive
    ) throws(PackageError) {
        for key in manifest.unknownKeys {
            warnings.append(
                PackageWarning(
                    reason: "unknownKey", message: "the manifest has \(key), which is not known and was left out"))
        }
        guard !manifest.entries.isEmpty else {
            throw PackageError(
                .missing, reason: "noFirmware",
                message: "the manifest names no application, bootloader or SoftDevice; make the package again")
        }
        for entry in manifest.entries {
            do throws(PackageError) {
                let part = try part(entry, in: folder, of: &archive)
                parts.append(part)
            } catch {
                problems.append(error)
            }
        }
        decideGeneration(manifest)
        joinSystemParts()
        for part in parts { check(part, of: manifest) }
    }

    private mutating func part(
        _ entry: NordicManifest.Entry, in folder: String, of archive: inout ZipArchive
    ) throws(PackageError) -> Part {
        var initPacket: [UInt8]?
        if let file = entry.initPacketFile {
            do throws(PackageError) {
                let found = try self.entry(named: file, in: folder, of: archive)
                initPacket = try archive.read(found)
            } catch {
                problems.append(error)
            }
        }
        // What the init packet says is worth showing even where the firmware is gone.
        var part = Part(role: entry.role, fileName: entry.firmwareFile, firmware: [])
        do throws(PackageError) {
            let found = try self.entry(named: entry.firmwareFile, in: folder, of: archive)
            try setFirmware(try archive.read(found), of: &part)
        } catch {
            problems.append(error)
        }
        part.initPacketFileName = entry.initPacketFile
        if let initPacket { decode(initPacket, for: &part) }
        part.sizes = sizes(of: part, entry)
        return part
    }

    private mutating func setFirmware(_ bytes: [UInt8], of part: inout Part) throws(PackageError) {
        switch FileShape(of: bytes, named: "") {
        case .empty:
            throw PackageError(.malformed, reason: "emptyFirmware", message: "\(part.fileName) in the zip is empty")
        case .intelHex:
            do throws(PackageError) {
                let hex = try IntelHex(bytes)
                part.firmware = try flattened(hex.image.withoutMasterBootRecord, of: part.fileName)
                part.intelHex = hex
            } catch {
                throw error.naming(part.fileName)
            }
        case .mcuboot:
            part.firmware = bytes
            part.mcuboot = MCUbootImage(reading: bytes)
        case .zip, .binary, .foreign: part.firmware = bytes
        }
    }

    private mutating func decode(_ bytes: [UInt8], for part: inout Part) {
        let file = part.initPacketFileName ?? ""
        guard !bytes.isEmpty else {
            problems.append(
                PackageError(
                    .malformed, reason: "initPacketMalformed",
                    message: "the init packet \(file) is empty; make the package again"))
            return
        }
        guard bytes != part.firmware else {
            problems.append(
                PackageError(
                    .malformed, reason: "initPacketIsFirmware",
                    message: "the init packet \(file) has \(bytes.count) bytes and is no init packet but the firmware "
                        + "itself; the manifest's dat_file has to name the .dat file"))
            return
        }
        do throws(PackageError) {
            let packet = try InitPacket(decoding: bytes)
            part.initPacket = packet
            // Manifests have no key of their own for it.
            if case .secure(let secure) = packet, secure.imageType == .externalApplication, part.role == .application {
                part.role = .externalApplication
            }
        } catch {
            problems.append(error.naming(file))
        }
    }

    private func sizes(of part: Part, _ entry: NordicManifest.Entry) -> Part.Sizes {
        if case .secure(let packet) = part.initPacket {
            return Part.Sizes(
                softdevice: Int(packet.softdeviceSize ?? 0), bootloader: Int(packet.bootloaderSize ?? 0),
                application: Int(packet.applicationSize ?? 0))
        }
        return switch part.role {
        case .softdevice: Part.Sizes(softdevice: part.firmware.count)
        case .bootloader: Part.Sizes(bootloader: part.firmware.count)
        case .softdeviceBootloader:
            Part.Sizes(
                softdevice: Int(clamping: entry.softdeviceSize ?? 0),
                bootloader: Int(clamping: entry.bootloaderSize ?? 0))
        case .application, .externalApplication, .image, .firmware: Part.Sizes(application: part.firmware.count)
        }
    }

    /// The init packets tell the generation. `dfu_version` alone does not: many legacy packages lack it.
    private mutating func decideGeneration(_ manifest: NordicManifest) {
        var isSecure = false
        var isLegacy = false
        for part in parts {
            switch part.initPacket {
            case .secure: isSecure = true
            case .legacy: isLegacy = true
            case nil where part.initPacketFileName == nil: isLegacy = true
            case nil: break
            }
        }
        switch (isSecure, isLegacy) {
        case (true, false): kind = .nordicSecure
        case (false, true): kind = .nordicLegacy
        case (false, false): kind = manifest.isMarkedLegacy ? .nordicLegacy : .nordic
        case (true, true):
            problems.append(
                PackageError(
                    .malformed, reason: "mixedGenerations",
                    message: "the package has init packets of Secure DFU and of Legacy DFU; make one package of each"))
        }
    }

    /// SoftDevice and bootloader have to be sent in one piece. In packages without a manifest they lie side by side, with
    /// one init packet for both; with a manifest that is a fault of the maker.
    private mutating func joinSystemParts() {
        guard parts.count >= 2, parts[0].role == .softdevice || parts[0].role == .softdeviceBootloader,
            parts[1].role == .softdevice || parts[1].role == .bootloader
        else { return }
        guard manifest == nil else {
            problems.append(
                PackageError(
                    .malformed, reason: "conflictingParts",
                    message: "the manifest has \(parts[0].role.rawValue) and \(parts[1].role.rawValue) side by side, "
                        + "which have to be sent in one piece; make the package with softdevice_bootloader"))
            return
        }
        var joined = parts[0]
        joined.role = .softdeviceBootloader
        joined.fileName += " + \(parts[1].fileName)"
        joined.firmware += parts[1].firmware
        joined.sizes.bootloader = parts[1].sizes.bootloader
        parts.replaceSubrange(0..<2, with: [joined])
    }

    private mutating func check(_ part: Part, of manifest: NordicManifest) {
        // Where the firmware is gone, that has been said, and no size or hash can fit.
        switch part.initPacket {
        case .secure(let packet): check(part, against: packet)
        case .legacy(let packet):
            checkLegacySizes(part)
            check(part, against: packet)
            compare(packet, with: manifest.entries.first { $0.role == part.role }?.initPacketData, part)
        case nil where part.initPacketFileName == nil:
            checkLegacySizes(part)
            warnings.append(
                PackageWarning(
                    reason: "noInitPacket",
                    message: "\(part.fileName) comes without an init packet, "
                        + "so only bootloaders of nRF5 SDK 6 and older take it"))
        case nil: break
        }
    }
}

extension SparseImage {
    /// Without the page at 0, where Nordic's master boot record lies, which comes with a SoftDevice's HEX and is not
    /// updated; a bootloader's HEX does not reach there.
    fileprivate var withoutMasterBootRecord: SparseImage {
        let end = 0x1000
        var kept: [Segment] = []
        for segment in segments where segment.end > end {
            let skipped = max(0, end - Int(segment.address))
            kept.append(
                Segment(address: segment.address + UInt32(skipped), bytes: Array(segment.bytes.dropFirst(skipped))))
        }
        return SparseImage(segments: kept)
    }
}
