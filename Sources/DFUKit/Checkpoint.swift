public import DFUProtocol
private import FoundationEssentials

/// What an interrupted update knows and the device cannot tell.
///
/// Where to go on is the device's word alone, so losing a checkpoint costs time, never correctness.
public struct Checkpoint: Sendable, Hashable, Codable {
    /// The SHA-256 of the package, in hex: a checkpoint of another package is ignored.
    public var package: String
    /// The device as asked.
    public var device: String
    /// What a transfer by block-ack found out about the device and the way to it.
    public var blockAck = BlockAck.Learnt()
    /// What a transfer by Secure DFU found out.
    public var secure = SecureDFU.Learnt()
    /// Whether the device was already asked for block-ack's verdict on the whole image.
    public var completeWritten: Bool

    /// What is known before anything happened.
    public init(package: String, device: String) {
        self.package = package
        self.device = device
        completeWritten = false
    }
}

/// Checkpoints in a folder, a file a device.
///
/// Files are written whole and renamed, so that a crash leaves the old one or the new one.
public struct CheckpointStore: Sendable {
    /// The folder; made when the first checkpoint is saved.
    public var folder: String

    /// The checkpoints in `folder`.
    public init(folder: String) {
        self.folder = folder
    }

    /// The checkpoint of this device and package, or nil where there is none, or one that cannot be read.
    public func load(package: String, device: String) -> Checkpoint? {
        guard let data = try? Data(contentsOf: URL(filePath: path(device))),
            let checkpoint = try? JSONDecoder().decode(Checkpoint.self, from: data),
            checkpoint.package == package, checkpoint.device == device
        else { return nil }
        return checkpoint
    }

    /// Keeps a checkpoint in place of the device's earlier one.
    /// - Throws: what the file system said.
    public func save(_ checkpoint: Checkpoint) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try JSONEncoder().encode(checkpoint).write(to: URL(filePath: path(checkpoint.device)), options: .atomic)
    }

    /// Forgets the device's checkpoint.
    public func remove(device: String) {
        try? FileManager.default.removeItem(atPath: path(device))
    }

    /// `AA:BB:…` gives `AA:BB:….json`; what a file name cannot hold is replaced.
    private func path(_ device: String) -> String {
        let name = String(device.map { $0 == "/" || $0 == "\0" ? "_" : $0 })
        return "\(folder)/\(name).json"
    }
}
