import DFUPackage
import Testing

@Suite struct FirmwareVersionTests {
    @Test(
        arguments: [
            ("1.4.2", [1, 4, 2]), ("v1.2", [1, 2, 0]), ("1.2.3.4", [1, 2, 3]), ("0.0.7+20260913.0038", [0, 0, 7]),
            ("1.3.0-rc.1", [1, 3, 0]), ("3.00.06", [3, 0, 6]), ("255.255.254", [255, 255, 254]),
        ] as [(String, [UInt8])])
    func bytes(_ text: String, _ bytes: [UInt8]) throws {
        #expect(try #require(FirmwareVersion(text)).bytes() == bytes)
    }

    @Test(arguments: [
        "", "v", "1", "V004", "1.2.", "1.2.3.4.5", "1.2.x", "a1.2", "1.2 ", "-1.2", "1..2", "1.2-", "１.２",
    ])
    func isNone(_ text: String) {
        #expect(FirmwareVersion(text) == nil)
    }

    @Test func noBytes() throws {
        #expect(
            throws: PackageError(
                .unsuitable, reason: "versionTooLarge",
                message: """
                    version 1.300.2 has the number 300, and the device takes none over 255; \
                    give it with --firmware-version X.Y.Z
                    """)
        ) { try #require(FirmwareVersion("1.300.2")).bytes() }
        #expect(
            throws: PackageError(
                .unsuitable, reason: "versionReserved",
                message: """
                    255.255.255 is no version of an image: it makes a device skip its version check; \
                    give it with --firmware-version X.Y.Z
                    """)
        ) { try #require(FirmwareVersion("255.255.255.1")).bytes() }
        #expect(
            throws: PackageError(
                .unsuitable, reason: "versionMissing",
                message: """
                    V004 is one number, not a version of three numbers; give it with --firmware-version X.Y.Z
                    """)
        ) { try #require(FileName("band_V004.bin", crc32: 0).version).bytes() }
        #expect(FirmwareVersion("1.99999999999999999999999.2")?.numbers == [1, .max, 2])
    }
}
