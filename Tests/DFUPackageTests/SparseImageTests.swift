import DFUPackage
import Testing

@Suite struct SparseImageTests {
    /// Data at these addresses, 16 bytes each, as HEX with records of type 04.
    private func image(_ addresses: UInt32...) throws -> SparseImage {
        let lines = addresses.flatMap { address in
            [
                record([2, 0, 0, 4, UInt8(address >> 24), UInt8(address >> 16 & 0xFF)]),
                record([16, UInt8(address >> 8 & 0xFF), UInt8(address & 0xFF), 0] + [UInt8](1...16)),
            ]
        }
        return try IntelHex(Array((lines + [":00000001FF"]).joined(separator: "\n").utf8)).image
    }

    private func record(_ bytes: [UInt8]) -> String {
        ":" + (bytes + [0 &- bytes.reduce(0, &+)]).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test func gapsAreFilled() throws {
        let whole = try image(0x1000, 0x1020).flattened()
        #expect(whole.address == 0x1000)
        #expect(whole.bytes == [UInt8](1...16) + [UInt8](repeating: 0xFF, count: 16) + [UInt8](1...16))
        #expect(try image(0x1000, 0x1012).flattened(gapFill: 0).bytes[16..<18] == [0, 0])
    }

    @Test func allGapsTogetherHaveALimit() throws {
        #expect(try image(0, 0x1_0010).flattened().bytes.count == 0x1_0020)
        #expect(
            throws: PackageError(
                .unsuitable, reason: "gapTooLarge",
                message: """
                    the data at 0x00010021 lies 32769 bytes behind the data that ends at 0x8020, and gaps of at most \
                    65536 bytes together are filled; export the HEX with the firmware alone
                    """)
        ) { try image(0, 0x8010, 0x1_0021).flattened() }
    }

    @Test("PKG-16 data in RAM is named, and no memory taken for the gap")
    func dataInRAM() {
        #expect(
            throws: PackageError(
                .unsuitable, reason: "dataOutsideFlash",
                message: """
                    data outside flash at 0x20002180, 536723824 bytes behind the data that ends at 0x26010; \
                    export the HEX with the firmware alone
                    """)
        ) { try image(0x2_6000, 0x2000_2180).flattened() }
    }

    @Test func flashMayBeAnywhere() throws {
        #expect(try image(0x2000_0000).flattened().address == 0x2000_0000)
        #expect(try image(0xFFFF_FFF0).flattened().end == 1 << 32)
    }
}
