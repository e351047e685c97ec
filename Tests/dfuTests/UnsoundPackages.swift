import TestSupport

/// Packages with something wrong, by the names that they have in `Fixtures/cli/info-unsound.txt`.
enum UnsoundPackages {
    /// A folder that holds them.
    static func folder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for (name, bytes) in files { _ = try folder.write(bytes, to: name) }
        return folder
    }

    private static let image = SampleFirmware.bytes(1000)

    private static var files: [(name: String, bytes: [UInt8])] {
        let signed = SampleFirmware.mcuboot(image)
        var other = signed
        other[100] ^= 1
        let secure = SampleFirmware.secure(image)
        let wrong = SampleFirmware.Secure(applicationSize: 999, hash: [UInt8](0..<32), signature: [1, 2, 3])
        let odd = SampleFirmware.bytes(1003)
        return [
            ("traversal.zip", package([("app.dat", secure)], firmware: "../app.bin")),
            ("missing.zip", package([("app.dat", secure)])),
            ("legacy_1003.zip", package([("app.bin", odd), ("app.dat", SampleFirmware.legacy(odd))])),
            ("cut.bin", Array(signed.dropLast(20))), ("short.bin", Array(signed.prefix(20))), ("empty.bin", []),
            ("ram.hex", Array(hex.utf8)), ("band_v1.4.2_1190B42C.bin", image),
            ("dat_is_bin.zip", package([("app.bin", image)], initPacket: "app.bin")),
            ("wrong.zip", package([("app.bin", image), ("app.dat", wrong.packet(for: image))])),
            ("digest.bin", other),
            (
                "treacherous.zip",
                package([("app.dat", secure)], firmware: #"\u001b]0;x\u0007\u202egnp.bin"#)
            ),
            ("page.bin", Array("<!DOCTYPE html><title>Not found</title>".utf8)),
        ]
    }

    /// Four bytes at 0x26000, and four in RAM.
    private static let hex = """
        :020000040002F8
        :046000000102030492
        :020000042000DA
        :042180000102030451
        :00000001FF

        """

    private static func package(
        _ files: [(name: String, content: [UInt8])], firmware: String = "app.bin", initPacket: String = "app.dat"
    ) -> [UInt8] {
        let manifest = #"{"manifest": {"application": {"bin_file": "\#(firmware)", "dat_file": "\#(initPacket)"}}}"#
        return ZipMaker.zip([.init("manifest.json", manifest)] + files.map { .init($0.name, $0.content) })
    }
}
