internal import DFUProtocol

/// How a protocol's packets stand in a capture.
protocol CaptureDialect: Sendable {
    /// How a packet that the host writes stands there.
    func entry(forWriting bytes: [UInt8], to endpoint: Endpoint) -> CaptureEntry

    /// What a packet that the device has sent means, in words.
    func meaning(ofReceiving bytes: [UInt8], from endpoint: Endpoint) -> String

    /// Whether a written packet is the captured one. With a stand-in for the image, its checksums tell nothing.
    func isSame(_ bytes: [UInt8], as captured: [UInt8], withStandIn: Bool) -> Bool

    /// Where what `NOTIFY` shows comes from.
    var notifying: Endpoint { get }
}

/// A packet that the host writes, as it stands in a capture.
enum CaptureEntry: Equatable {
    /// All of it, with what it means; `isAnswered` unless the host goes on without waiting for an answer.
    case whole(CapturePacket.Term, meaning: String, isAnswered: Bool)
    /// Counted among its neighbours, because it carries so many bytes of the image. It is not answered.
    case image(bytes: Int)

    /// Whether an answer is waited for.
    var isAnswered: Bool {
        switch self {
        case .whole(_, _, let isAnswered): isAnswered
        case .image: false
        }
    }
}

/// Block-ack: one characteristic takes all, so frames that carry the image are told by their opcode.
struct BlockAckDialect: CaptureDialect {
    let parameters: BlockAck.Parameters

    var notifying: Endpoint { .reply }

    func entry(forWriting bytes: [UInt8], to endpoint: Endpoint) -> CaptureEntry {
        switch request(bytes) {
        case .data(_, let image): .image(bytes: image.count)
        case .blockHeader(let index, let length, let crc32):
            .whole(
                .controlPoint, meaning: "\(BlockAck.Request.blockHeader(index: index, length: length, crc32: crc32))",
                isAnswered: false)
        case let request?: .whole(.controlPoint, meaning: "\(request)", isAnswered: true)
        case nil: preconditionFailure("a procedure writes frames of its protocol")
        }
    }

    func meaning(ofReceiving bytes: [UInt8], from endpoint: Endpoint) -> String {
        do throws(BlockAck.Frame.Flaw) {
            let frame = try BlockAck.Frame(decoding: bytes, from: .device, by: parameters)
            return BlockAck.Reply(frame, by: parameters).map { "\($0)" } ?? "an unknown frame"
        } catch {
            switch error {
            case .short: return "too short for a frame"
            case .foreign: return "no frame of this protocol"
            case .damaged: return "a damaged frame"
            }
        }
    }

    func isSame(_ bytes: [UInt8], as captured: [UInt8], withStandIn: Bool) -> Bool {
        if bytes == captured { return true }
        guard withStandIn, case .blockHeader(let index, let length, _) = request(bytes),
            case .blockHeader(index, length, _) = request(captured)
        else { return false }
        return true
    }

    private func request(_ bytes: [UInt8]) -> BlockAck.Request? {
        guard let frame = try? BlockAck.Frame(decoding: bytes, from: .host, by: parameters) else { return nil }
        return BlockAck.Request(frame, by: parameters)
    }
}
