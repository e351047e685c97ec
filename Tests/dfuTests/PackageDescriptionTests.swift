import DFUPackage
import DFUTransport
import FoundationEssentials
import TestSupport
import Testing

@testable import dfu

@Suite struct PackageDescriptionTests {
    private static let image = SampleFirmware.bytes(1000)

    private func describe(_ bytes: [UInt8], _ name: String = "package.zip") -> PackageDescription {
        PackageDescription(Package(reading: bytes, named: name))
    }

    private func lines(_ description: PackageDescription, isVerbose: Bool = false, width: Int = 80) -> [String] {
        PackageText.text(description, isVerbose: isVerbose, width: width).split(separator: "\n").map(String.init)
    }

    private func zip(_ manifest: String, _ files: [(String, [UInt8])], folder: String = "") -> [UInt8] {
        ZipMaker.zip(
            [.init(folder + "manifest.json", manifest)] + files.map { .init(folder + $0.0, $0.1) })
    }

    private let application = #"{"manifest": {"application": {"bin_file": "app.bin", "dat_file": "app.dat"}}}"#

    private var files: [(String, [UInt8])] {
        [("app.bin", Self.image), ("app.dat", SampleFirmware.secure(Self.image))]
    }

    // MARK: The cases

    @Test("PKG-01 a zip of a folder is shown by the names of its manifest")
    func folder() {
        let bytes = zip(application, files + [(".DS_Store", [0])], folder: "fw/")
        let lines = lines(describe(bytes))
        #expect(lines.contains("  File         app.bin"))
        #expect(lines.last == "Sound.")
    }

    @Test("PKG-02 other JSON files are not the manifest")
    func otherJSON() {
        let bytes = ZipMaker.zip(
            [.init("build_info.json", "[]"), .init("manifest.json", application)]
                + files.map { .init($0.0, $0.1) })
        #expect(describe(bytes).sound)
        #expect(describe(bytes).parts.map(\.file) == ["app.bin"])
    }

    @Test(
        "PKG-06 numbers in texts, and a missing image_index",
        arguments: [#""image_index": "0", "load_address": "0xc000", "#, ""])
    func stringNumbers(_ members: String) {
        let manifest = #"{"format-version": 1, "files": [{\#(members)"file": "app.bin", "type": "application"}]}"#
        let description = describe(zip(manifest, [("app.bin", SampleFirmware.mcuboot(Self.image))]))
        #expect(description.sound)
        #expect(description.parts.map(\.imageIndex) == [0])
        #expect(description.manifest?.entries.map(\.loadAddress) == [members.isEmpty ? nil : 0xC000])
        #expect(lines(description).contains("Part 1 of 1: image 0"))
    }

    @Test("PKG-07 an unknown key is a warning")
    func unknownKey() {
        let manifest =
            #"{"manifest": {"dfu_version": 0.5, "extra": 1, "application": {"bin_file": "a.bin", "dat_file": "a.dat"}}}"#
        let description = describe(
            zip(manifest, [("a.bin", Self.image), ("a.dat", SampleFirmware.legacy(Self.image))]))
        #expect(description.sound)
        #expect(description.warnings.map(\.reason) == ["unknownKey"])
        #expect(description.manifest?.unknownKeys == ["extra"])
        #expect(lines(description).contains("  Manifest     dfu_version 0.5"))
    }

    @Test("PKG-09 system parts come first, with the sizes of their init packet")
    func systemFirst() {
        let system = SampleFirmware.bytes(600, seed: 1)
        let packet = SampleFirmware.Secure(type: 3, softdeviceSize: 400, bootloaderSize: 200).packet(for: system)
        let manifest = #"""
            {"manifest": {"application": {"bin_file": "app.bin", "dat_file": "app.dat"},
            "softdevice_bootloader": {"bin_file": "sd_bl.bin", "dat_file": "sd_bl.dat"}}}
            """#
        let description = describe(zip(manifest, files + [("sd_bl.bin", system), ("sd_bl.dat", packet)]))
        let lines = lines(description)
        #expect(lines.contains("Part 1 of 2: SoftDevice and bootloader"))
        #expect(lines.contains("  Size         600 bytes: SoftDevice 400, bootloader 200"))
        #expect(lines.contains("Part 2 of 2: application"))
        #expect(description.parts.first?.sizes == .init(softdevice: 400, bootloader: 200, application: 0))
    }

    @Test("PKG-11 an image with a SHA-512 alone")
    func sha512() {
        let body = Self.header(programSize: 1000) + Self.image
        let digest = Checksum.digest(.sha512, body)
        let description = describe(body + [0x07, 0x69, 72, 0, 0x12, 0, 64, 0] + digest, "image.bin")
        #expect(description.sound)
        #expect(description.parts.first?.mcuboot?.digests.map(\.verdict) == [.matches])
        let text = lines(description)
        #expect(text.contains("  Digest       SHA-512, matches the image"))
        #expect(text.contains("               " + digest.prefix(32).map { byte in Self.hex(byte) }.joined()))
    }

    @Test("PKG-12 protected TLVs are shown, and lie where they lie in the file")
    func protectedTLVs() throws {
        let body =
            Self.header(programSize: 1000, protectedSize: 12) + Self.image + [
                0x08, 0x69, 12, 0, 0x50, 0, 4, 0, 7, 0, 0, 0,
            ]
        let bytes = body + [0x07, 0x69, 40, 0, 0x10, 0, 32, 0] + Checksum.digest(.sha256, body)
        let description = describe(bytes, "image.bin")
        let image = try #require(description.parts.first?.mcuboot)
        #expect(description.sound)
        #expect(image.version == "1.2.3")
        #expect(image.securityCounter == 7)
        #expect(image.tlvs.map(\.protected) == [true, false])
        for tlv in image.tlvs {
            #expect(tlv.value == bytes[tlv.offset..<tlv.offset + tlv.length].map { Self.hex($0) }.joined())
        }
    }

    @Test("PKG-17 segment records give the real address")
    func segments() {
        let hex = """
            :020000021000EC
            :04B0000001020304\(Self.checksum([4, 0xB0, 0, 0, 1, 2, 3, 4]))
            :04B0080001020304\(Self.checksum([4, 0xB0, 8, 0, 1, 2, 3, 4]))
            :00000001FF

            """
        let description = describe(Array(hex.utf8), "segment.hex")
        #expect(description.parts.first?.intelHex?.segments.map(\.address) == [0x1B000, 0x1B008])
        let lines = lines(description)
        #expect(lines.contains("  Intel HEX    8 bytes in 2 segments"))
        #expect(lines.contains("    0x0001B000 to 0x0001B003  4 bytes"))
        #expect(lines.contains("    gap                       4 bytes"))
    }

    @Test("PKG-18, PKG-19 what a name states", arguments: ["CBF43926 (1).bin", "cbf43926.BIN", "CBF43927.bin", "bin"])
    func names(_ ending: String) {
        let separator = ending == "bin" ? "." : "_"
        let description = describe(Array("123456789".utf8), "band_v1.4.2\(separator)\(ending)")
        #expect(description.name?.version == "1.4.2")
        #expect(description.name?.contentCRC32 == "CBF43926")
        let text = lines(description)
        switch ending {
        case "bin":
            #expect(description.name?.verdict == .notStated && description.sound)
            #expect(text.contains("  CRC-32       CBF43926; the file's name states none"))
        case "CBF43927.bin":
            #expect(description.name?.verdict == .differs && !description.sound)
            #expect(text.contains("  CRC-32       CBF43926, but the file's name states CBF43927"))
        default:
            #expect(description.name?.verdict == .matches && description.sound)
            #expect(text.contains("  CRC-32       CBF43926, as the file's name states"))
        }
    }

    // MARK: Both texts

    @Test func jsonHasNumbersTextsAndListsWhereScriptsLookForThem() throws {
        let packet = SampleFirmware.Secure(signature: [UInt8](repeating: 9, count: 64)).packet(for: Self.image)
        let description = describe(zip(application, [("app.bin", Self.image), ("app.dat", packet)]))
        let root = try object(try JSONValue(parsing: Array(description.json.utf8)))
        #expect(root["schema"] == .number(1))
        #expect(root["sound"] == .boolean(true))
        #expect(root["kind"] == .string("nordicSecure"))
        #expect(root["problems"] == .array([]))
        #expect(root["warnings"] == .array([]))
        guard case .array(let parts) = root["parts"] else {
            Issue.record("no parts")
            return
        }
        let part = try object(parts.first)
        #expect(part["role"] == .string("application"))
        #expect(part["size"] == .number(1000))
        let initPacket = try object(part["initPacket"])
        #expect(initPacket["signed"] == .boolean(true))
        #expect(initPacket["hardwareVersion"] == .number(52))
        #expect(initPacket["softdevices"] == .array([.number(256)]))
        #expect(try object(initPacket["check"])["verdict"] == .string("matches"))
        #expect(try object(initPacket["signature"])["value"] == .string(String(repeating: "09", count: 64)))
    }

    @Test func problemsHaveCodeReasonAndMessage() throws {
        let description = describe([], "empty.bin")
        let root = try object(try JSONValue(parsing: Array(description.json.utf8)))
        #expect(root["sound"] == .boolean(false))
        #expect(
            root["problems"]
                == .array([
                    .object([
                        "code": .string("malformed"), "reason": .string("empty"),
                        "message": .string("empty.bin is empty; get it again"),
                    ])
                ]))
    }

    @Test func aSignatureIsNeverCalledValid() {
        let packet = SampleFirmware.Secure(signature: [UInt8](repeating: 9, count: 64)).packet(for: Self.image)
        let lines = lines(describe(zip(application, [("app.bin", Self.image), ("app.dat", packet)])))
        #expect(lines.contains("  Signature    ECDSA_P256_SHA256, not verified: that takes the public key"))
        #expect(lines.last == "Sound. Signatures were not verified.")
    }

    @Test func anEncryptedImageIsNotCalledSound() {
        let body = Self.header(programSize: 1000, flags: 4) + Self.image
        let bytes = body + [0x07, 0x69, 40, 0, 0x10, 0, 32, 0] + [UInt8](repeating: 1, count: 32)
        let lines = lines(describe(bytes, "image.bin"))
        #expect(lines.contains("  Digest       SHA-256, not checkable: the image is encrypted"))
        #expect(lines.last == "No fault was found, and without its key an encrypted image cannot be checked.")
    }

    @Test func aHashInNaturalOrderIsAWarning() {
        let packet = SampleFirmware.Secure(hash: Checksum.digest(.sha256, Self.image)).packet(for: Self.image)
        let description = describe(zip(application, [("app.bin", Self.image), ("app.dat", packet)]))
        #expect(description.parts.first?.initPacket?.check.verdict == .naturalOrder)
        #expect(description.warnings.map(\.reason) == ["hashNotReversed"])
    }

    @Test func softDevicesHaveTheirNames() {
        #expect(SoftDevice.description(of: 0x101) == "0x0101 (S132 7.2.0)")
        #expect(SoftDevice.description(of: 0) == "0x0000 (none)")
        #expect(SoftDevice.description(of: 0xFFFE) == "0xFFFE (any)")
        #expect(SoftDevice.description(of: 0x1234) == "0x1234")
        #expect(SoftDevice.description(of: 0x1_0000) == "0x00010000")
    }

    @Test func aLongListIsCutWhereNobodyAskedForAll() {
        let extra = (0..<60).flatMap { _ in SampleFirmware.Wire.bytes(7, [1]) }
        let packet = SampleFirmware.Secure(extra: extra).packet(for: Self.image)
        let description = describe(zip(application, [("app.bin", Self.image), ("app.dat", packet)]))
        #expect(lines(description).contains("    … and 30 more, which -v shows"))
        #expect(lines(description, isVerbose: true).filter { $0.contains("unknown field 7") }.count == 60)
    }

    @Test(arguments: [80, 100])
    func nothingIsWiderThanTheTerminal(_ width: Int) {
        let packet = SampleFirmware.Secure(signature: [UInt8](repeating: 9, count: 64)).packet(for: Self.image)
        let packages = [
            describe(zip(application, [("app.bin", Self.image), ("app.dat", packet)])),
            describe(zip(application, [("app.dat", packet)])),
            describe(SampleFirmware.mcuboot(Self.image), "image.bin"),
        ]
        for line in packages.flatMap({ lines($0, isVerbose: true, width: width) }) {
            #expect(line.columns <= width, "\(line)")
        }
    }

    // MARK: Pieces

    private static func header(programSize: Int, protectedSize: UInt16 = 0, flags: UInt32 = 0) -> [UInt8] {
        [0x3D, 0xB8, 0xF3, 0x96, 0, 0, 0, 0, 32, 0] + littleEndian(protectedSize) + littleEndian(UInt32(programSize))
            + littleEndian(flags) + [1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    }

    private static func hex(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return (digits.count < 2 ? "0" : "") + digits
    }

    private static func checksum(_ record: [UInt8]) -> String { hex(0 &- record.reduce(0, &+)) }

    private func object(_ value: JSONValue?) throws -> [String: JSONValue] {
        guard case .object(let members) = value else { throw NoObject() }
        return members
    }

    private struct NoObject: Error {}
}

/// Every file at hand: sound ones, broken ones, and ones that are no package at all.
@Suite(.enabled(if: SharedFolder.path("fixtures/made") != nil))
struct SharedDescriptionTests {
    /// The paths of all files but the sidecars.
    private static let files: [String] = ["cases/inputs", "fixtures/made", "fixtures/real"].flatMap { folder in
        guard let path = SharedFolder.path(folder) else { return [String]() }
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
        return names.filter { !$0.hasSuffix(".json") }.map { "\(path)/\($0)" }
    }

    /// What a script looks at first.
    private struct Verdict: Decodable {
        var sound: Bool
        var problems: [[String: String]]
    }

    @Test(arguments: files)
    func file(_ path: String) throws {
        // A folder is none.
        guard let package = try? Package.open(path) else { return }
        let description = PackageDescription(package)
        #expect(description.sound == package.problems.isEmpty)
        for isVerbose in [false, true] {
            let text = PackageText.text(description, isVerbose: isVerbose)
            #expect(text.hasPrefix(package.fileName.printable))
            let wide = text.split(separator: "\n").filter { $0.utf8.count > 80 && String($0).columns > 80 }
            #expect(wide.filter { $0.drop { $0 == " " }.contains(" ") && !$0.contains(package.fileName) } == [])
        }
        let verdict = try JSONDecoder().decode(Verdict.self, from: Data(description.json.utf8))
        #expect(verdict.sound == package.problems.isEmpty)
        #expect(verdict.problems.map { $0["reason"] } == package.problems.map(\.reason))
    }

    @Test func thereAreHundreds() {
        #expect(Self.files.count > 400)
    }
}
