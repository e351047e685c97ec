import DFUPackage

/// Writes zips byte by byte, sound ones and others (APPNOTE.TXT 4.3).
struct ZipMaker {
    struct Entry {
        var name: String
        var content: [UInt8]
        var method: UInt16 = 0
        var flags: UInt16 = 0
        /// 0x0314 has Unix in its high byte, as Info-ZIP's "version made by", where only a version belongs.
        var versionNeeded: UInt16 = 20
        /// What stands in the directory instead of the truth.
        var claimedSize: UInt32?
        var claimedPackedSize: UInt32?
        var claimedCRC: UInt32?

        init(_ name: String, _ content: [UInt8]) {
            self.name = name
            self.content = content
        }

        init(_ name: String, _ text: String) {
            self.init(name, Array(text.utf8))
        }

        /// With the content deflated, in blocks without compression.
        var deflated: Entry {
            var entry = self
            entry.method = 8
            return entry
        }

        /// With sizes and CRC behind the content, as a writer to a pipe has it.
        var streamed: Entry {
            var entry = self
            entry.flags |= 8
            return entry
        }

        func with(_ change: (inout Entry) -> Void) -> Entry {
            var entry = self
            change(&entry)
            return entry
        }

        fileprivate var packed: [UInt8] {
            guard method == 8 else { return content }
            let length = UInt16(content.count)
            return [1] + bytes(length) + bytes(~length) + content
        }
    }

    /// The zip of `entries`.
    static func zip(_ entries: [Entry], comment: [UInt8] = []) -> [UInt8] {
        var file: [UInt8] = []
        var directory: [UInt8] = []
        for entry in entries {
            let name = Array(entry.name.utf8)
            let packed = entry.packed
            let isStreamed = entry.flags & 8 != 0
            let crc = entry.claimedCRC ?? Checksum.crc32(entry.content)
            let sizes =
                bytes(crc) + bytes(entry.claimedPackedSize ?? UInt32(packed.count))
                + bytes(entry.claimedSize ?? UInt32(entry.content.count))
            let common =
                bytes(entry.versionNeeded) + bytes(entry.flags) + bytes(entry.method) + [0, 0, 0x21, 0x58]
            let lengths = bytes(UInt16(name.count)) + [0, 0]
            directory += [0x50, 0x4B, 1, 2, 20, 3] + common + sizes + lengths
            directory += [0, 0, 0, 0, 0, 0, 0, 0, 0, 0] + bytes(UInt32(file.count)) + name
            file += [0x50, 0x4B, 3, 4] + common
            file += (isStreamed ? [UInt8](repeating: 0, count: 12) : sizes) + lengths + name + packed
            if isStreamed { file += [0x50, 0x4B, 7, 8] + sizes }
        }
        let count = bytes(UInt16(entries.count))
        let end = [0x50, 0x4B, 5, 6, 0, 0, 0, 0] + count + count + bytes(UInt32(directory.count))
        return file + directory + end + bytes(UInt32(file.count)) + bytes(UInt16(comment.count)) + comment
    }
}

/// Little-endian.
func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { Array($0) }
}
