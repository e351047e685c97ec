import DFUPackage
import FoundationEssentials
import TestSupport
import Testing

@Suite struct IntelHexTests {
    /// The records as lines; each is type, address and data, and gets its length and checksum.
    private func hex(_ records: [(type: UInt8, address: UInt16, data: [UInt8])], newline: String = "\n") -> [UInt8] {
        let lines = records.map { record in
            let head = [
                UInt8(record.data.count), UInt8(record.address >> 8), UInt8(record.address & 0xFF), record.type,
            ]
            let bytes = head + record.data
            return ":" + digits(bytes + [0 &- bytes.reduce(0, &+)]) + newline
        }
        return Array(lines.joined().utf8)
    }

    private func digits(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16, uppercase: true) + String($0 & 15, radix: 16, uppercase: true) }.joined()
    }

    private func segments(_ hex: IntelHex) -> [[Int]] {
        hex.image.segments.map { [Int($0.address), $0.end] }
    }

    private static let end: (type: UInt8, address: UInt16, data: [UInt8]) = (1, 0, [])

    @Test(arguments: ["\n", "\r\n", "\r", "\n\n", "\r\r\n"])
    func newlines(_ newline: String) throws {
        let file = hex([(4, 0, [0, 2]), (0, 0x6000, [1, 2, 3]), (0, 0x6003, [4]), Self.end], newline: newline)
        let image = try IntelHex(Array(newline.utf8) + file + Array(newline.utf8)).image
        #expect(image.segments.map(\.address) == [0x26000])
        #expect(image.segments.map(\.bytes) == [[1, 2, 3, 4]])
        #expect(image.count == 4)
    }

    @Test func lowerCaseAndNoNewlineAtTheEnd() throws {
        let file = Array(
            String(decoding: hex([(0, 0xABCD, [0xFE]), Self.end]), as: UTF8.self).lowercased().utf8.dropLast())
        #expect(try IntelHex(file).image.segments.map(\.address) == [0xABCD])
    }

    @Test func bytesInAnyOrder() throws {
        let file = hex([(0, 0x20, [5, 6]), (0, 0x10, [1, 2]), (0, 0x12, [3, 4]), (0, 0x0E, [0]), Self.end])
        let hex = try IntelHex(file)
        #expect(hex.image.segments.map(\.bytes) == [[0], [1, 2, 3, 4], [5, 6]])
        #expect(segments(hex) == [[0x0E, 0x0F], [0x10, 0x14], [0x20, 0x22]])
    }

    @Test func theSameBytesTwice() throws {
        let file = hex([
            (0, 0x10, [1, 2, 3, 4]), (0, 0x12, [3, 4, 5]), (0, 0x10, [1]), (0, 0x11, [2, 3]), (0, 0x10, [1, 2, 3, 4]),
            Self.end,
        ])
        #expect(try IntelHex(file).image.segments.map(\.bytes) == [[1, 2, 3, 4, 5]])
    }

    @Test("The later line is at fault, whichever has the lower address", arguments: [false, true])
    func otherBytesTwice(_ lowerFirst: Bool) {
        let lower: (UInt8, UInt16, [UInt8]) = (0, 0x10, [1, 2, 3, 4])
        let upper: (UInt8, UInt16, [UInt8]) = (0, 0x12, [3, 5])
        let file = hex([(4, 0, [0, 2])] + (lowerFirst ? [lower, upper] : [upper, lower]) + [Self.end])
        #expect(
            throws: PackageError(
                .malformed, reason: "overlap",
                message: """
                    line 3 of the HEX file gives the byte at 0x00020013 as \(lowerFirst ? "05" : "04"), and line 2 gave it \
                    as \(lowerFirst ? "04" : "05"): several programs are mixed up in it
                    """)
        ) { try IntelHex(file) }
    }

    @Test func startAddresses() throws {
        #expect(try IntelHex(hex([(5, 0, [0, 2, 0x62, 1]), (0, 0, [1]), Self.end])).startAddress == 0x26201)
        #expect(try IntelHex(hex([(3, 0, [0xF0, 0, 0x83, 0x79]), (0, 0, [1]), Self.end])).startAddress == 0xF8379)
        #expect(try IntelHex(hex([(0, 0, [1]), Self.end])).startAddress == nil)
    }

    @Test("PKG-17 records of type 02")
    func segmentAddresses() throws {
        let data = [UInt8](0..<32)
        let whole = try IntelHex(
            hex([(2, 0, [0x10, 0]), (0, 0xB000, Array(data[..<16])), (0, 0xB010, Array(data[16...])), Self.end])
        ).image.flattened()
        #expect(whole.address == 0x1B000)
        #expect(whole.bytes == data)
    }

    @Test func aTypeOfAddressReplacesTheOther() throws {
        let file = hex([
            (2, 0, [0x10, 0]), (0, 0, [1]), (4, 0, [0, 3]), (0, 0, [2]), (2, 0, [0x20, 0]), (0, 0, [3]), Self.end,
        ])
        #expect(segments(try IntelHex(file)) == [[0x10000, 0x10001], [0x20000, 0x20001], [0x30000, 0x30001]])
    }

    @Test func linearAddressesRunOn() throws {
        #expect(
            segments(try IntelHex(hex([(4, 0, [0, 1]), (0, 0xFFFC, [UInt8](0..<8)), Self.end]))) == [
                [0x1FFFC, 0x20004]
            ])
        #expect(
            segments(try IntelHex(hex([(4, 0, [0xFF, 0xFF]), (0, 0xFFFC, [0, 1, 2, 3]), Self.end])))
                == [[0xFFFF_FFFC, 0x1_0000_0000]])
    }

    @Test(
        "Broken files, and the line at fault",
        arguments: [
            (":00000001FF\n", "noData", "the HEX file holds no data"),
            ("", "noData", "the HEX file holds no data"),
            ("\n\r\n", "noData", "the HEX file holds no data"),
            (":0000000000\n:00000001FF", "noData", "the HEX file holds no data"),
            (
                ":0100000001FE", "truncated",
                "the HEX file ends at line 1 without an end record (:00000001FF): it is cut short; get it again"
            ),
            ("hello\n", "noRecord", "line 1 of the HEX file begins with \"h\", not with a colon: no Intel HEX"),
            (
                "\u{FEFF}:0100000001FE", "noRecord",
                "line 1 of the HEX file begins with the byte EF, not with a colon: no Intel HEX"
            ),
            (
                "\r\n\r\n :0100000001FE", "noRecord",
                "line 3 of the HEX file begins with the byte 20, not with a colon: no Intel HEX"
            ),
            (
                ":0100000001FE  \n", "noDigit",
                "line 1 of the HEX file has the byte 20 where a hexadecimal digit belongs"
            ),
            (":01000G0001FE\n", "noDigit", "line 1 of the HEX file has \"G\" where a hexadecimal digit belongs"),
            (":0100000001F\n", "oddDigits", "line 1 of the HEX file has an odd number of digits, 11"),
            (
                ":", "recordLength",
                "line 1 of the HEX file has 0 bytes, and its length wants at least 5: it is cut short or damaged"
            ),
            (
                ":0200000001FD", "recordLength",
                "line 1 of the HEX file has 6 bytes, and its length wants 7: it is cut short or damaged"
            ),
            (
                ":00000001FFFF", "recordLength",
                "line 1 of the HEX file has 6 bytes, and its length wants 5: it is cut short or damaged"
            ),
            (
                "\n:0100000001FF", "recordChecksum",
                "line 2 of the HEX file has the checksum FF, and its bytes give FE: it is damaged"
            ),
            (":00000006FA", "recordType", "line 1 of the HEX file is of type 06, and there are only 00 to 05"),
            (
                ":0100000400FB", "recordLength",
                "line 1 of the HEX file holds 1 bytes, and a record of its type 2"
            ),
            (
                ":0100000001FE\n:00000001FF\n\nremark\n:0100000001FE\n", "dataAfterEnd",
                """
                line 5 of the HEX file is a record behind the end record of line 2: join HEX files with a merge tool, \
                not end to end
                """
            ),
            (
                ":020000021000EC\n:02FFFF000102FD", "addressWrap",
                "line 2 of the HEX file runs over the end of its segment of 64 KiB, from 0x0001FFFF on"
            ),
            (
                ":02000004FFFFFC\n:02FFFF000102FD", "addressWrap",
                "line 2 of the HEX file runs over the end of the address space, from 0xFFFFFFFF on"
            ),
        ])
    func broken(_ file: String, _ reason: String, _ message: String) {
        let code = reason == "noData" ? PackageError.Code.missing : .malformed
        #expect(throws: PackageError(code, reason: reason, message: message)) { try IntelHex(Array(file.utf8)) }
    }

    @Test func hugeFileIsNotRead() {
        #expect(
            throws: PackageError(
                .excessive, reason: "fileTooLarge",
                message: "the HEX file has 33554433 bytes; none over 33554432 is read")
        ) { try IntelHex(repeatElement(0, count: IntelHex.maximumSize + 1)) }
    }

    @Test func remarkBehindTheEnd() throws {
        #expect(try IntelHex(hex([(0, 0, [7]), Self.end]) + Array("\n; made by hand\n".utf8)).image.count == 1)
    }
}

extension IntelHexTests {
    struct Sidecar: Decodable {
        struct Reading: Decodable {
            struct Whole: Decodable {
                var sha256: String
            }
            var segments: [[String]]
            var bin: Whole?
        }
        var file: String
        var intelhex: Reading?
    }

    /// The files that are refused. The judge, Python's intelhex, takes the last three.
    private static let refused = [
        "bad_checksum.hex": "recordChecksum", "bom.hex": "noRecord", "leading_spaces.hex": "noRecord",
        "not_hex.hex": "noRecord", "odd_digits.hex": "oddDigits", "overlap.hex": "overlap",
        "short_record.hex": "recordLength", "trailing_spaces.hex": "noDigit", "unknown_type.hex": "recordType",
        "empty.hex": "noData", "only_eof.hex": "noData", "no_eof.hex": "truncated",
    ]

    @Test("Made files, against another reader", .enabled(if: SharedFolder.path("fixtures/made/hex") != nil))
    func corpus() throws {
        let folder = try #require(SharedFolder.path("fixtures/made/hex"))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".hex") }
        #expect(names.count == 27)
        for name in names {
            let file = try ProjectFile.bytes(at: "\(folder)/\(name)")
            guard Self.refused[name] == nil else {
                let error = #expect(throws: PackageError.self, "\(name)") { try IntelHex(file) }
                #expect(error?.reason == Self.refused[name], "\(name)")
                continue
            }
            let sidecar = try JSONDecoder().decode(
                Sidecar.self, from: Data(contentsOf: URL(filePath: "\(folder)/\(name).json")))
            let judged = try #require(sidecar.intelhex)
            let hex = try IntelHex(file)
            #expect(
                segments(hex) == judged.segments.map { $0.compactMap { Int($0.dropFirst(2), radix: 16) } }, "\(name)")
            if let whole = judged.bin {
                #expect(
                    digits(Checksum.digest(.sha256, try hex.image.flattened().bytes)).lowercased() == whole.sha256,
                    "\(name)")
            } else {
                let error = #expect(throws: PackageError.self, "\(name)") { try hex.image.flattened() }
                #expect(error?.reason == "dataOutsideFlash")
            }
        }
    }

    @Test("Real files, against their .bin", .enabled(if: SharedFolder.path("fixtures/real") != nil))
    func realPairs() throws {
        struct Pair: Decodable {
            var hex: String
            var bin: String
            var segments: [[String]]
            var rules_that_give_the_bin: [String]
        }
        let index = try #require(SharedFolder.path("fixtures/real/hex_bin_pairs.json"))
        var compared = 0
        for pair in try JSONDecoder().decode([Pair].self, from: Data(contentsOf: URL(filePath: index))) {
            guard let hexPath = SharedFolder.path("fixtures/\(pair.hex)"),
                let binPath = SharedFolder.path("fixtures/\(pair.bin)"),
                pair.rules_that_give_the_bin.contains("all below UICR, gap FF")
            else { continue }
            let hex = try IntelHex(Data(contentsOf: URL(filePath: hexPath)))
            #expect(
                segments(hex) == pair.segments.map { $0.compactMap { Int($0.dropFirst(2), radix: 16) } }, "\(pair.hex)")
            #expect(
                hex.image.segments.first?.bytes == Array(try Data(contentsOf: URL(filePath: binPath))), "\(pair.hex)")
            compared += 1
        }
        #expect(compared == 3)
    }
}
