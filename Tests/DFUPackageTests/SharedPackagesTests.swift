import DFUPackage
import FoundationEssentials
import TestSupport
import Testing

/// Packages of public makers, where they are present, against what the makers' own tools say of them.
@Suite(.enabled(if: SharedFolder.path("fixtures/made/nrfutil") != nil))
struct MadePackagesTests {
    @Test(arguments: Sidecar.all(in: "nrfutil"))
    func nrfutil(_ name: String) throws {
        let sidecar = try Sidecar("made/nrfutil/\(name)")
        let package = try Package.open(sidecar.path)
        #expect(package.kind == .nordicSecure)
        #expect(package.problems == [])
        #expect(package.sha256.text == sidecar.hashes.sha256)
        #expect(package.size == sidecar.hashes.size)
        let images = try #require(sidecar.reader.images)
        try expect(package, images)
        for image in sidecar.display?.images ?? [] { try expectDisplay(package, image) }
    }

    @Test(arguments: Sidecar.all(in: "legacy"))
    func legacy(_ name: String) throws {
        let sidecar = try Sidecar("made/legacy/\(name)")
        let package = try Package.open(sidecar.path)
        #expect(package.kind == .nordicLegacy)
        let images = try #require(sidecar.reader.images)
        // The generators take images of any size; the bootloaders do not.
        let isOdd = images.contains { ($0.bin?.size ?? 0) % 4 != 0 }
        // And they can leave every field out, so that four bytes are left, which no bootloader and no reader takes.
        let isStripped = images.contains { $0.initPacket?.format == "unknown" }
        let reasons = isOdd ? ["sizeNotMultipleOf4"] : isStripped ? ["initPacketMalformed"] : []
        #expect(package.problems.map(\.reason) == reasons)
        guard !isStripped else { return }
        #expect(package.warnings == [])
        try expect(package, images)
    }

    @Test(arguments: Sidecar.all(in: "ncs"))
    func ncs(_ name: String) throws {
        let sidecar = try Sidecar("made/ncs/\(name)")
        let package = try Package.open(sidecar.path)
        #expect(package.kind == .connectSDK)
        #expect(package.problems == [])
        #expect(package.warnings == [])
        try expect(package, try #require(sidecar.reader.images))
    }

    /// nrfutil's own words, which its authors, not ours, decoded.
    private func expectDisplay(_ package: Package, _ image: [String: String]) throws {
        let file = try #require(image["Image file"])
        let part = try #require(package.parts.first { $0.fileName == file })
        guard case .secure(let packet) = part.initPacket else {
            Issue.record("no secure init packet")
            return
        }
        #expect(image["type"] == packet.imageType?.description)
        #expect(image["sd_size"] == packet.softdeviceSize.map { "\($0)" })
        #expect(image["bl_size"] == packet.bootloaderSize.map { "\($0)" })
        #expect(image["app_size"] == packet.applicationSize.map { "\($0)" })
        #expect(image["hash_type"] == packet.hashType?.description)
        #expect(image["hash (little-endian)"] == "b'\(packet.hash.text)'")
        #expect(image["is_debug"] == (packet.isDebug == true ? "True" : "False"))
        if let version = packet.firmwareVersion {
            #expect(image["fw_version"]?.hasSuffix("(\(version))") == true)
        }
        #expect(image["signature (little-endian)"] == (packet.signature.map { "b'\($0.bytes.text)'" } ?? "N/A"))
        #expect(
            image["sd_req"]
                == packet.softdevices.map { $0 == 0 ? "0x00" : "0x" + String($0, radix: 16, uppercase: true) }
                .joined(separator: ", "))
    }
}

/// Packages that projects shipped, against the index made of them with other tools.
@Suite(.enabled(if: SharedFolder.path("fixtures/real/index.json") != nil))
struct RealPackagesTests {
    @Test(arguments: RealFile.zips())
    func zip(_ file: RealFile) throws {
        let path = try #require(SharedFolder.path("fixtures/real/\(file.file)"))
        let package = try Package.open(path)
        #expect(package.sha256.text == file.sha256)
        switch file.kind {
        case "nordic-secure": #expect(package.kind == .nordicSecure)
        // "unknown" are init packets of two bytes, the form of SDK 4 to 6.
        case "nordic-legacy", "nordic-unknown": #expect(package.kind == .nordicLegacy)
        case "ncs-dfu_application": #expect(package.kind == .connectSDK)
        case "zip-unrelated":
            #expect(package.kind == .zip)
            #expect(package.problems.map(\.reason) == ["manifestMissing"])
            return
        default: Issue.record("a kind that is not expected: \(file.kind)")
        }
        #expect(package.problems == [])
        try expect(package, try #require(file.read.images))
    }

    /// Some HEX files are of a whole chip, with more between their pieces than is filled.
    @Test(arguments: RealFile.bare())
    func bare(_ file: RealFile) throws {
        let package = try Package.open(try #require(SharedFolder.path("fixtures/real/\(file.file)")))
        let kinds: [String: Package.Kind] = ["mcuboot": .mcuboot, "hex": .intelHex, "bin": .binary]
        #expect(package.kind == kinds[file.kind])
        let problems = package.problems.map(\.reason)
        #expect(problems == [] || file.kind == "hex" && problems == ["gapTooLarge"], "\(package.problems)")
        #expect(package.parts.count == (problems.isEmpty ? 1 : 0))
    }

    @Test func thereAreThirtyAndMore() {
        #expect(RealFile.zips().count > 30)
    }
}

/// Compares the parts with what another reader found.
private func expect(_ package: Package, _ images: [Sidecar.Image]) throws {
    #expect(package.parts.count == images.count)
    for image in images {
        let name = try #require(image.bin_file ?? image.file)
        let part = try #require(package.parts.first { $0.fileName == name })
        #expect(Checksum.digest(.sha256, part.firmware).text == image.bin?.sha256)
        #expect(part.firmware.count == image.bin?.size)
        if let dat = image.dat_hex { #expect(part.initPacket?.bytes.text == dat) }
        if image.bin_file == nil {
            #expect(part.role == .image)
            #expect(part.imageIndex == (image.image_index.flatMap { Int($0) } ?? 0))
            #expect(part.slot == image.slot.flatMap { Int($0) })
        } else {
            let isExternal = image.initPacket?.type == "EXTERNAL_APPLICATION"
            #expect(part.role.rawValue == (isExternal ? "external_application" : image.slot))
        }
        guard let wanted = image.initPacket else { continue }
        switch part.initPacket {
        case .secure(let packet): expect(packet, wanted)
        case .legacy(let packet): expect(packet, wanted)
        case nil: Issue.record("no init packet")
        }
    }
}

private func expect(_ packet: SecureInitPacket, _ wanted: Sidecar.InitPacket) {
    #expect(wanted.format == "secure")
    #expect(packet.firmwareVersion == wanted.fw_version)
    #expect(packet.hardwareVersion == wanted.hw_version)
    #expect(packet.softdevices == wanted.sd_req ?? [])
    #expect(packet.imageType?.description == wanted.type)
    #expect(packet.softdeviceSize == wanted.sd_size)
    #expect(packet.bootloaderSize == wanted.bl_size)
    #expect(packet.applicationSize == wanted.app_size)
    #expect(packet.hashType?.description == wanted.hash_type)
    #expect(packet.hash.text == wanted.hash_le)
    #expect(packet.isDebug == wanted.is_debug)
    #expect((packet.signature != nil) == wanted.signed)
    #expect((packet.signature?.type.description ?? "UNSIGNED") == wanted.signature_type)
    #expect(packet.signature?.bytes.text == wanted.signature)
    // The name of the SHA-256 variant differs between the makers' versions of the file and ours.
    let validations = (wanted.boot_validation ?? []).map {
        [$0.type.replacing("VALIDATE_GENERATED_SHA256", with: "VALIDATE_SHA256"), $0.bytes]
    }
    #expect(packet.bootValidations.map { [$0.type.description, $0.bytes.text] } == validations)
    // The other reader's digest is over the Command around the InitCommand, which begins with the op_code.
    let start = packet.fields.first { $0.name == "op_code" }?.range.lowerBound ?? 0
    let command = packet.bytes[start..<packet.signedRange.upperBound]
    #expect(Checksum.digest(.sha256, command).text == wanted.command_sha256)
}

private func expect(_ packet: LegacyInitPacket, _ wanted: Sidecar.InitPacket) {
    guard wanted.format == "legacy" else {
        // What the other reader does not know: a CRC alone.
        #expect(packet.bytes.count == 2)
        return
    }
    #expect(packet.deviceType == wanted.device_type)
    #expect(packet.deviceRevision == wanted.device_revision)
    #expect(packet.applicationVersion == wanted.app_version)
    #expect(packet.softdevices.map(UInt32.init) == wanted.sd_req)
    switch packet.check {
    case .crc16(let crc), .extendedCRC16(let crc): #expect(crc == wanted.crc16)
    case .sha256(let size, let hash):
        #expect(size == wanted.firmware_length)
        #expect(hash.text == wanted.firmware_hash)
    case .signed(let size, let hash, let signature):
        #expect(size == wanted.firmware_length)
        #expect(hash.text == wanted.firmware_hash)
        #expect(signature.text == wanted.ecds)
    }
}
