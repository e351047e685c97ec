import TestSupport
import Testing

@testable import DFUPackage

/// Sound packages and packages that are wrong in one way each.
@Suite struct PackageTests {
    private typealias Entry = ZipMaker.Entry

    private static let application = SampleFirmware.bytes(1000)
    private static let manifest = #"{"manifest":{"application":{"bin_file":"app.bin","dat_file":"app.dat"}}}"#
    private static let good = [
        Entry("manifest.json", manifest), Entry("app.bin", application),
        Entry("app.dat", SampleFirmware.secure(application)),
    ]

    private static func read(_ entries: [Entry]) -> Package {
        Package(reading: ZipMaker.zip(entries), named: "/tmp/update.zip")
    }

    private static func package(_ manifest: String, _ files: [(String, [UInt8])]) -> Package {
        read([Entry("manifest.json", manifest)] + files.map { Entry($0.0, $0.1) })
    }

    private static func expectGood(_ package: Package) {
        #expect(package.problems == [])
        #expect(package.kind == .nordicSecure)
        #expect(package.parts.map(\.role) == [.application])
        #expect(package.parts.first?.firmware == application)
        #expect(package.parts.first?.initPacket?.bytes == SampleFirmware.secure(application))
    }

    @Test func aGoodPackage() throws {
        let package = try Self.read(Self.good).checked()
        Self.expectGood(package)
        #expect(package.warnings == [])
        #expect(package.fileName == "update.zip")
        let part = try #require(package.parts.first)
        #expect(part.fileName == "app.bin")
        #expect(part.initPacketFileName == "app.dat")
        #expect(part.sizes == Part.Sizes(application: 1000))
    }

    // MARK: The zip around it

    @Test("PKG-01 zip of a folder, made on a Mac")
    func folderOfAMac() {
        let finder = [
            Entry("fw/", ""), Entry("__MACOSX/", ""), Entry("__MACOSX/fw/._manifest.json", "\u{0}\u{5}\u{16}\u{7}"),
            Entry("fw/.DS_Store", "Bud1"),
        ]
        let package = Self.read(finder + Self.good.map { entry in entry.with { $0.name = "fw/\(entry.name)" } })
        Self.expectGood(package)
        #expect(package.warnings == [])
    }

    @Test("PKG-02 only the name manifest.json counts")
    func twoJSONFiles() {
        let extra = [Entry("build_info.json", #"{"files":[]}"#), Entry("my-manifest.json", "[]")]
        Self.expectGood(Self.read(extra + Self.good))
    }

    @Test("PKG-03 names with ./ in front", arguments: [true, false])
    func dotSlash(_ inZip: Bool) {
        if inZip {
            Self.expectGood(Self.read(Self.good.map { entry in entry.with { $0.name = "./\(entry.name)" } }))
        } else {
            let manifest = Self.manifest.replacing("app.", with: "./app.")
            Self.expectGood(Self.read([Entry("manifest.json", manifest)] + Self.good[1...]))
        }
    }

    @Test(
        "PKG-03 names that climb out", arguments: ["../app.bin", "/etc/app.bin", "fw/../../app.bin", "C:\\\\app.bin"])
    func traversal(_ name: String) {
        let manifest = Self.manifest.replacing("app.bin", with: name)
        let package = Self.read([Entry("manifest.json", manifest)] + Self.good[1...])
        #expect(package.problems.map(\.reason) == ["unsafePath"])
        #expect(package.problems.first?.code == .malformed)
        #expect(package.problems.first?.message.contains(name.replacing("\\\\", with: "\\")) == true)
        // An entry that nobody asks for is reason enough.
        let evil = Self.read(Self.good + [Entry("../../etc/passwd", "x")])
        #expect(evil.problems.map(\.reason) == ["unsafePath"])
    }

    @Test("PKG-04 manifest names a file that is not there", arguments: ["app.bin", "app.dat"])
    func missingFile(_ name: String) {
        let package = Self.read(Self.good.filter { $0.name != name })
        #expect(package.problems.map(\.reason) == ["fileMissing"])
        #expect(package.problems.first?.code == .missing)
        #expect(package.problems.first?.message.contains("names \(name), and the zip lacks it") == true)
        // What is there is read all the same.
        #expect(package.parts.count == 1)
        #expect((package.parts[0].initPacket == nil) == (name == "app.dat"))
        #expect(package.parts[0].firmware.isEmpty == (name == "app.bin"))
    }

    @Test func quirksOfPackers() {
        Self.expectGood(Self.read(Self.good.map(\.deflated)))
        Self.expectGood(Self.read(Self.good.map(\.streamed)))
        Self.expectGood(Self.read(Self.good.map(\.deflated.streamed)))
        Self.expectGood(Self.read([Self.good[0].deflated] + Self.good[1...]))
        Self.expectGood(Self.read(Self.good.map { $0.with { $0.versionNeeded = 0x0314 } }))
        Self.expectGood(Self.read(Self.good.reversed()))
        Self.expectGood(Package(reading: ZipMaker.zip(Self.good, comment: Array("build 42".utf8)), named: "a.zip"))
        // By its content it is a zip, whatever its name.
        Self.expectGood(Package(reading: ZipMaker.zip(Self.good), named: "a.bin"))
        Self.expectGood(Self.read(Self.good.map { entry in entry.with { $0.name = "fw\\\(entry.name)" } }))
    }

    @Test func letterCaseOfNames() {
        let package = Self.read(Self.good.map { entry in entry.with { $0.name = entry.name.uppercased() } })
        Self.expectGood(package)
        #expect(package.warnings.map(\.reason) == ["letterCase", "letterCase", "letterCase"])
    }

    @Test func manifestsInSeveralFolders() {
        let old = Self.good.map { entry in entry.with { $0.name = "old/\(entry.name)" } }
        Self.expectGood(Self.read(old + Self.good))
        let new = Self.good.map { entry in entry.with { $0.name = "new/\(entry.name)" } }
        #expect(Self.read(old + new).problems.map(\.reason) == ["manifestAmbiguous"])
    }

    @Test(arguments: [
        ([Entry("app.bin", "x"), Entry("app.dat", "y")], "app.bin, app.dat"),
        ([Entry("inner.zip", "PK")], "another zip in it, inner.zip"), ([], "no files in it"),
        ([Entry("bootloader.bin", "esp"), Entry("firmware.bin", "esp")], "bootloader.bin, firmware.bin"),
    ])
    func noManifest(_ entries: [ZipMaker.Entry], _ words: String) {
        let package = Self.read(entries)
        #expect(package.kind == .zip)
        #expect(package.problems.map(\.reason) == ["manifestMissing"])
        #expect(package.problems.first?.message.contains(words) == true)
    }

    // MARK: Manifests

    @Test("PKG-07 unknown key in the manifest")
    func unknownKeys() {
        let package = Self.package(
            #"{"manifest":{"application":{"bin_file":"app.bin","dat_file":"app.dat","colour":1},"dfu_version":0.5,"x":{}}}"#,
            [("app.bin", Self.application), ("app.dat", SampleFirmware.legacy(Self.application))])
        #expect(package.problems == [])
        #expect(package.kind == .nordicLegacy)
        #expect(package.warnings.map(\.reason) == ["unknownKey"])
        #expect(package.parts.first?.firmware.count == 1000)
    }

    @Test func generationIsThatOfTheInitPacket() {
        let manifest = Self.manifest.replacing("}}}", with: #"},"dfu_version":0.5}}"#)
        Self.expectGood(Self.read([Entry("manifest.json", manifest)] + Self.good[1...]))
        let legacy = Self.package(
            Self.manifest, [("app.bin", Self.application), ("app.dat", SampleFirmware.legacy(Self.application))])
        #expect(legacy.kind == .nordicLegacy)
        #expect(legacy.problems == [])
    }

    @Test(arguments: [
        "\u{FEFF}" + manifest, manifest.replacing(",", with: ",\r\n") + "\r\n\r\n",
        manifest.replacing("}}}", with: #"},"bootloader":null,"softdevice":null}}"#),
        manifest.replacing("}}}", with: "},}}"), manifest.replacing("app.bin", with: "\\u0061pp.bin"),
    ])
    func formsOfJSON(_ manifest: String) {
        Self.expectGood(Self.read([Entry("manifest.json", manifest)] + Self.good[1...]))
    }

    @Test(arguments: [
        ("", "manifestNotJSON", "manifest.json (0 bytes)"), ("{", "manifestNotJSON", "not valid JSON"),
        ("[1]", "manifestMalformed", "an array and not an object"), ("7", "manifestMalformed", "7 and not an object"),
        ("{}", "manifestUnknown", "neither manifest"),
        (#"{"manifest":[]}"#, "manifestMalformed", "manifest in the manifest"),
        (#"{"manifest":{}}"#, "noFirmware", "no application"), (#"{"files":[]}"#, "noFirmware", "files are empty"),
        (#"{"files":{}}"#, "manifestMalformed", "files in the manifest is an object and not an array"),
        (#"{"files":[{}]}"#, "manifestKeyMissing", "names no file"),
        (#"{"manifest":{"application":"app.bin"}}"#, "manifestMalformed", "application in the manifest is \"app.bin\""),
        (#"{"manifest":{"application":{}}}"#, "manifestKeyMissing", "manifest.application names no bin_file"),
        (#"{"manifest":{"application":{"bin_file":[]}}}"#, "manifestMalformed", "application.bin_file in the manifest"),
        (#"{"manifest":{"dfu_version":"new"}}"#, "manifestMalformed", "dfu_version in the manifest is \"new\""),
        (
            #"{"manifest":{"softdevice_application":{"bin_file":"a"}}}"#, "combinedImage", "softdevice_application"
        ),
        (#"{"files":[{"file":"a","image_index":"x"}]}"#, "manifestMalformed", "files[0].image_index"),
        (#"{"files":[{"file":"a","image_index":256}]}"#, "manifestMalformed", "image_index in the manifest is 256"),
        (#"{"files":[{"file":"a.suit","type":"suit-envelope"}]}"#, "suitUnsupported", "a.suit"),
    ])
    func brokenManifests(_ manifest: String, _ reason: String, _ words: String) {
        let package = Self.read([Entry("manifest.json", manifest)])
        #expect(package.problems.map(\.reason) == [reason])
        #expect(package.problems.first?.message.contains(words) == true, "\(package.problems)")
        #expect(package.parts == [])
    }

    // MARK: Init packets against firmware

    @Test("PKG-08 legacy image whose size is not a multiple of 4")
    func legacySize() throws {
        let image = SampleFirmware.bytes(1003)
        let package = Self.package(Self.manifest, [("app.bin", image), ("app.dat", SampleFirmware.legacy(image))])
        let error = #expect(throws: PackageError.self) { try package.checked() }
        #expect(error?.reason == "sizeNotMultipleOf4")
        #expect(error?.message.contains("1003") == true)
        #expect(error?.message.contains("multiple of 4") == true)
        // Secure DFU takes any size.
        let secure = Self.package(Self.manifest, [("app.bin", image), ("app.dat", SampleFirmware.secure(image))])
        #expect(secure.problems == [])
    }

    @Test("PKG-09 system part without sizes in the manifest")
    func sizesOfTheInitPacket() throws {
        let system = SampleFirmware.bytes(600, seed: 1)
        let packet = SampleFirmware.Secure(type: 3, softdeviceSize: 400, bootloaderSize: 200).packet(for: system)
        let package = Self.package(
            Self.manifest.replacing(
                #""application""#,
                with: #""softdevice_bootloader":{"bin_file":"s.bin","dat_file":"s.dat"},"application""#),
            [
                ("app.bin", Self.application), ("app.dat", SampleFirmware.secure(Self.application)), ("s.bin", system),
                ("s.dat", packet),
            ])
        #expect(try package.checked().kind == .nordicSecure)
        #expect(package.parts.map(\.role) == [.softdeviceBootloader, .application])
        #expect(package.parts[0].sizes == Part.Sizes(softdevice: 400, bootloader: 200))
        #expect(package.parts[1].sizes == Part.Sizes(application: 1000))
    }

    @Test(arguments: [
        (#""sd_size":400,"bl_size":200"#, [String]()), (#""sd_size":"400","bl_size":"200""#, []),
        (#""info_read_only_metadata":{"sd_size":400,"bl_size":200}"#, []), (#""sd_size":400"#, ["sizesMissing"]),
        (#""x":1"#, ["sizesMissing"]), (#""sd_size":400,"bl_size":204"#, ["sizeMismatch"]),
        (#""sd_size":398,"bl_size":202"#, ["sizeNotMultipleOf4"]),
        (#""sd_size":18446744073709551615,"bl_size":18446744073709551615"#, ["sizeMismatch"]),
    ])
    func sizesOfTheManifest(_ sizes: String, _ reasons: [String]) {
        let system = SampleFirmware.bytes(600, seed: 1)
        let package = Self.package(
            #"{"manifest":{"softdevice_bootloader":{"bin_file":"s.bin","dat_file":"s.dat",\#(sizes)}}}"#,
            [("s.bin", system), ("s.dat", SampleFirmware.legacy(system))])
        #expect(package.problems.map(\.reason) == reasons)
        if reasons.isEmpty { #expect(package.parts[0].sizes == Part.Sizes(softdevice: 400, bootloader: 200)) }
    }

    @Test("PKG-22 the firmware itself stands where the init packet should be")
    func firmwareAsInitPacket() {
        let manifest = Self.manifest.replacing("app.dat", with: "app.bin")
        let package = Self.read([Entry("manifest.json", manifest)] + Self.good[1...])
        #expect(package.problems.map(\.reason) == ["initPacketIsFirmware"])
        #expect(package.problems.first?.message.contains("1000 bytes and is no init packet") == true)
    }

    @Test("PKG-22 another file stands where the init packet should be")
    func anythingAsInitPacket() {
        let other = SampleFirmware.bytes(10_000, seed: 9)
        let package = Self.package(Self.manifest, [("app.bin", Self.application), ("app.dat", other)])
        #expect(package.problems.map(\.reason) == ["initPacketMalformed"])
        #expect(package.problems.first?.message.contains("10000 bytes and is no init packet") == true)
        #expect(package.kind == .nordic)
    }

    @Test(arguments: [
        (SampleFirmware.Secure(applicationSize: 999), ["sizeMismatch"]),
        (SampleFirmware.Secure(hash: [UInt8](repeating: 0, count: 32)), ["hashMismatch"]),
        (SampleFirmware.Secure(type: 2, bootloaderSize: 1000), ["imageTypeMismatch"]),
        (SampleFirmware.Secure(type: nil, applicationSize: 1000), ["initPacketMalformed"]),
        (SampleFirmware.Secure(hashType: 4), ["hashTypeUnsupported"]),
        (SampleFirmware.Secure(signature: [1, 2, 3]), ["signatureLength"]),
        (
            SampleFirmware.Secure(applicationSize: 5, hash: [1], signature: []),
            [
                "signatureLength", "sizeMismatch", "hashMismatch",
            ]
        ),
    ])
    func secureFaults(_ sample: SampleFirmware.Secure, _ reasons: [String]) {
        let package = Self.package(
            Self.manifest, [("app.bin", Self.application), ("app.dat", sample.packet(for: Self.application))])
        #expect(package.problems.map(\.reason) == reasons)
        #expect(package.kind == .nordicSecure)
    }

    @Test func problemsThatSomebodyAnswersFor() throws {
        let sample = SampleFirmware.Secure(applicationSize: 999, hash: [UInt8](repeating: 0, count: 32))
        let package = Self.package(
            Self.manifest, [("app.bin", Self.application), ("app.dat", sample.packet(for: Self.application))])
        _ = try package.checked(skipping: ["hashMismatch", "sizeMismatch"])
        let error = #expect(throws: PackageError.self) { try package.checked(skipping: ["sizeMismatch"]) }
        #expect(error?.reason == "hashMismatch")
    }

    @Test func hashInNaturalOrderIsAWarning() {
        let packet = SampleFirmware.Secure(hash: Checksum.digest(.sha256, Self.application)).packet(
            for: Self.application)
        let package = Self.package(Self.manifest, [("app.bin", Self.application), ("app.dat", packet)])
        #expect(package.problems == [])
        #expect(package.warnings.map(\.reason) == ["hashNotReversed"])
    }

    @Test func legacyFaults() {
        var packet = SampleFirmware.legacy(Self.application)
        packet[12] ^= 1
        let wrongCRC = Self.package(Self.manifest, [("app.bin", Self.application), ("app.dat", packet)])
        #expect(wrongCRC.problems.map(\.reason) == ["crc16Mismatch"])
        let start = Array(packet.prefix(12))
        let hash = Checksum.digest(.sha256, Self.application)
        let hashed = start + [1, 0, 0, 0] + littleEndian(UInt32(1000)) + hash
        let sound = Self.package(Self.manifest, [("app.bin", Self.application), ("app.dat", hashed)])
        #expect(sound.problems == [])
        let wrong = start + [1, 0, 0, 0] + littleEndian(UInt32(996)) + hash.reversed()
        let unsound = Self.package(Self.manifest, [("app.bin", Self.application), ("app.dat", wrong)])
        #expect(unsound.problems.map(\.reason) == ["sizeMismatch", "hashMismatch"])
    }

    @Test func manifestUnlikeTheInitPacket() {
        let manifest = Self.manifest.replacing(
            "}}}", with: #","init_packet_data":{"device_type":83,"device_revision":65535,"softdevice_req":[65534]}}}}"#)
        let package = Self.package(
            manifest, [("app.bin", Self.application), ("app.dat", SampleFirmware.legacy(Self.application))])
        #expect(package.problems == [])
        #expect(package.warnings.map(\.reason) == ["manifestDiffers"])
        #expect(package.warnings.first?.message.contains("device_type 83, app.dat says 82") == true)
    }

    @Test func withoutInitPacket() {
        let package = Self.package(
            #"{"manifest":{"application":{"bin_file":"app.bin","dat_file":null}}}"#, [("app.bin", Self.application)])
        #expect(package.problems == [])
        #expect(package.kind == .nordicLegacy)
        #expect(package.warnings.map(\.reason) == ["noInitPacket"])
    }

    @Test func partsThatDoNotGoTogether() {
        let softdevice = SampleFirmware.Secure(type: 1, softdeviceSize: 1000).packet(for: Self.application)
        let bootloader = SampleFirmware.Secure(type: 2, bootloaderSize: 1000).packet(for: Self.application)
        let both = Self.package(
            #"{"manifest":{"bootloader":{"bin_file":"b","dat_file":"bd"},"softdevice":{"bin_file":"b","dat_file":"sd"}}}"#,
            [("b", Self.application), ("bd", bootloader), ("sd", softdevice)])
        #expect(both.problems.map(\.reason) == ["conflictingParts"])
        let mixed = Self.package(
            #"{"manifest":{"bootloader":{"bin_file":"b","dat_file":"bd"},"application":{"bin_file":"b","dat_file":"ad"}}}"#,
            [("b", Self.application), ("bd", bootloader), ("ad", SampleFirmware.legacy(Self.application))])
        #expect(mixed.problems.map(\.reason) == ["mixedGenerations"])
        #expect(mixed.parts.map(\.role) == [.bootloader, .application])
    }

    @Test func externalApplication() {
        let packet = SampleFirmware.Secure(type: 4, applicationSize: 1000).packet(for: Self.application)
        let package = Self.package(Self.manifest, [("app.bin", Self.application), ("app.dat", packet)])
        #expect(package.problems == [])
        #expect(package.parts.map(\.role) == [.externalApplication])
    }

    // MARK: Packages without a manifest

    @Test func wellKnownNames() {
        let softdevice = SampleFirmware.bytes(400, seed: 1)
        let bootloader = SampleFirmware.bytes(200, seed: 2)
        let package = Self.read([
            Entry("application.bin", Self.application),
            Entry("application.dat", SampleFirmware.legacy(Self.application)), Entry("softdevice.bin", softdevice),
            Entry("bootloader.bin", bootloader), Entry("system.dat", SampleFirmware.legacy(softdevice + bootloader)),
        ])
        #expect(package.problems == [])
        #expect(package.kind == .nordicLegacy)
        #expect(package.parts.map(\.role) == [.softdeviceBootloader, .application])
        #expect(package.parts[0].firmware == softdevice + bootloader)
        #expect(package.parts[0].sizes == Part.Sizes(softdevice: 400, bootloader: 200))
    }

    @Test func wellKnownNameOfIntelHex() {
        // Four bytes in the master boot record, four at 0x1000, four in the chip's configuration words.
        let hex = """
            :0400000001020304F2
            :04100000AABBCCDDDE
            :020000041000EA
            :0410140011223344\("2E")
            :00000001FF
            """
        let package = Self.read([
            Entry("application.hex", hex), Entry("application.dat", SampleFirmware.legacy([0xAA, 0xBB, 0xCC, 0xDD])),
        ])
        #expect(package.problems == [])
        #expect(package.parts.first?.firmware == [0xAA, 0xBB, 0xCC, 0xDD])
        #expect(package.parts.first?.intelHex?.image.segments.count == 3)
        #expect(package.warnings.map(\.reason) == ["registersLeftOut"])
    }

    // MARK: nRF Connect SDK

    private static func connectSDK(_ files: [(String, String)], _ image: [UInt8]? = nil) -> Package {
        let list = files.map { #"{"file":"\#($0.0)"\#($0.1)}"# }.joined(separator: ",")
        return package(
            #"{"format-version":1,"files":[\#(list)]}"#,
            files.map { ($0.0, image ?? SampleFirmware.mcuboot(Array($0.0.utf8))) })
    }

    @Test(
        "PKG-06 numbers written as strings, or missing, in the MCUboot manifest",
        arguments: [
            #","image_index":"0","load_address":"235143168","size":"45""#, #","image_index":0,"load_address":0xC000"#,
            "",
            #","load_address":"0xC000","slot_index_primary":"1","slot_index_secondary":"2""#,
        ])
    func numbersOfAnyForm(_ keys: String) {
        let package = Self.connectSDK([("a.bin", keys.replacing("45", with: "77"))])
        #expect(package.problems == [])
        #expect(package.kind == .connectSDK)
        #expect(package.parts.map(\.imageIndex) == [0])
        #expect(package.parts.first?.mcuboot?.version?.text == "1.2.3")
    }

    @Test("PKG-06 two files and no index")
    func filesWithoutIndex() {
        let package = Self.connectSDK([("a.bin", ""), ("b.bin", "")])
        #expect(package.problems.map(\.reason) == ["imageIndexMissing"])
        #expect(package.problems.first?.message.contains("2 files and gives a.bin no image_index") == true)
    }

    @Test func imagesByNumberAndSlot() {
        let several = Self.connectSDK([
            ("c.bin", #","image_index":"2""#), ("a.bin", #","slot_index_primary":"1""#),
            ("b.bin", #","image_index":1"#),
        ])
        #expect(several.problems == [])
        #expect(several.parts.map(\.fileName) == ["a.bin", "b.bin", "c.bin"])
        #expect(several.parts.map(\.imageIndex) == [0, 1, 2])
        let slots = Self.connectSDK([("b.bin", #","slot":"1""#), ("a.bin", #","slot":0"#)])
        #expect(slots.problems == [])
        #expect(slots.parts.map(\.fileName) == ["a.bin", "b.bin"])
        #expect(slots.parts.map(\.imageIndex) == [0, 0])
        #expect(slots.parts.map(\.slot) == [0, 1])
        let twice = Self.connectSDK([("a.bin", #","image_index":1"#), ("b.bin", #","image_index":1"#)])
        #expect(twice.problems.map(\.reason) == ["duplicateImage"])
    }

    @Test func imagesThatDoNotFit() {
        let plain = Self.connectSDK([("a.bin", "")], Self.application)
        #expect(plain.problems.map(\.reason) == ["noMCUbootHeader"])
        #expect(plain.problems.first?.message.hasPrefix("a.bin: ") == true)
        let size = Self.connectSDK([("a.bin", #","size":5"#)])
        #expect(size.problems.map(\.reason) == ["sizeMismatch"])
        let version = Self.connectSDK([("a.bin", #","version_MCUBOOT":"1.2.4+0""#)])
        #expect(version.problems == [])
        #expect(version.warnings.map(\.reason) == ["manifestDiffers"])
        let sameVersion = Self.connectSDK([("a.bin", #","version_MCUBOOT+XIP":"1.2.3+9""#)])
        #expect(sameVersion.warnings == [])
    }

    // MARK: Bare files

    @Test func bareFiles() {
        let crc = Checksum.crc32(Self.application)
        let name = "band_v1.1.0_\(String(crc, radix: 16, uppercase: true)).bin"
        let binary = Package(reading: Self.application, named: name)
        #expect(binary.problems == [])
        #expect(binary.kind == .binary)
        #expect(binary.statedName.version?.text == "1.1.0")
        #expect(binary.parts.map(\.role) == [.firmware])
        #expect(binary.parts.first?.firmware == Self.application)
        #expect(binary.parts.first?.sizes.application == 1000)
    }

    @Test("PKG-19 CRC in the name does not match the content")
    func nameThatDoesNotFit() {
        let package = Package(reading: Self.application, named: "band_v1.1.0_DEADBEEF.bin")
        #expect(package.problems.map(\.reason) == ["crcMismatch"])
        #expect(package.parts.first?.firmware == Self.application)
    }

    @Test func bareMCUbootImage() {
        let image = SampleFirmware.mcuboot(Self.application)
        let package = Package(reading: image, named: "app_v9.9.9_DEADBEEF.bin")
        // The number may be a commit; the digest says that the image is whole.
        #expect(package.problems == [])
        #expect(package.kind == .mcuboot)
        #expect(package.parts.map(\.role) == [.image])
        #expect(package.parts.first?.mcuboot?.version?.text == "1.2.3")
        #expect(package.statedName.version?.text == "9.9.9")
        let cut = Package(reading: Array(image.dropLast(20)), named: "app.bin")
        #expect(cut.problems.map(\.reason) == ["truncated"])
        #expect(cut.kind == .mcuboot)
    }

    @Test func bareIntelHex() {
        let hex = ":04100000AABBCCDDDE\n:00000001FF\n"
        let package = Package(reading: Array(hex.utf8), named: "app.bin")
        #expect(package.kind == .intelHex)
        #expect(package.problems == [])
        #expect(package.parts.first?.firmware == [0xAA, 0xBB, 0xCC, 0xDD])
        let text = String(Checksum.crc32(Array(hex.utf8)), radix: 16)
        let data = String(Checksum.crc32([0xAA, 0xBB, 0xCC, 0xDD]), radix: 16)
        for crc in [text, data] {
            let name = "app_v1.0.0_\(String(repeating: "0", count: 8 - crc.count))\(crc).hex"
            #expect(Package(reading: Array(hex.utf8), named: name).problems == [], "\(name)")
        }
        let wrong = Package(reading: Array(hex.utf8), named: "app_v1.0.0_DEADBEEF.hex")
        #expect(wrong.problems.map(\.reason) == ["crcMismatch"])
    }

    @Test(arguments: [
        ("fw.bin", [UInt8](), "empty", "fw.bin is empty"),
        ("fw.zip", Array("<!DOCTYPE html>".utf8), "notFirmware", "web page"),
        ("fw.bin", Array("\n<html>".utf8), "notFirmware", "web page"),
        ("fw.bin", [0x7F, 0x45, 0x4C, 0x46, 1], "notFirmware", "ELF"),
        ("fw.zip", [0x1F, 0x8B, 8], "notFirmware", "gzip"),
        ("fw.zip", Array("hello".utf8), "notFirmware", "no zip archive"),
        ("app.dat", Array("hello".utf8), "notFirmware", "init packet"),
        ("a.uf2", Array("UF2\nWQ]".utf8), "notFirmware", "UF2"),
    ])
    func foreignFiles(_ name: String, _ content: [UInt8], _ reason: String, _ words: String) {
        let package = Package(reading: content, named: name)
        #expect(package.problems.map(\.reason) == [reason])
        #expect(package.problems.first?.message.contains(words) == true)
        #expect(package.kind == .unknown)
        #expect(package.parts == [])
    }

    // MARK: The fixtures

    @Test(arguments: [
        ("band_v1.1.0_810A8FF9.bin", Package.Kind.binary, [12_000]), ("secure_application.zip", .nordicSecure, [4100]),
        ("legacy_application.zip", .nordicLegacy, [4100]), ("dfu_application.zip", .connectSDK, [4072, 1072]),
    ])
    func fixtures(_ name: String, _ kind: Package.Kind, _ sizes: [Int]) throws {
        let package = try Package.open(ProjectFile.path("Fixtures/packages/\(name)")).checked()
        #expect(package.kind == kind)
        #expect(package.parts.map(\.firmware.count) == sizes)
        #expect(package.warnings == [])
    }
}
