import TestSupport
import Testing

@testable import DFUPackage

/// Archives that somebody damaged or built to do damage.
@Suite struct HostilePackageTests {
    private typealias Entry = ZipMaker.Entry

    private static let application = SampleFirmware.bytes(100)
    private static let manifest = #"{"manifest":{"application":{"bin_file":"a","dat_file":"d"}}}"#
    private static let entries = [
        Entry("manifest.json", manifest), Entry("a", application), Entry("d", SampleFirmware.secure(application)),
    ]

    private static func read(_ entries: [Entry]) -> Package {
        Package(reading: ZipMaker.zip(entries), named: "update.zip")
    }

    private static func changing(_ name: String, _ change: (inout Entry) -> Void) -> Package {
        read(entries.map { $0.name == name ? $0.with(change) : $0 })
    }

    /// FoundationEssentials' reader of JSON5 trapped on each of these.
    @Test(
        "What is no JSON is said to be none",
        arguments: [
            Array(#"{"manifest":{"application":null,"#.utf8) + [0xFF, 0xFE] + Array(#""x":1}}"#.utf8),
            Array(#"{"files":[{"file":"a","load_address":0x0x10000}]}"#.utf8),
        ])
    func manifestThatIsNoJSON(_ bytes: [UInt8]) {
        let package = Self.read([Entry("manifest.json", bytes)])
        #expect(
            package.problems.first
                == PackageError(
                    .malformed, reason: "manifestNotJSON",
                    message: "manifest.json (\(bytes.count) bytes) is not valid JSON; make the package again"))
    }

    @Test func bareHexadecimalNumbers() throws {
        let text = #"{"files":[{"file":"a 0x1\"0x2","load_address":0x1F000},{"file":"b","size": 0XfF ,"slot":0x1}]}"#
        let files = try ConnectSDKManifest(JSONObject(parsing: Array(text.utf8), named: "manifest.json")).files
        #expect(files.map(\.file) == [#"a 0x1"0x2"#, "b"])
        #expect(files.map(\.loadAddress) == [0x1F000, nil])
        #expect(files.map(\.size) == [nil, 0xFF])
        #expect(files.map(\.slot) == [nil, 1])
    }

    @Test func cutAtEveryLength() {
        for entries in [Self.entries, Self.entries.map(\.deflated.streamed)] {
            let zip = ZipMaker.zip(entries)
            #expect(Package(reading: zip, named: "update.zip").problems == [])
            for count in 0..<zip.count {
                let package = Package(reading: Array(zip.prefix(count)), named: "update.zip")
                #expect(package.problems.count == 1, "cut to \(count)")
                let reason = count == 0 ? "empty" : count < 4 ? "notFirmware" : "zipUnreadable"
                #expect(package.problems.first?.reason == reason, "cut to \(count)")
            }
        }
    }

    /// A flipped bit is noticed, or it is one of those that mean nothing. Every seventh is tried, which comes by all eight
    /// of a byte.
    @Test func flippedBits() throws {
        for entries in [Self.entries, Self.entries.map(\.deflated)] {
            let zip = ZipMaker.zip(entries)
            let sound = try Package(reading: zip, named: "update.zip").checked().parts[0]
            for bit in stride(from: 0, to: zip.count * 8, by: 7) {
                var flipped = zip
                flipped[bit / 8] ^= 1 << (bit % 8)
                let package = Package(reading: flipped, named: "update.zip")
                guard package.problems.isEmpty else { continue }
                #expect(package.parts.first?.firmware == sound.firmware, "bit \(bit)")
                #expect(package.parts.first?.initPacket == sound.initPacket, "bit \(bit)")
            }
        }
    }

    @Test func damagedEntries() {
        let wrongCRC = Self.changing("a") { $0.claimedCRC = 1 }
        #expect(wrongCRC.problems.map(\.reason) == ["entryCRC"])
        #expect(wrongCRC.problems.first?.code == .mismatch)
        let longer = Self.changing("a") {
            $0.method = 8
            $0.claimedSize = 99
        }
        #expect(longer.problems.map(\.reason) == ["entrySize"])
        let shorter = Self.changing("a") {
            $0.method = 8
            $0.claimedSize = 101
        }
        #expect(shorter.problems.map(\.reason) == ["entrySize"])
    }

    @Test(arguments: [(UInt16(9), "Deflate64"), (12, "bzip2"), (14, "LZMA"), (93, "Zstandard"), (77, "method 77")])
    func compressions(_ method: UInt16, _ name: String) {
        let package = Self.changing("a") { $0.method = method }
        #expect(package.problems.map(\.reason) == ["compressionUnsupported"])
        #expect(package.problems.first?.message.contains("a in the zip is compressed with \(name)") == true)
    }

    @Test func encrypted() {
        let package = Self.changing("a") { $0.flags = 1 }
        #expect(package.problems.map(\.reason) == ["encrypted"])
        #expect(package.problems.first?.code == .unsupported)
    }

    @Test func bombs() {
        let large = Self.changing("a") { $0.claimedSize = 33 << 20 }
        #expect(large.problems.map(\.reason) == ["entryTooLarge"])
        #expect(large.problems.first?.code == .excessive)
        let packed = Self.changing("a") {
            $0.method = 8
            $0.claimedSize = 2 << 20
        }
        #expect(packed.problems.map(\.reason) == ["compressionRatio"])
        let manifest = Self.changing("manifest.json") { $0.claimedSize = 300_000 }
        #expect(manifest.problems.map(\.reason) == ["manifestTooLarge"])
    }

    /// One large file under many names in the manifest is still only so many bytes.
    @Test func manyPartsOfOneFile() {
        let files = (0..<65).map { #"{"file":"a","image_index":\#($0)}"# }.joined(separator: ",")
        let package = Self.read([Entry("manifest.json", #"{"files":[\#(files)]}"#), Entry("a", Self.application)])
        #expect(package.problems.map(\.reason) == ["tooManyParts"])
        #expect(package.parts == [])
    }

    @Test func manyEntries() {
        let junk = (0...ZipArchive.Limit.entries).map { Entry("junk/\($0)", [UInt8]()) }
        let package = Self.read(Self.entries + junk)
        #expect(package.problems.map(\.reason) == ["tooManyEntries"])
        #expect(Self.read(Self.entries + junk.prefix(3000)).problems == [])
    }

    @Test func names() {
        let long = Self.read(Self.entries + [Entry(String(repeating: "x", count: 600), "")])
        #expect(long.problems.map(\.reason) == ["nameTooLong"])
        let twice = Self.read(Self.entries + [Entry("manifest.json", "{}")])
        #expect(twice.problems.map(\.reason) == ["duplicateName"])
        // The same name in another spelling is the same name.
        let spelling = Self.read(Self.entries + [Entry("./a", "other")])
        #expect(spelling.problems.map(\.reason) == ["duplicateName"])
    }

    @Test func deepJSON() {
        let text = String(repeating: "[", count: 20_000)
        let package = Self.read([Entry("manifest.json", text)])
        #expect(package.problems.map(\.reason) == ["manifestNotJSON"])
        let closed = String(repeating: "[", count: 20_000) + String(repeating: "]", count: 20_000)
        #expect(Self.read([Entry("manifest.json", closed)]).problems.map(\.reason) == ["manifestNotJSON"])
    }

    @Test func zipInAZip() {
        let inner = ZipMaker.zip(Self.entries)
        let package = Self.read([
            Entry("manifest.json", Self.manifest), Entry("a", inner), Entry("d", SampleFirmware.secure(inner)),
        ])
        // A firmware may be anything, also a zip; it is not opened.
        #expect(package.problems == [])
        #expect(package.parts.first?.firmware == inner)
    }
}
