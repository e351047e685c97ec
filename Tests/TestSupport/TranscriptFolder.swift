private import FoundationEssentials

/// The recorded conversations in the shared folder, which most machines do not have.
public enum TranscriptFolder {
    /// The names, without `.txt`, of those that begin with one of `prefixes`; empty where there is no such folder.
    public static func names(_ prefixes: [String]) -> [String] {
        guard let folder = SharedFolder.path("transcripts") else { return [] }
        return folderEntries(folder).filter { name in
            name.hasSuffix(".txt") && prefixes.contains { name.hasPrefix($0) }
        }.map { String($0.dropLast(4)) }
    }

    /// The entries of the conversation of this name.
    public static func entries(_ name: String) throws -> [TranscriptEntry] {
        guard let folder = SharedFolder.path("transcripts") else { return [] }
        let text = String(decoding: try ProjectFile.bytes(at: "\(folder)/\(name).txt"), as: UTF8.self)
        return try TranscriptEntry.read(text)
    }

    /// A part that was sent in a conversation.
    public struct Part: Sendable, Hashable {
        /// Where it lies, without the ending: `x/ok_v1/app10000`.
        public var name: String
        /// The bytes of the `.dat`.
        public var initPacket: [UInt8]
        /// The bytes of the `.bin`, which may be none.
        public var firmware: [UInt8]
    }

    /// All parts of the packages for Secure DFU, each an init packet and the firmware beside it.
    public static func secureParts() throws -> [Part] {
        guard let folder = SharedFolder.path("transcripts/packages") else { return [] }
        var parts: [Part] = []
        for place in ["c"] + folderEntries("\(folder)/x").map({ "x/\($0)" }) {
            for file in folderEntries("\(folder)/\(place)") where file.hasSuffix(".dat") {
                let name = "\(place)/\(file.dropLast(4))"
                parts.append(
                    Part(
                        name: name, initPacket: try ProjectFile.bytes(at: "\(folder)/\(name).dat"),
                        firmware: try ProjectFile.bytes(at: "\(folder)/\(name).bin")))
            }
        }
        return parts
    }

    /// The names in a folder, in order.
    private static func folderEntries(_ path: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }
}
