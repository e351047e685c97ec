import FoundationEssentials
import TestSupport
import Testing

/// What other tools say of a package, from the file beside it. Only what the tests compare.
struct Sidecar: Decodable {
    var hashes: Hashes
    var reader: Reader
    var display: Display?
    var path = ""

    private enum CodingKeys: CodingKey { case hashes, reader, display }

    struct Hashes: Decodable {
        var size: Int
        var sha256: String
    }

    struct Reader: Decodable {
        var images: [Image]?
    }

    struct Display: Decodable {
        var images: [[String: String]]?
    }

    struct Image: Decodable {
        var slot: String?
        var bin_file: String?
        var file: String?
        var image_index: String?
        var bin: Hashes?
        var dat_hex: String?
        var initPacket: InitPacket?

        private enum CodingKeys: String, CodingKey {
            case slot, bin_file, file, image_index, bin, dat_hex
            case initPacket = "init"
        }
    }

    struct InitPacket: Decodable {
        var format: String
        var sd_req: [UInt32]?
        var type: String?
        var fw_version: UInt32?
        var hw_version: UInt32?
        var sd_size: UInt32?
        var bl_size: UInt32?
        var app_size: UInt32?
        var hash_type: String?
        var hash_le: String?
        var is_debug: Bool?
        var signed: Bool?
        var signature_type: String?
        var signature: String?
        var command_sha256: String?
        var boot_validation: [BootValidation]?
        var device_type: UInt16?
        var device_revision: UInt16?
        var app_version: UInt32?
        var crc16: UInt16?
        var firmware_length: UInt32?
        var firmware_hash: String?
        var ecds: String?
    }

    struct BootValidation: Decodable {
        var type: String
        var bytes: String
    }

    init(_ name: String) throws {
        let path = SharedFolder.path("fixtures/\(name)") ?? ""
        self = try JSONDecoder().decode(Sidecar.self, from: Data(contentsOf: URL(filePath: "\(path).json")))
        self.path = path
    }

    /// The zips of a folder that have a sidecar.
    static func all(in folder: String) -> [String] {
        guard let path = SharedFolder.path("fixtures/made/\(folder)"),
            let names = try? FileManager.default.contentsOfDirectory(atPath: path)
        else { return [] }
        return names.filter { $0.hasSuffix(".zip") && names.contains("\($0).json") }.sorted()
    }
}

/// A file of the index of packages that projects shipped.
struct RealFile: Decodable, Sendable, CustomTestStringConvertible {
    var file: String
    var kind: String
    var sha256: String
    var read: Reading

    struct Reading: Decodable, Sendable {
        var images: [Sidecar.Image]?
    }

    var testDescription: String { file }

    static func zips() -> [RealFile] { all().filter { $0.file.hasSuffix(".zip") } }

    static func bare() -> [RealFile] { all().filter { !$0.file.hasSuffix(".zip") } }

    private static func all() -> [RealFile] {
        guard let path = SharedFolder.path("fixtures/real/index.json"),
            let text = try? Data(contentsOf: URL(filePath: path)),
            let files = try? JSONDecoder().decode([RealFile].self, from: text)
        else { return [] }
        return files
    }
}

extension [UInt8] {
    /// In hexadecimal, so that a failing test shows what differs.
    var text: String {
        map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0\(digits)" : digits
        }.joined()
    }
}
