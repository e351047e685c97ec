import DFUPackage
import DFUProtocol
import FoundationEssentials

/// A package's description for people.
struct PackageText {
    let description: PackageDescription
    /// Whether offsets are shown, and long values whole.
    var isVerbose = false
    private var page: LabelledText

    /// The text of `description` in lines of `width` columns, without a line break at its end.
    static func text(_ description: PackageDescription, isVerbose: Bool = false, width: Int = 80) -> String {
        var text = PackageText(description: description, isVerbose: isVerbose, page: LabelledText(width: width))
        text.write()
        return text.page.text
    }

    private init(description: PackageDescription, isVerbose: Bool, page: LabelledText) {
        self.description = description
        self.isVerbose = isVerbose
        self.page = page
    }

    private mutating func write() {
        page.heading(description.file)
        writeFile()
        for (index, part) in description.parts.enumerated() {
            write(part, index: index)
        }
        if !description.warnings.isEmpty {
            page.heading("Warnings")
            description.warnings.forEach { page.item($0.message) }
        }
        if !description.problems.isEmpty {
            page.heading("Problems")
            description.problems.forEach { page.item($0.message) }
        }
        page.heading(conclusion)
    }

    // MARK: The file

    private mutating func writeFile() {
        if let kind = description.kind { page.row("Kind", kind.words) }
        if let size = description.size { page.row("Size", bytes(size)) }
        if let sha256 = description.sha256 { page.row("SHA-256", sha256) }
        if let name = description.name { write(name) }
        if let manifest = description.manifest { write(manifest) }
    }

    private mutating func write(_ name: NameDescription) {
        if let version = name.version { page.row("Version", "\(version), by the file's name") }
        switch name.verdict {
        case .matches: page.row("CRC-32", "\(name.contentCRC32), as the file's name states")
        case .differs:
            let isFault = description.problems.contains { $0.reason == "crcMismatch" }
            page.row(
                "CRC-32",
                "\(name.contentCRC32), but the file's name states \(name.crc32 ?? "another")"
                    + (isFault ? "" : ", which may be something else"))
        case .notStated:
            // Only these have no checksum of their own.
            guard description.kind == .binary || description.kind == .intelHex else { return }
            page.row("CRC-32", "\(name.contentCRC32); the file's name states none")
        }
    }

    private mutating func write(_ manifest: ManifestDescription) {
        switch manifest.form {
        case .nordic:
            guard let version = manifest.dfuVersion else { return }
            page.row("Manifest", "dfu_version \(version)")
        case .connectSDK:
            let facts = [
                manifest.formatVersion.map { "format-version \($0)" }, manifest.time.map { "made \(date($0))" },
                manifest.name.map { "name \"\($0)\"" },
            ]
            let known = facts.compactMap(\.self)
            page.row("Manifest", known.isEmpty ? [] : [known.joined(separator: ", ")])
        }
    }

    private func date(_ seconds: UInt64) -> String {
        // Dates of more than four digits are no dates, and not all of them can be formatted.
        guard seconds < 253_402_300_800 else { return "\(seconds) s after 1970" }
        let date = Date(timeIntervalSince1970: Double(seconds)).formatted(
            Date.ISO8601FormatStyle(dateTimeSeparator: .space, timeZone: .gmt))
        return String(date.prefix(19)) + " UTC"
    }

    // MARK: Parts

    private mutating func write(_ part: PartDescription, index: Int) {
        let isWholeFile = part.file == description.file && part.sha256 == description.sha256
        // Of such a file all has been said.
        if isWholeFile, part.mcuboot?.version == nil { return }
        let count = description.parts.count
        let isZip = description.manifest != nil || count > 1 || part.file != description.file
        page.heading(
            isZip ? "Part \(index + 1) of \(count): \(part.words)" : part.role == .image ? "Image" : "Firmware")
        if !isWholeFile {
            if part.file != description.file { page.row("File", part.file) }
            page.row("Size", sizes(of: part))
            if let sha256 = part.sha256 { page.row("SHA-256", sha256) }
        }
        if let entry = description.manifest?.entry(of: part) { write(entry) }
        if let packet = part.initPacket { write(packet, of: part) }
        if let hex = part.intelHex { write(hex) }
        if let image = part.mcuboot { write(image, isOfAnotherProtocol: part.role != .image) }
    }

    private func sizes(of part: PartDescription) -> String {
        let shares = [
            ("SoftDevice", part.sizes.softdevice), ("bootloader", part.sizes.bootloader),
            ("application", part.sizes.application),
        ].filter { $0.1 > 0 }
        let (sum, overflow) = shares.reduce((0, false)) { sum, share in
            let (partial, overflow) = sum.0.addingReportingOverflow(share.1)
            return (partial, sum.1 || overflow)
        }
        let isKnown = part.sizes != .init(softdevice: 0, bootloader: 0, application: 0)
        guard part.size > 0 else { return "not there" + (isKnown ? "; \(sum) bytes are announced" : "") }
        if shares.count > 1 {
            return bytes(part.size) + ": " + shares.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        }
        return bytes(part.size) + (isKnown && (overflow || sum != part.size) ? ", but \(sum) are announced" : "")
    }

    private mutating func write(_ entry: ManifestDescription.Entry) {
        guard description.manifest?.form == .connectSDK else { return }
        let facts = [
            entry.type.map { "type \($0)" }, entry.version.map { "version \($0)" },
            entry.loadAddress.map { "load address \(hex($0))" },
        ]
        let places = [entry.board.map { "board \($0)" }, entry.soc.map { "SoC \($0)" }]
        let lines = [facts, places].map { $0.compactMap(\.self).joined(separator: ", ") }
        page.row("Manifest", lines.filter { !$0.isEmpty })
    }

    // MARK: Init packets

    private mutating func write(_ packet: InitPacketDescription, of part: PartDescription) {
        if let version = packet.version {
            page.row("Version", version)
        }
        page.row(packet.check.label, packet.check.words)
        if let signature = packet.signature {
            page.row("Signature", "\(signature.algorithm), \(words(for: signature.verdict))")
            if isVerbose {
                page.row(
                    "Signed", "bytes \(range(signature.signedOffset, signature.signedLength)) of the init packet")
            }
        } else {
            page.row("Signature", "none")
        }
        let facts = "\(packet.file), \(packet.size) bytes, \(packet.format.words)"
        page.row("Init packet", isVerbose ? [facts, "with the bytes where each field stands"] : [facts])
        page.table(packet.fields.map(row), limit: isVerbose ? .max : 40)
    }

    private func words(for verdict: SecureInitPacket.SignatureVerdict?) -> String {
        switch verdict {
        case .verified: "verified with the key"
        case .invalid, .missing: "not this key's"
        case nil: "not verified: that takes the public key"
        }
    }

    private func row(_ field: InitPacketDescription.Field) -> [LabelledText.Cell] {
        let value = field.meaning ?? (isVerbose ? field.value : shortened(field.value))
        let cells: [LabelledText.Cell] = [.init(field.name), .init(value.isEmpty ? "empty" : value)]
        return isVerbose ? [.init(range(field.offset, field.length))] + cells : cells
    }

    // MARK: Intel HEX

    private mutating func write(_ hex: IntelHexDescription) {
        let count = hex.segments.count
        page.row("Intel HEX", "\(bytes(hex.size)) in \(count) segment\(count == 1 ? "" : "s")")
        if let start = hex.startAddress { page.row("Starts at", self.hex(start)) }
        var rows: [[LabelledText.Cell]] = []
        var end: Int?
        for segment in hex.segments {
            if let end { rows.append(["gap", .number(Int(segment.address) - end, " bytes")]) }
            let next = Int(segment.address) + segment.size
            rows.append([
                "\(self.hex(segment.address)) to \(self.hex(UInt32(next - 1)))", .number(segment.size, " bytes"),
            ])
            end = next
        }
        page.table(rows, limit: isVerbose ? .max : 40)
    }

    // MARK: MCUboot

    private mutating func write(_ image: MCUbootDescription, isOfAnotherProtocol: Bool) {
        if isOfAnotherProtocol { page.row("MCUboot", "the firmware is an MCUboot image") }
        if let version = image.version { page.row("Version", version) }
        if let header = image.headerSize, let program = image.programSize {
            page.row("Header", bytes(header))
            page.row("Program", bytes(program))
        }
        if let flags = image.flags, let names = image.flagNames {
            page.row("Flags", "\(hex(flags)), " + (names.isEmpty ? "none" : names.joined(separator: ", ")))
        }
        if let address = image.loadAddress, address > 0 { page.row("Load address", hex(address)) }
        for digest in image.digests {
            page.row("Digest", ["\(digest.algorithm), \(digest.words)", digest.value])
            if let computed = digest.computed { page.row("Computed", computed) }
        }
        for signature in image.signatures { write(signature) }
        // A file that is cut short may have had one.
        if image.signatures.isEmpty, !image.tlvs.isEmpty { page.row("Signature", "none") }
        if let counter = image.securityCounter { page.row("Counter", "security counter \(counter)") }
        for dependency in image.dependencies {
            page.row("Depends on", "image \(dependency.image), at least \(dependency.minimumVersion)")
        }
        if let size = image.size { page.row("Image", "\(bytes(size)) from header to last TLV") }
        if let trailing = image.trailing { page.row("Behind it", "\(bytes(trailing.size)): \(trailing.words)") }
        if !image.tlvs.isEmpty {
            page.row(
                "TLVs",
                isVerbose ? "\(image.tlvs.count), with the bytes where each value stands" : "\(image.tlvs.count)")
        }
        page.table(image.tlvs.map(row), limit: isVerbose ? .max : 40)
        if isOfAnotherProtocol { image.problems.forEach { page.row("MCUboot", $0) } }
    }

    private mutating func write(_ signature: MCUbootDescription.Signature) {
        page.row(
            "Signature",
            signature.algorithm + (signature.pure ? " over the image itself" : "")
                + ", not verified: that takes the public key")
        if let hash = signature.keyHash { page.row("Key hash", hash) }
        if let key = signature.publicKey { page.row("Public key", isVerbose ? key : shortened(key)) }
    }

    private func row(_ tlv: MCUbootDescription.TLV) -> [LabelledText.Cell] {
        let cells: [LabelledText.Cell] = [
            "0x\(tlv.type.hexadecimal)", .init(tlv.name + (tlv.protected ? ", protected" : "")),
            .number(tlv.length, tlv.length == 1 ? " byte " : " bytes"),
            .init(isVerbose ? tlv.value : shortened(tlv.value)),
        ]
        return isVerbose ? [.init(range(tlv.offset, tlv.length))] + cells : cells
    }

    // MARK: The end

    private var conclusion: String {
        let count = description.problems.count
        guard count == 0 else { return "Not sound: \(count) problem\(count == 1 ? "" : "s")." }
        if description.kind == .binary, description.name?.verdict == .notStated {
            return "No fault was found, and nothing in the file or its name shows whether it is whole."
        }
        let images = description.parts.filter { $0.role == .image }.compactMap(\.mcuboot)
        if images.contains(where: { $0.digests.allSatisfy { $0.verdict == .encrypted } }) {
            return "No fault was found, and without its key an encrypted image cannot be checked."
        }
        let isSigned = description.parts.contains { part in
            part.initPacket?.signed == true || part.mcuboot?.signatures.isEmpty == false
        }
        guard isSigned else { return "Sound." }
        let isVerified = description.parts.allSatisfy { $0.initPacket?.signature?.verdict == .verified }
        return isVerified ? "Sound, and signed with the key." : "Sound. Signatures were not verified."
    }

    // MARK: Values

    private func bytes(_ count: Int) -> String {
        count < 10_000 ? "\(count) bytes" : "\(count) bytes (\(Quantities.bytes(Double(count))))"
    }

    private func hex(_ number: UInt32) -> String { "0x" + number.hexadecimal }

    private func hex(_ number: UInt64) -> String { UInt32(exactly: number).map(hex) ?? "0x" + number.hexadecimal }

    /// `27-60`: the first byte and the last.
    private func range(_ offset: Int, _ length: Int) -> String {
        length > 1 ? "\(offset)-\(offset + length - 1)" : "\(offset)"
    }

    /// The first of many bytes in hexadecimal; any other text as it is.
    private func shortened(_ value: String) -> String {
        guard value.utf8.count > 24, value.utf8.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }) else {
            return value
        }
        return value.prefix(16) + "…"
    }
}
