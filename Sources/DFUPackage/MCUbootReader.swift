/// Reads an image for MCUboot as far as it goes.
struct MCUbootReader {
    private let bytes: [UInt8]
    private(set) var header: MCUbootImage.Header?
    private(set) var protectedTLVs: [MCUbootImage.TLV] = []
    private(set) var tlvs: [MCUbootImage.TLV] = []
    private(set) var digests: [MCUbootImage.Digest] = []
    private(set) var size: Int?
    private(set) var signedRange: Range<Int>?
    private(set) var problems: [PackageError] = []

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func read() {
        guard let header = readHeader() else { return }
        self.header = header
        guard header.size >= MCUbootImage.Header.length else {
            report(
                .malformed, "headerSize",
                "the header says that it has \(header.size) bytes, and no header has fewer than 32: the image is damaged"
            )
            return
        }
        if header.protectedTLVSize > 0 {
            protectedTLVs = readArea(at: header.protectedTLVOffset, magic: 0x6908, size: header.protectedTLVSize)
        }
        tlvs = readArea(at: header.unsignedTLVOffset, magic: 0x6907, size: nil)
        if header.unsignedTLVOffset <= bytes.count {
            signedRange = 0..<header.unsignedTLVOffset
            readDigests(isEncrypted: header.flags.isEncrypted)
        }
    }

    private mutating func readHeader() -> MCUbootImage.Header? {
        let start = bytes.prefix(4)
        let magic = start.count == 4 ? bytes.uint32(at: 0) : nil
        if let magic, magic != MCUbootImage.magic {
            let found = start.map(\.hexadecimal).joined(separator: " ").lowercased()
            switch magic {
            case MCUbootImage.magic.byteSwapped:
                report(.unsupported, "bigEndian", "the image is a big-endian one; sign it without --endian big")
            case 0x96F3_B83C:
                report(
                    .unsupported, "obsoleteHeader",
                    "the image has MCUboot's first header (\(found)), which no bootloader takes any more; sign it anew")
            default:
                report(
                    .unsupported, "noMCUbootHeader",
                    "no MCUboot header (want 3d b8 f3 96, found \(found)): take the signed image of the build")
            }
            return nil
        }
        guard bytes.count >= MCUbootImage.Header.length else {
            report(truncated(wanted: MCUbootImage.Header.length))
            return nil
        }
        return MCUbootImage.Header(bytes[..<MCUbootImage.Header.length])
    }

    /// The TLVs of one area. Only the unprotected one, which the header does not know, tells the image's size.
    private mutating func readArea(at start: Int, magic: UInt16, size stated: Int?) -> [MCUbootImage.TLV] {
        let name = stated == nil ? "TLV area" : "protected TLV area"
        guard start + 4 <= bytes.count else {
            // Of two areas behind the end one is enough to say so.
            if stated == nil { report(truncated(wanted: start + 4)) }
            return []
        }
        let (foundMagic, areaSize) = (bytes.uint16(at: start), Int(bytes.uint16(at: start + 2)))
        guard foundMagic == magic else {
            report(
                .malformed, "noTLVArea",
                """
                no \(name) at byte \(start), where the header says (want \(magic.hexadecimal), \
                found \(foundMagic.hexadecimal)): the image is damaged
                """)
            return []
        }
        guard areaSize >= 4, stated ?? areaSize == areaSize else {
            let wanted = stated.map { "and the header says \($0)" } ?? "and none has fewer than 4"
            report(
                .malformed, "tlvAreaSize",
                "the \(name) says that it has \(areaSize) bytes, \(wanted): the image is damaged")
            return []
        }
        let end = start + areaSize
        if stated == nil {
            size = end
            if end > bytes.count { report(truncated(wanted: end)) }
        }
        return readEntries(from: start + 4, to: end, of: name)
    }

    private mutating func readEntries(from start: Int, to end: Int, of name: String) -> [MCUbootImage.TLV] {
        var entries: [MCUbootImage.TLV] = []
        var position = start
        while position + 4 <= min(end, bytes.count) {
            let valueEnd = position + 4 + Int(bytes.uint16(at: position + 2))
            guard valueEnd <= min(end, bytes.count) else { break }
            entries.append(
                MCUbootImage.TLV(
                    kind: .init(rawValue: bytes.uint16(at: position)), value: Array(bytes[position + 4..<valueEnd])))
            position = valueEnd
        }
        if position != end, end <= bytes.count {
            report(
                .malformed, "tlvOverrun",
                "the TLV at byte \(position) does not fit in the \(name), which ends at byte \(end): the image is damaged"
            )
        }
        return entries
    }

    private mutating func readDigests(isEncrypted: Bool) {
        // A hostile image may have thousands of digests.
        var known: [Checksum.Digest: [UInt8]] = [:]
        for tlv in tlvs {
            guard let kind = tlv.kind.digest else { continue }
            let computed = known[kind] ?? Checksum.digest(kind, bytes[signedRange ?? 0..<0])
            known[kind] = computed
            if tlv.value == computed {
                digests.append(MCUbootImage.Digest(kind: kind, value: tlv.value, verdict: .matches))
            } else if isEncrypted, tlv.value.count == computed.count {
                digests.append(MCUbootImage.Digest(kind: kind, value: tlv.value, verdict: .encrypted))
            } else {
                digests.append(MCUbootImage.Digest(kind: kind, value: tlv.value, verdict: .differs(computed)))
                report(
                    .mismatch, "digestMismatch",
                    """
                    the image states the \(tlv.kind.name) \(shortened(tlv.value)), and its bytes give \
                    \(shortened(computed)): it is damaged; get it again
                    """)
            }
        }
        if digests.isEmpty, size ?? .max <= bytes.count {
            report(
                .missing, "noDigest",
                "the image has no digest, by which bootloader and host know it: sign it with imgtool")
        }
    }

    private func truncated(wanted: Int) -> PackageError {
        let least = wanted == size ? "" : "at least "
        return PackageError(
            .malformed, reason: "truncated",
            message: "the file has \(bytes.count) bytes, and the image \(least)\(wanted): it is cut short; get it again"
        )
    }

    private func shortened(_ digest: [UInt8]) -> String {
        digest.prefix(8).map(\.hexadecimal).joined().lowercased() + (digest.count > 8 ? "…" : "")
    }

    private mutating func report(_ code: PackageError.Code, _ reason: String, _ message: String) {
        report(PackageError(code, reason: reason, message: message))
    }

    private mutating func report(_ problem: PackageError) {
        problems.append(problem)
    }
}
