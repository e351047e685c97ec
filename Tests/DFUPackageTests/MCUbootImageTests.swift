import DFUPackage
import FoundationEssentials
import TestSupport
import Testing

@Suite struct MCUbootImageTests {
    typealias TLV = (kind: UInt16, value: [UInt8])

    private func little(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }

    private func area(_ magic: UInt16, _ tlvs: [TLV]) -> [UInt8] {
        let entries = tlvs.flatMap { little($0.kind) + little(UInt16($0.value.count)) + $0.value }
        return little(magic) + little(UInt16(entries.count + 4)) + entries
    }

    private static let program = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }

    /// An image of `program`, version 1.2.3+4, with its digest and what is asked for besides.
    private func image(
        digest: Checksum.Digest? = .sha256, flags: UInt32 = 0, protected: [TLV] = [], more: [TLV] = []
    ) -> [UInt8] {
        let protectedArea = protected.isEmpty ? [] : area(0x6908, protected)
        let sizes = little(UInt16(64)) + little(UInt16(protectedArea.count)) + little(UInt32(Self.program.count))
        let version: [UInt8] = [1, 2, 3, 0, 4, 0, 0, 0]
        let header: [UInt8] = [0x3D, 0xB8, 0xF3, 0x96] + little(UInt32(0xC000)) + sizes + little(flags) + version
        let signed = header + [UInt8](repeating: 0, count: 64 - header.count) + Self.program + protectedArea
        let kinds: [Checksum.Digest: UInt16] = [.sha256: 0x10, .sha384: 0x11, .sha512: 0x12]
        let digests = digest.map { [(kinds[$0] ?? 0, Checksum.digest($0, signed))] } ?? []
        return signed + area(0x6907, digests + more)
    }

    @Test func header() {
        let image = MCUbootImage(reading: image(flags: 0x924))
        #expect(image.header?.size == 64)
        #expect(image.header?.imageSize == 1000)
        #expect(image.header?.protectedTLVSize == 0)
        #expect(image.header?.loadAddress == 0xC000)
        #expect(image.header?.flags == [.encryptedAES128, .ramLoad, .romFixed, .armThumbFilter])
        #expect(image.version?.text == "1.2.3+4")
        #expect(image.version?.numbers == [1, 2, 3, 4])
        #expect(image.size == 1104)
        #expect(image.signedRange == 0..<1064)
        #expect(image.trailing == nil)
        #expect(image.problems.isEmpty)
    }

    @Test("PKG-11 any digest will do", arguments: Checksum.Digest.allCases)
    func digests(_ kind: Checksum.Digest) {
        let image = MCUbootImage(reading: image(digest: kind))
        #expect(image.digest?.kind == kind)
        #expect(image.digest?.verdict == .matches)
        #expect(image.digests.count == 1)
        #expect(image.problems.isEmpty)
    }

    @Test("PKG-12 the digest covers the protected TLVs")
    func protectedTLVs() {
        let dependency: [UInt8] = [2, 0, 0, 0, 3, 4, 5, 0, 0, 0, 0, 0]
        let bytes = image(protected: [(0x50, [7, 0, 0, 0]), (0x40, dependency), (0xA0, [1])])
        let image = MCUbootImage(reading: bytes)
        #expect(image.problems.isEmpty)
        #expect(image.digest?.verdict == .matches)
        #expect(image.securityCounter == 7)
        #expect(image.dependencies.map(\.image) == [2])
        #expect(image.dependencies.map(\.minimumVersion.text) == ["3.4.5"])
        #expect(image.protectedTLVs.map(\.kind.name) == ["security counter", "dependency", "vendor 0x00A0"])
    }

    @Test func signatures() {
        let image = MCUbootImage(
            reading: image(more: [
                (0x25, [1]), (0x01, [1, 2]), (0x22, [3]), (0x02, [4]), (0x24, [5]), (0x99, [6]), (0x1A0, []),
            ]))
        #expect(image.signatures.map(\.kind) == [.ecdsa, .ed25519])
        #expect(image.signatures.map(\.key) == [.hash([1, 2]), .whole([4])])
        #expect(image.signatures.map(\.bytes) == [[3], [5]])
        #expect(image.signatures.map(\.isPure) == [true, true])
        #expect(image.tlvs.suffix(2).map(\.kind.name) == ["unknown 0x0099", "vendor 0x01A0"])
        #expect(image.tlvs.suffix(2).map(\.value) == [[6], []])
    }

    @Test("A digest that is not the image's")
    func wrongDigest() {
        var bytes = image()
        let stated = Array(bytes.suffix(32))
        bytes[100] ^= 1
        let computed = Checksum.digest(.sha256, bytes[..<1064])
        let image = MCUbootImage(reading: bytes)
        #expect(image.digest?.verdict == .differs(computed))
        #expect(
            image.problems == [
                PackageError(
                    .mismatch, reason: "digestMismatch",
                    message: """
                        the image states the SHA-256 \(hex(stated.prefix(8)))…, and its bytes give \
                        \(hex(computed.prefix(8)))…: it is damaged; get it again
                        """)
            ])
    }

    @Test("The digest of an encrypted image is the plain one's: nothing to compare", arguments: [0x4, 0x8] as [UInt32])
    func encrypted(_ flag: UInt32) {
        var bytes = image(flags: flag)
        #expect(MCUbootImage(reading: bytes).digest?.verdict == .matches)
        bytes[100] ^= 1
        let image = MCUbootImage(reading: bytes)
        #expect(image.digest?.verdict == .encrypted)
        #expect(image.problems.isEmpty)
    }

    @Test func noDigest() {
        let image = MCUbootImage(reading: image(digest: nil, more: [(0x01, [1])]))
        #expect(image.digest == nil)
        #expect(
            image.problems == [
                PackageError(
                    .missing, reason: "noDigest",
                    message: "the image has no digest, by which bootloader and host know it: sign it with imgtool")
            ])
    }

    @Test("PKG-14 an image cut short anywhere: the size found and the size wanted")
    func truncated() {
        let whole = image(protected: [(0x50, [7, 0, 0, 0])])
        #expect(whole.count == 1116)
        for count in 0..<whole.count {
            let image = MCUbootImage(reading: Array(whole.prefix(count)))
            let wanted = count < 32 ? "at least 32" : count < 1080 ? "at least 1080" : "1116"
            #expect(
                image.problems == [
                    PackageError(
                        .malformed, reason: "truncated",
                        message: "the file has \(count) bytes, and the image \(wanted): it is cut short; get it again")
                ])
            #expect((image.header != nil) == (count >= 32))
            #expect(image.securityCounter == (count >= 1076 ? 7 : nil))
        }
    }

    @Test(
        "PKG-15 no MCUboot header",
        arguments: [
            (
                [1, 2, 3, 4], "noMCUbootHeader",
                "no MCUboot header (want 3d b8 f3 96, found 01 02 03 04): take the signed image of the build"
            ),
            (
                [0x3C, 0xB8, 0xF3, 0x96], "obsoleteHeader",
                "the image has MCUboot's first header (3c b8 f3 96), which no bootloader takes any more; sign it anew"
            ),
            ([0x96, 0xF3, 0xB8, 0x3D], "bigEndian", "the image is a big-endian one; sign it without --endian big"),
        ] as [([UInt8], String, String)])
    func otherMagic(_ magic: [UInt8], _ reason: String, _ message: String) {
        let bytes = magic + image().dropFirst(4)
        #expect(!MCUbootImage.hasMagic(bytes))
        let image = MCUbootImage(reading: bytes)
        #expect(image.header == nil)
        #expect(image.problems == [PackageError(.unsupported, reason: reason, message: message)])
    }

    @Test(
        "A number that does not fit",
        arguments: [
            (
                8, 31, "headerSize",
                "the header says that it has 31 bytes, and no header has fewer than 32: the image is damaged"
            ),
            (
                10, 16, "tlvAreaSize",
                "the protected TLV area says that it has 12 bytes, and the header says 16: the image is damaged"
            ),
            (
                1064, 0x6907, "noTLVArea",
                "no protected TLV area at byte 1064, where the header says (want 6908, found 6907): the image is damaged"
            ),
            (
                1076, 0x6908, "noTLVArea",
                "no TLV area at byte 1076, where the header says (want 6907, found 6908): the image is damaged"
            ),
            (
                1078, 3, "tlvAreaSize",
                "the TLV area says that it has 3 bytes, and none has fewer than 4: the image is damaged"
            ),
            (
                1078, 39, "tlvOverrun",
                "the TLV at byte 1080 does not fit in the TLV area, which ends at byte 1115: the image is damaged"
            ),
            (
                1070, 5, "tlvOverrun",
                "the TLV at byte 1068 does not fit in the protected TLV area, which ends at byte 1076: the image is damaged"
            ),
        ] as [(Int, UInt16, String, String)])
    func damaged(_ offset: Int, _ value: UInt16, _ reason: String, _ message: String) {
        var bytes = image(protected: [(0x50, [7, 0, 0, 0])])
        bytes.replaceSubrange(offset..<offset + 2, with: little(value))
        let problem = MCUbootImage(reading: bytes).problems.first
        #expect(problem == PackageError(.malformed, reason: reason, message: message))
    }

    @Test("Numbers at their greatest are sizes like any others")
    func greatestNumbers() {
        var bytes = image()
        bytes.replaceSubrange(8..<16, with: [UInt8](repeating: 0xFF, count: 8))
        #expect(
            MCUbootImage(reading: bytes).problems == [
                PackageError(
                    .malformed, reason: "truncated",
                    message: """
                        the file has 1104 bytes, and the image at least 4295098369: it is cut short; get it again
                        """)
            ])
    }

    @Test func whatIsBehindTheImage() {
        let plain: [UInt8] = [
            0x77, 0xC2, 0x95, 0xF3, 0x60, 0xD2, 0xEF, 0x7F, 0x35, 0x52, 0x50, 0x0F, 0x2C, 0xB6, 0x79, 0x80,
        ]
        let aligned: [UInt8] = [0x2D, 0xE1, 0x5D, 0x29, 0x41, 0x0B, 0x8D, 0x77, 0x67, 0x9C, 0x11, 0x0F, 0x1F, 0x8A]
        let erased = [UInt8](repeating: 0xFF, count: 100)
        func confirmed(_ distance: Int) -> [UInt8] {
            var bytes = erased
            bytes[100 - distance] = 1
            return bytes
        }
        let cases: [([UInt8], MCUbootImage.Trailing.Content)] = [
            (erased, .padding), ([0, 0], .padding), ([0xFF, 0], .unknown),
            (erased + plain, .swapTrailer(isConfirmed: false)), (plain, .unknown),
            (confirmed(8) + plain, .swapTrailer(isConfirmed: true)),
            (confirmed(48) + [32, 0] + aligned, .swapTrailer(isConfirmed: true)),
            (erased + [32, 0] + aligned, .swapTrailer(isConfirmed: false)),
            (erased + [0, 0] + aligned, .unknown), (erased + [0xFF, 0xFF] + aligned, .unknown),
        ]
        for (bytes, content) in cases {
            let image = MCUbootImage(reading: image() + bytes)
            #expect(image.trailing?.size == bytes.count)
            #expect(image.trailing?.content == content)
            #expect(image.problems.isEmpty)
        }
    }

    private func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension MCUbootImageTests {
    private struct Sidecar: Decodable {
        struct Reading: Decodable {
            struct Area: Decodable {
                struct Entry: Decodable {
                    var type: String
                    var hex: String
                }
                var tlvs: [Entry]
            }
            var load_addr: UInt32
            var hdr_size: Int
            var prot_tlv_size: Int
            var img_size: Int
            var flags: UInt32
            var version: String
            var image_end: Int
            var hash: String
            var hash_ok: Bool
            var protected: Area?
            var tlv: Area
        }
        struct Dump: Decodable {
            struct Trailer: Decodable {
                var image_ok: UInt8?
            }
            var trailer: Trailer
        }
        var file: String
        var exists: Bool
        var reader: Reading?
        var dumpinfo: Dump?
    }

    @Test("Images by imgtool, against its own reading", .enabled(if: SharedFolder.path("fixtures/made/mcuboot") != nil))
    func corpus() throws {
        let folder = try #require(SharedFolder.path("fixtures/made/mcuboot"))
        let sidecars = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".json") }
        var compared = 0
        for name in sidecars {
            let sidecar = try JSONDecoder().decode(
                Sidecar.self, from: Data(contentsOf: URL(filePath: "\(folder)/\(name)")))
            guard sidecar.exists else { continue }
            let file = try Data(contentsOf: URL(filePath: "\(folder)/\(sidecar.file)"))
            let bytes =
                sidecar.file.hasSuffix(".hex")
                ? try IntelHex(file).image.flattened(maximumGap: 1 << 20).bytes : Array(file)
            let image = MCUbootImage(reading: bytes)
            guard let reading = sidecar.reader else {
                #expect(sidecar.file == "endian_big.bin")
                #expect(image.problems.map(\.reason) == ["bigEndian"])
                continue
            }
            compare(image, with: reading, sidecar.file)
            let imageOK = sidecar.dumpinfo?.trailer.image_ok
            let content = imageOK.map { MCUbootImage.Trailing.Content.swapTrailer(isConfirmed: $0 == 1) }
            #expect(image.trailing?.content == content, "\(sidecar.file)")
            compared += 1
        }
        #expect(compared == 64)
    }

    private func compare(_ image: MCUbootImage, with reading: Sidecar.Reading, _ file: String) {
        #expect(image.problems.isEmpty, "\(file)")
        #expect(image.header?.loadAddress == reading.load_addr, "\(file)")
        #expect(image.header?.size == reading.hdr_size, "\(file)")
        #expect(image.header?.protectedTLVSize == reading.prot_tlv_size, "\(file)")
        #expect(image.header?.imageSize == reading.img_size, "\(file)")
        #expect(image.header?.flags.rawValue == reading.flags, "\(file)")
        // imgtool shows a build of 0 too.
        #expect(reading.version == image.version.map { $0.build == nil ? "\($0)+0" : "\($0)" }, "\(file)")
        #expect(image.size == reading.image_end, "\(file)")
        #expect(image.digests.map { hex($0.value) } == [reading.hash], "\(file)")
        #expect(image.digest?.verdict == (reading.hash_ok ? .matches : .encrypted), "\(file)")
        for (tlvs, area) in [(image.protectedTLVs, reading.protected), (image.tlvs, reading.tlv)] {
            let entries = area?.tlvs ?? []
            #expect(tlvs.map { hex($0.value) } == entries.map(\.hex), "\(file)")
            #expect(
                tlvs.map { Int($0.kind.rawValue) } == entries.map { Int($0.type.dropFirst(2), radix: 16) }, "\(file)")
        }
    }

    @Test("Images of nRF Connect SDK forms", .enabled(if: SharedFolder.path("fixtures/made/ncs/bins") != nil))
    func ncsImages() throws {
        let folder = try #require(SharedFolder.path("fixtures/made/ncs/bins"))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        for name in names {
            let image = MCUbootImage(reading: Array(try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))))
            #expect(image.problems.isEmpty, "\(name)")
            #expect(image.digest?.verdict == .matches, "\(name)")
        }
        #expect(names.count == 8)
    }

    @Test("Images that projects shipped", .enabled(if: SharedFolder.path("fixtures/real/index.json") != nil))
    func realImages() throws {
        struct Entry: Decodable {
            struct Read: Decodable {
                var mcuboot: Sidecar.Reading?
            }
            var file: String?
            var read: Read?
        }
        let index = try #require(SharedFolder.path("fixtures/real/index.json"))
        var compared = 0
        for entry in try JSONDecoder().decode([Entry].self, from: Data(contentsOf: URL(filePath: index))) {
            guard let reading = entry.read?.mcuboot, let file = entry.file,
                let path = SharedFolder.path("fixtures/real/\(file)")
            else { continue }
            compare(MCUbootImage(reading: Array(try Data(contentsOf: URL(filePath: path)))), with: reading, file)
            compared += 1
        }
        #expect(compared == 6)
    }
}
