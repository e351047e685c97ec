/// What a file is, by how it begins; by its name only where the beginning tells nothing.
enum FileShape: Equatable {
    case empty, zip, mcuboot, intelHex, binary
    /// Something that is no firmware, in words.
    case foreign(String)

    init(of bytes: [UInt8], named name: String) {
        let name = name.lowercased()
        if bytes.isEmpty {
            self = .empty
        } else if Self.zipMagics.contains(where: bytes.starts) {
            self = .zip
        } else if MCUbootImage.hasMagic(bytes) {
            self = .mcuboot
        } else if Self.looksLikeIntelHex(bytes) {
            self = .intelHex
        } else if let foreign = Self.foreign(bytes) {
            self = .foreign(foreign)
        } else if name.hasSuffix(".zip") {
            self = .foreign("no zip archive, though its name says so")
        } else if name.hasSuffix(".hex") {
            self = .intelHex
        } else if name.hasSuffix(".dat") {
            self = .foreign("an init packet without its firmware")
        } else {
            self = .binary
        }
    }

    /// A local header, the end of an empty archive, the mark of an archive in several pieces (APPNOTE.TXT 4.3).
    private static let zipMagics: [[UInt8]] = [[0x50, 0x4B, 3, 4], [0x50, 0x4B, 5, 6], [0x50, 0x4B, 7, 8]]

    /// Whether the first line begins with the record mark and three bytes in hexadecimal.
    private static func looksLikeIntelHex(_ bytes: [UInt8]) -> Bool {
        let text = bytes.prefix(4096).drop { $0 == 0xEF || $0 == 0xBB || $0 == 0xBF || $0 == 0x20 || 9...13 ~= $0 }
        guard text.first == UInt8(ascii: ":"), text.count >= 7 else { return false }
        return text.dropFirst().prefix(6).allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
    }

    private static func foreign(_ bytes: [UInt8]) -> String? {
        let magics: [([UInt8], String)] = [
            ([0x7F, 0x45, 0x4C, 0x46], "an ELF file from the linker"), ([0x1F, 0x8B], "compressed with gzip"),
            ([0x37, 0x7A, 0xBC, 0xAF], "a 7-Zip archive"), (Array("Rar!".utf8), "a RAR archive"),
            (Array("UF2\n".utf8), "a UF2 file for a USB drive"),
        ]
        if let magic = magics.first(where: { bytes.starts(with: $0.0) }) { return magic.1 }
        let start = String(decoding: bytes.prefix(256), as: UTF8.self).drop { $0.isWhitespace }.lowercased()
        return start.hasPrefix("<!doctype html") || start.hasPrefix("<html") ? "a web page" : nil
    }
}
