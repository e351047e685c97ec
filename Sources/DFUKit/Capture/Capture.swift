public import DFUPackage
internal import DFUProtocol
internal import DFUTransport

/// An update that was written down by a `CaptureRecorder`, or put together by hand.
///
/// docs/captures.md has the form. Any bytes can be read; what is no capture is an error that says where.
public struct Capture: Sendable {
    /// The version of the form.
    static let version = 1

    /// A line and what it says.
    struct Entry {
        var number: Int
        var text: String
        var line: CaptureLine
        /// What stands behind its `;`.
        var meaning: String
    }

    /// Who wrote it, as `dfu 0.1.0`; nil where it does not say.
    public var program: String? { fact(.program) }
    /// The protocol's name; nil where it does not say.
    public var protocolName: String? { fact(.protocol) }

    let entries: [Entry]

    /// Reads a capture.
    ///
    /// A last line without its end was cut off while it was written, and does not count.
    public init(reading bytes: [UInt8]) throws(CaptureError) {
        var entries: [Entry] = []
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
        let magic = Array("# \(CaptureKey.capture.rawValue): ".utf8)
        guard lines.first?.starts(with: magic) == true else {
            throw CaptureError(
                reason: "notACapture", message: "it is no capture: its first line is not '# capture: \(Self.version)'")
        }
        for (place, line) in lines.enumerated() {
            let number = place + 1
            guard let text = String(validating: line, as: UTF8.self) else {
                throw .malformed(number, "it is no text (UTF-8)")
            }
            do throws(CaptureLine.Flaw) {
                let (line, meaning) = try CaptureLine.read(text)
                entries.append(Entry(number: number, text: text.trimmed, line: line, meaning: meaning))
            } catch {
                throw .malformed(number, error.message)
            }
        }
        guard entries.first?.line == .fact(.capture, "\(Self.version)") else {
            throw CaptureError(
                reason: "captureVersion", line: 1,
                message:
                    "this version reads captures of version \(Self.version) alone; use the dfu that wrote it, or a "
                    + "newer one")
        }
        self.entries = entries
    }

    /// The value of a fact where it stands first.
    func fact(_ key: CaptureKey) -> String? {
        for case .fact(key, let value) in entries.lazy.map(\.line) { return value }
        return nil
    }

    /// Plays it against the procedures of this version: the answers as they came, and each write compared.
    ///
    /// It takes no time, and stops at the first difference.
    /// - Parameter package: The one that was sent. Without it the image is a stand-in, and packets that carry it are
    ///   compared by their number and length alone.
    public func replay(with package: Package? = nil) throws(CaptureError) -> Replay {
        guard let name = protocolName else {
            throw CaptureError(reason: "noUpdate", message: "there is no update in it: it names no protocol")
        }
        guard name == BlockAckUpdate.protocolName else {
            throw CaptureError(
                reason: "captureProtocol",
                message: "it is an update by \(name), and this version replays \(BlockAckUpdate.protocolName) alone")
        }
        var player = CapturePlayer(self, try BlockAckScene(self, package))
        return try player.play()
    }
}

/// What a block-ack update was about, and went by.
struct BlockAckScene {
    /// The largest image that zeros stand in for: more than any wristband holds.
    static let largestStandIn = 1 << 24

    let parameters: BlockAck.Parameters
    let packetLimit: Int?
    /// Nil where the capture ends before it was known.
    let image: BlockAck.Image?
    /// Whether zeros are in place of the image.
    let isStandIn: Bool

    init(_ capture: Capture, _ package: Package?) throws(CaptureError) {
        parameters = try capture.profile().blockAck
        packetLimit = try capture.number(.packetLimit, in: 0...Int(UInt16.max))
        isStandIn = package == nil
        guard let size = try capture.number(.imageSize, in: 1...Int(UInt32.max)) else {
            image = nil
            return
        }
        let crc32 = try capture.checksum()
        let version = try capture.version()
        guard let package else {
            guard size <= Self.largestStandIn else {
                throw CaptureError(
                    reason: "imageTooLarge",
                    message: "an image of \(size) bytes is too large to be replayed without its package; give it")
            }
            image = BlockAck.Image(standInOf: size, crc32: crc32, version: version)
            return
        }
        let images = package.parts.lazy.map { BlockAck.Image(bytes: $0.firmware, version: version) }
        guard let image = images.first(where: { $0.bytes.count == size && $0.crc32 == crc32 }) else {
            throw CaptureError(
                reason: "packageDiffers",
                message: "\(package.fileName) is not what was sent: it holds no image of \(size) bytes with the CRC-32 "
                    + crc32.hexadecimal)
        }
        self.image = image
    }
}

extension Capture {
    /// The profile that the update went by.
    fileprivate func profile() throws(CaptureError) -> DeviceProfile {
        guard let text = fact(.profile) else { return .band }
        let profile: DeviceProfile
        do throws(DeviceProfileError) {
            profile = try DeviceProfile(json: Array(text.utf8))
        } catch {
            throw flaw(.profile, error.problems.joined(separator: "; "))
        }
        // No update is begun by such a one, and its frames could not be told from each other.
        if let problem = profile.blockAck.problems.first { throw flaw(.profile, problem) }
        return profile
    }

    fileprivate func number(_ key: CaptureKey, in range: ClosedRange<Int>) throws(CaptureError) -> Int? {
        guard let text = fact(key) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw flaw(key, "it wants a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    fileprivate func checksum() throws(CaptureError) -> UInt32 {
        guard let text = fact(.imageCRC), let checksum = UInt32(hexadecimal: text) else {
            throw flaw(.imageCRC, "an image has a CRC-32 of eight hex digits")
        }
        return checksum
    }

    fileprivate func version() throws(CaptureError) -> BlockAck.Version {
        if fact(.version) == "any" { return .any }
        let numbers = (fact(.version) ?? "").split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        guard numbers.count == 3, let major = numbers[0], let minor = numbers[1], let patch = numbers[2] else {
            throw flaw(.version, "an image has a version of three numbers from 0 to 255, or 'any'")
        }
        return BlockAck.Version(major, minor, patch)
    }

    /// A fault of a fact, or of its absence.
    private func flaw(_ key: CaptureKey, _ message: String) -> CaptureError {
        let line = entries.first { if case .fact(key, _) = $0.line { true } else { false } }?.number
        return CaptureError(reason: "captureMalformed", line: line, message: "\(key.rawValue): \(message)")
    }
}
