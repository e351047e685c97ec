import DFUPackage
import FoundationEssentials
import TestSupport
import Testing

@Suite struct FileNameTests {
    /// A name, and what is right for content with the CRC-32 E47B595B.
    struct Form: Sendable, CustomTestStringConvertible {
        var name: String
        var version: String?
        var crcMatches: Bool?

        init(_ name: String, _ version: String?, crc crcMatches: Bool?) {
            self.name = name
            self.version = version
            self.crcMatches = crcMatches
        }

        var testDescription: String { name }
    }

    static let forms = [
        Form("band_v1.0.3_E47B595B.bin", "1.0.3", crc: true),
        Form("fw/band_v1.0.3_e47b595b.bin", "1.0.3", crc: true),
        Form("band_V1.0.3_E47B595B.BIN", "1.0.3", crc: true),
        Form("band_v1.0.3_E47B595B (1).bin", "1.0.3", crc: true),
        Form("band_v1.0.3_E47B595A(12).bin", "1.0.3", crc: false),
        Form("band_v1.0.3_E47B595A.bin.bin", "1.0.3", crc: false),
        Form("band_v1.0.3_E47B59A4.bin", "1.0.3", crc: false),
        Form("firmware.bin", nil, crc: nil),
        Form("band_v1.0.3.bin", "1.0.3", crc: nil),
        Form("band_E47B595B.bin", nil, crc: true),
        // Marks.
        Form("band_1.0.3_0xE47B595B.bin", "1.0.3", crc: true),
        Form("band_v1.0.3_crcE47B595A_rom.bin", "1.0.3", crc: false),
        Form("band_v1.0.3_CRC32_E47B595A_rom.bin", "1.0.3", crc: false),
        Form("band_v1.0.3_CRC32E47B595A_rom.bin", "1.0.3", crc: false),
        Form("band_v1.0.3_CRC[E47B595B].bin", "1.0.3", crc: true),
        Form("band v3.0 [E47B595A] x.bin", "3.0", crc: false),
        Form("band_[12345678]_v1.0.3.bin", "1.0.3", crc: false),
        Form("band_crc_12345678_v1.0.3_E47B595B.bin", "1.0.3", crc: false),
        // Hexadecimal digits that are something else.
        Form("DEADBEEF_v1.0.3_E47B595B.bin", "1.0.3", crc: true),
        Form("E47B595B_v1.0.3_deadbeef.bin", "1.0.3", crc: true),
        Form("smp_server_2ad0d6bf_1.0.3_recovery.signed.bin", "1.0.3", crc: nil),
        Form("band_v1.0.3_E47B595.bin", "1.0.3", crc: nil),
        Form("band_v1.0.3_3833289051.bin", "1.0.3", crc: nil),
        // Dates.
        Form("band_v1.0.3_20240115.bin", "1.0.3", crc: nil),
        Form("band_v1.0.3.20240115.bin", "1.0.3", crc: nil),
        Form("band_v1.0.3_20240115_E47B595A.bin", "1.0.3", crc: false),
        Form("band_v1.0.3_E47B595A_20240115.bin", "1.0.3", crc: false),
        Form("band_v1.0.3_E47B595A_240115.bin", "1.0.3", crc: false),
        Form("band_v1.0.3_E47B595A_240115_240116.bin", "1.0.3", crc: nil),
        Form("if_V0221_11012017.bin", "V0221", crc: nil),
        // Versions.
        Form("v1.2_E47B595B.bin", "1.2", crc: true),
        Form("R02_3.00.06_240523.bin", "3.00.06", crc: nil),
        Form("band_v1.2.3.4_E47B595B.bin", "1.2.3.4", crc: true),
        Form("band_v1.2.3.4.5_E47B595B.bin", nil, crc: true),
        Form("band_v1.0.3-rc1_E47B595B.bin", "1.0.3-rc1", crc: true),
        Form("band_v1.3.0-rc.1_0123456789ab_E47B595B.bin", "1.3.0-rc.1", crc: true),
        Form("band_v1.3.0rc1_E47B595B.bin", "1.3.0rc1", crc: true),
        Form("band-1.0.3-signed-E47B595B.bin", "1.0.3", crc: true),
        Form("band_v1.0.3+45_E47B595B.bin", "1.0.3+45", crc: true),
        Form("band_v0.0.7+20260913.0038_a1b2c3d4_E47B595B.bin", "0.0.7+20260913.0038", crc: true),
        Form("band-2.5.4.ad47035e5-update.bin", "2.5.4", crc: nil),
        Form("band-2.5.4.1d47035e5-update.bin", "2.5.4", crc: nil),
        Form("band_hw2.1_v1.0.3_E47B595B.bin", "1.0.3", crc: true),
        Form("band_hw2.1.4_E47B595B.bin", nil, crc: true),
        Form("band_v2.0.0_v1.0.3_E47B595B.bin", "1.0.3", crc: true),
        Form("band_2.0.0_1.0.3_E47B595B.bin", "2.0.0", crc: true),
        Form("KLM_V1_2_3_2025_08_28_app_E47B595B.bin", "1.2.3", crc: true),
        Form("KLM_1_2_3_E47B595B.bin", nil, crc: true),
        Form("appMP_V100S_2.1.24.28_7fa3e261-4526ebe6ad3288faf2a8f5cd5971aed9.bin", "2.1.24.28", crc: nil),
        Form("BandV1.0.3_E47B595B.bin", "1.0.3", crc: true),
        Form("手环v1.0.3_E47B595B.bin", "1.0.3", crc: true),
        Form("dev1.0.3_E47B595B.bin", nil, crc: true),
        Form("band_v_1.0.3_E47B595B.bin", "1.0.3", crc: true),
        Form("band_v0103_E47B595B.bin", "v0103", crc: true),
        Form("SR1_00010010V184.bin", "V184", crc: nil),
        Form("lz_v3_lcm_v4_E47B595B.bin", "v4", crc: true),
        Form("app_v1.2.3-rc1.zip", "1.2.3-rc1", crc: nil),
        Form("", nil, crc: nil),
        Form(".bin", nil, crc: nil),
        Form("(1).bin", nil, crc: nil),
        Form("v.bin", nil, crc: nil),
    ]

    @Test(arguments: forms)
    func form(_ form: Form) {
        let name = FileName(form.name, crc32: 0xE47B_595B)
        #expect(name.version?.text == form.version)
        #expect(name.crc?.matches == form.crcMatches)
    }

    @Test func partsOfAVersion() throws {
        let release = try #require(FileName("band_v1.3.0-rc.1+45.nightly.bin", crc32: 0).version)
        #expect(release.numbers == [1, 3, 0])
        #expect(release.preRelease == "rc.1")
        #expect(release.build == "45.nightly")
        #expect(FileName("band_V004.bin", crc32: 0).version?.numbers == [])
    }

    @Test(
        "PKG-18 a browser's (1) and the case of letters change nothing",
        arguments: ["7635C751 (1).bin", "7635c751.BIN"])
    func browserCopy(_ end: String) throws {
        let name = FileName("band_v1.4.2_\(end)", crc32: 0x7635_C751)
        #expect(name.version?.text == "1.4.2")
        #expect(name.crc?.value == 0x7635_C751)
        #expect(name.crc?.text == String(end.prefix(8)))
        try name.requireCRC()
        #expect(try name.versionBytes() == [1, 4, 2])
    }

    @Test("PKG-19 a CRC that is not the content's: both values")
    func wrongCRC() {
        let name = FileName("band_v1.4.2_7635C750.bin", crc32: 0x7635_C751)
        let problem = PackageError(
            .mismatch, reason: "crcMismatch",
            message: """
                band_v1.4.2_7635C750.bin: the name states the CRC-32 7635C750, the content has 7635C751: the file is \
                damaged or wrongly named; get it again, or pass --no-crc to send it all the same
                """)
        #expect(name.problem == problem)
        #expect(throws: problem) { try name.requireCRC() }
    }

    @Test("PKG-19 BLK-10 no CRC in the name is another fault than a wrong one")
    func noCRC() {
        let name = FileName("band_v1.4.2.bin", crc32: 0x7635_C751)
        #expect(name.problem == nil)
        #expect(
            throws: PackageError(
                .missing, reason: "crcMissing",
                message: """
                    band_v1.4.2.bin: the name states no CRC-32, so nobody can tell whether the file is whole; \
                    give its value with --crc HEX, or pass --no-crc
                    """)
        ) { try name.requireCRC() }
    }

    @Test("BLK-10 a version that nobody has seen is as good as any")
    func unknownVersion() throws {
        let name = FileName("band_v213.7.99_7635C751.bin", crc32: 0x7635_C751)
        try name.requireCRC()
        #expect(try name.versionBytes() == [213, 7, 99])
    }

    @Test func noVersionBytes() {
        #expect(
            throws: PackageError(
                .unsuitable, reason: "versionMissing",
                message: "firmware.bin: the name states no version; give it with --firmware-version X.Y.Z")
        ) { try FileName("firmware.bin", crc32: 0).versionBytes() }
    }

    @Test func statedElsewhere() throws {
        var name = FileName("band_v1.4.2_7635C750.bin", crc32: 0x7635_C751)
        name.crc = FileName.StatedCRC(value: 0x7635_C751, text: "7635c751", contentCRC: name.contentCRC)
        try name.requireCRC()
    }

    @Test func hugeNameIsReadQuickly() {
        let name = FileName(String(repeating: "v1.2.3_20240115_E47B595A.", count: 2000), crc32: 1)
        #expect(name.version?.text == "1.2.3")
        #expect(name.crc?.matches == false)
    }

    @Test(
        "All forms of the field",
        .enabled(if: SharedFolder.path("fixtures/made/bin") != nil), arguments: ["bin", "bin_rhash"])
    func corpus(_ folder: String) throws {
        struct Sidecar: Decodable {
            struct Expected: Decodable {
                var version: String?
                var crc_ok: Bool?
            }
            var file: String
            var expected: Expected
        }
        let path = try #require(SharedFolder.path("fixtures/made/\(folder)"))
        let sidecars = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".json") }
        #expect(sidecars.count == (folder == "bin" ? 49 : 4))
        for sidecar in sidecars {
            let wanted = try JSONDecoder().decode(
                Sidecar.self, from: Data(contentsOf: URL(filePath: "\(path)/\(sidecar)")))
            let content = try ProjectFile.bytes(at: "\(path)/\(wanted.file)")
            let name = FileName(wanted.file, crc32: Checksum.crc32(content))
            #expect(name.version?.text == wanted.expected.version, "\(wanted.file)")
            #expect(name.crc?.matches == wanted.expected.crc_ok, "\(wanted.file)")
        }
    }
}
