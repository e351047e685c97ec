private import DFUPackage

/// Writes zips byte by byte, sound ones and others (APPNOTE.TXT 4.3).
package enum ZipMaker {
    package struct Entry {
        package var name: String
        package var content: [UInt8]
        package var method: UInt16 = 0
        package var flags: UInt16 = 0
        /// 0x0314 has Unix in its high byte, as Info-ZIP's "version made by", where only a version belongs.
        package var versionNeeded: UInt16 = 20
        /// What stands in the directory instead of the truth.
        package var claimedSize: UInt32?
        package var claimedPackedSize: UInt32?
        package var claimedCRC: UInt32?

        package init(_ name: String, _ content: [UInt8]) {
            self.name = name
            self.content = content
        }

        package init(_ name: String, _ text: String) {
            self.init(name, Array(text.utf8))
        }

        /// With the content deflated, in blocks without compression.
        package var deflated: Entry {
            var entry = self
            entry.method = 8
            return entry
        }

        /// With sizes and CRC behind the content, as a writer to a pipe has it.
        package var streamed: Entry {
            var entry = self
            entry.flags |= 8
            return entry
        }

        package func with(_ change: (inout Entry) -> Void) -> Entry {
            var entry = self
            change(&entry)
            return entry
        }

        fileprivate var packed: [UInt8] {
            guard method == 8 else { return content }
            let length = UInt16(content.count)
            return [1] + littleEndian(length) + littleEndian(~length) + content
        }
    }

    /// The zip of `entries`.
    package static func zip(_ entries: [Entry], comment: [UInt8] = []) -> [UInt8] {
        var file: [UInt8] = []
        var directory: [UInt8] = []
        for entry in entries {
            let name = Array(entry.name.utf8)
            let packed = entry.packed
            let isStreamed = entry.flags & 8 != 0
            let crc = entry.claimedCRC ?? Checksum.crc32(entry.content)
            let sizes =
                littleEndian(crc) + littleEndian(entry.claimedPackedSize ?? UInt32(packed.count))
                + littleEndian(entry.claimedSize ?? UInt32(entry.content.count))
            let common =
                littleEndian(entry.versionNeeded) + littleEndian(entry.flags) + littleEndian(entry.method) + [
                    0, 0, 0x21, 0x58,
                ]
            let lengths = littleEndian(UInt16(name.count)) + [0, 0]
            directory += [0x50, 0x4B, 1, 2, 20, 3] + common + sizes + lengths
            directory += [0, 0, 0, 0, 0, 0, 0, 0, 0, 0] + littleEndian(UInt32(file.count)) + name
            file += [0x50, 0x4B, 3, 4] + common
            file += (isStreamed ? [UInt8](repeating: 0, count: 12) : sizes) + lengths + name + packed
            if isStreamed { file += [0x50, 0x4B, 7, 8] + sizes }
        }
        let count = littleEndian(UInt16(entries.count))
        let end = [0x50, 0x4B, 5, 6, 0, 0, 0, 0] + count + count + littleEndian(UInt32(directory.count))
        return file + directory + end + littleEndian(UInt32(file.count)) + littleEndian(UInt16(comment.count)) + comment
    }
}

/// Little-endian.
package func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { Array($0) }
}
