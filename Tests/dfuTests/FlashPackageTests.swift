import DFUPackage
import DFUProtocol
import TestSupport
import Testing

/// Files that cannot be sent, and files that can.
@Suite(.blocking) struct FlashPackageTests {
    private let bench: FlashBench

    init() throws {
        bench = try FlashBench()
    }

    private static let manifest = #"{"manifest":{"application":{"bin_file":"app.bin","dat_file":"app.dat"}}}"#

    private static let noCRC =
        "the name states no CRC-32, so nobody can tell whether the file is whole; give its value with --crc HEX, "
        + "or pass --no-crc"

    @Test("CLI-08, PKG-21 a path that does not exist is 66, with the path")
    func missing() {
        #expect(
            bench.flash(sending: bench.path("nosuch.zip"))
                == .failed(66, "dfu: nosuch.zip cannot be read: No such file or directory"))
    }

    @Test func folder() {
        #expect(
            bench.flash(sending: bench.folder.path)
                == .failed(66, "dfu: \(bench.folder.path) is a folder; give the firmware's file itself"))
    }

    @Test func empty() throws {
        let file = try bench.folder.write([], to: "band_v1.1.0_00000000.bin")
        #expect(
            bench.flash(sending: file) == .failed(65, "dfu: check: band_v1.1.0_00000000.bin is empty; get it again"))
    }

    @Test("PKG-19 a CRC in the name that is not the content's: 65, both values")
    func wrongCRC() throws {
        let name = "band_v1.1.0_DEADBEEF.bin"
        let file = try bench.folder.write(bench.image, to: name)
        let content = CRC32.checksum(bench.image).hexadecimal
        #expect(
            bench.flash(sending: file)
                == .failed(
                    65,
                    "dfu: check: \(name): the name states the CRC-32 DEADBEEF, the content has \(content): the file is "
                        + "damaged or wrongly named; get it again, or pass --no-crc to send it all the same"))
        #expect(bench.flash(sending: file, ["--crc", content]) == .updated())
        let waived = bench.flash(sending: file, ["--no-crc"])
        #expect(waived.status == 0)
        #expect(waived.errors.contains("dfu: sim:band: warning: the CRC-32 of the file is not checked\n"))
    }

    @Test("A truncated file is found by the CRC in its name")
    func truncated() throws {
        let name = String(bench.package.split(separator: "/").last ?? "")
        let folder = try TemporaryFolder()
        let short = Array(bench.image.dropLast(100))
        let outcome = bench.flash(sending: try folder.write(short, to: name))
        #expect(outcome.status == 65)
        #expect(outcome.errors.contains("the content has \(CRC32.checksum(short).hexadecimal)"))
    }

    @Test("PKG-19 no CRC in the name: 65 before the battery question")
    func noCRC() throws {
        let file = try bench.folder.write(bench.image, to: "band_v1.1.0.bin")
        let outcome = bench.flash(sending: file, ["-vv"])
        #expect(outcome == .failed(65, "dfu: sim:band: check: band_v1.1.0.bin: \(Self.noCRC)"))
    }

    @Test("PKG-19 no CRC in the name: 65 before connecting with --protocol block-ack")
    func noCRCForBlockAck() throws {
        let file = try bench.folder.write(bench.image, to: "band_v1.1.0.bin")
        let outcome = bench.flash(sending: file, progress: "plain", ["-vv", "--protocol", "block-ack"])
        #expect(outcome == .failed(65, "dfu: check: band_v1.1.0.bin: \(Self.noCRC)"))
    }

    @Test func wrongOption() throws {
        let file = try bench.folder.write(bench.image, to: "band_v1.1.0.bin")
        let content = CRC32.checksum(bench.image).hexadecimal
        #expect(
            bench.flash(sending: file, ["--crc", "0BADCAFE"])
                == .failed(
                    65,
                    "dfu: check: band_v1.1.0.bin: --crc states 0BADCAFE, the content has \(content): the file is "
                        + "damaged, or the value is another file's"))
        #expect(bench.flash(sending: file, ["--crc", content.lowercased()]) == .updated())
    }

    @Test func noVersion() throws {
        let content = CRC32.checksum(bench.image).hexadecimal
        let file = try bench.folder.write(bench.image, to: "band_\(content).bin")
        #expect(
            bench.flash(sending: file)
                == .failed(
                    65,
                    "dfu: sim:band: check: no name in band_\(content).bin states a version; "
                        + "give it with --firmware-version X.Y.Z"))
        #expect(bench.flash(sending: file, ["--firmware-version", "1.1.0"]) == .updated())
        #expect(
            bench.flash(sending: file, ["--firmware-version", "1.1.256"])
                == .failed(
                    64,
                    "dfu: --firmware-version: '1.1.256' is not a version of three numbers from 0 to 255, as 1.2.3; "
                        + "see 'dfu flash --help'"))
    }

    @Test func versionTooLarge() throws {
        let content = CRC32.checksum(bench.image).hexadecimal
        let file = try bench.folder.write(bench.image, to: "band_v1.256.0_\(content).bin")
        let outcome = bench.flash(sending: file)
        #expect(outcome.status == 65)
        #expect(outcome.errors.hasPrefix("dfu: sim:band: check: "))
        #expect(outcome.errors.contains("256"))
        #expect(outcome.errors.contains("--firmware-version X.Y.Z"))
    }

    @Test("A Nordic package's application goes by block-ack, with the version that is given")
    func nordicPackage() throws {
        let zip = ProjectFile.path("Fixtures/packages/secure_application.zip")
        let image = try #require(try Package.open(zip).parts.first).firmware
        let device = ["sim:band?time=virtual&image=\(bench.path("image"))"]
        #expect(
            bench.flash(sending: zip, on: device)
                == .failed(
                    65,
                    "dfu: sim:band: check: no name in secure_application.zip states a version; "
                        + "give it with --firmware-version X.Y.Z"))
        #expect(
            bench.flash(sending: zip, on: device, ["--firmware-version", "2.5.7"])
                == .updated("sim:band: updated: it runs 2.5.7 (before: 1.0.0)"))
        #expect(try bench.bytes("image") == image)
    }

    @Test func connectSDKPackage() {
        #expect(
            bench.flash(sending: ProjectFile.path("Fixtures/packages/dfu_application.zip"))
                == .failed(
                    65,
                    "dfu: sim:band: check: dfu_application.zip is an nRF Connect SDK package, and block-ack carries "
                        + "none; use one made for the device"))
    }

    @Test("PKG-03 a zip whose names climb out is 65, and nothing is written outside")
    func traversal() throws {
        let zip = ZipMaker.zip([
            ZipMaker.Entry("manifest.json", Self.manifest), ZipMaker.Entry("../evil.bin", bench.image),
        ])
        #expect(
            bench.flash(sending: try bench.folder.write(zip, to: "evil.zip"))
                == .failed(
                    65,
                    "dfu: evil.zip: check: the zip has an entry with the name ../evil.bin, which leads out of the package; "
                        + "pack it again with plain names"))
    }

    @Test func bomb() throws {
        var entry = ZipMaker.Entry("app.bin", bench.image)
        entry.claimedSize = 1 << 30
        let zip = ZipMaker.zip([ZipMaker.Entry("manifest.json", Self.manifest), entry])
        let outcome = bench.flash(sending: try bench.folder.write(zip, to: "bomb.zip"))
        #expect(outcome.status == 65)
        #expect(outcome.errors.split(separator: "\n").count == 1)
        #expect(
            outcome.errors.hasPrefix(
                "dfu: bomb.zip: check: app.bin in the zip would unpack to 1073741824 bytes, past the limit of 33554432"
            ))
    }

    @Test func noPackage() throws {
        let zip = ZipMaker.zip([ZipMaker.Entry("readme.txt", "nothing")])
        let outcome = bench.flash(sending: try bench.folder.write(zip, to: "none.zip"))
        #expect(outcome.status == 65)
        #expect(outcome.errors.split(separator: "\n").count == 1)
    }

    /// Third parties' files, with the band's verdict on each.
    @Test(
        "PKG each case's file has its verdict", .enabled(if: SharedFolder.path("cases/inputs") != nil),
        arguments: [
            ("band_v1.4.2_7635C751 (1).bin", 0, "updated: it runs 1.4.2"),
            ("band_v1.4.2_7635c751.BIN", 0, "updated: it runs 1.4.2"),
            ("band_v1.4.2_7635C750.bin", 65, "the content has 7635C751"), ("band_v1.4.2.bin", 65, "--no-crc"),
            ("good_app.zip", 65, "--firmware-version"), ("p03b_traversal.zip", 65, "../app.bin"),
            ("p04_missing_bin.zip", 65, "the zip lacks it"), ("p05_ncs_string_numbers.zip", 65, "nRF Connect SDK"),
            ("p08_legacy_1003.zip", 65, "not a multiple of 4"), ("p09_sdbl_app_no_sizes.zip", 65, "--only application"),
            ("p14_truncated.bin", 65, "cut short"), ("p14b_short.bin", 65, "cut short"),
            ("p15_hash_wrong.bin", 65, "it is damaged"), ("p17_ram.hex", 65, "data outside flash"),
            ("p18_segment.hex", 65, "--firmware-version"), ("p19_dat_is_bin.zip", 65, "no init packet"),
        ] as [(String, Int32, String)])
    func cases(_ file: String, _ status: Int32, _ text: String) {
        let outcome = bench.flash(sending: SharedFolder.path("cases/inputs/\(file)"))
        #expect(outcome.status == status)
        #expect((outcome.output + outcome.errors).contains(text))
        #expect((outcome.output + outcome.errors).split(separator: "\n").count == 1)
    }

    @Test("Several parts want --only application", .enabled(if: SharedFolder.path("cases/inputs") != nil))
    func severalParts() throws {
        let file = try #require(SharedFolder.path("cases/inputs/p09_sdbl_app_no_sizes.zip"))
        #expect(bench.flash(sending: file, ["--only", "app", "--firmware-version", "1.1.0"]) == .updated())
    }
}
