internal import DFUProtocol

/// Secure DFU: requests go to the control point, and the image to a characteristic of its own.
struct SecureDialect: CaptureDialect {
    var notifying: Endpoint { .controlPoint }

    func entry(forWriting bytes: [UInt8], to endpoint: Endpoint) -> CaptureEntry {
        switch endpoint {
        case .packet: .image(bytes: bytes.count)
        default: .whole(.controlPoint, meaning: meaning(ofWriting: bytes, to: endpoint), isAnswered: true)
        }
    }

    private func meaning(ofWriting bytes: [UInt8], to endpoint: Endpoint) -> String {
        guard let opcode = bytes.first else { return "nothing" }
        guard endpoint == .buttonless else { return SecureDFU.Opcode(rawValue: opcode).description }
        return opcode == SecureDFU.Buttonless.Request.enter.opcode
            ? "enter the bootloader" : "set the bootloader's name"
    }

    func meaning(ofReceiving bytes: [UInt8], from endpoint: Endpoint) -> String {
        if endpoint == .buttonless {
            return SecureDFU.Buttonless.Response(bytes).map { "\($0.result)" } ?? "no answer of this protocol"
        }
        guard let response = SecureDFU.Response(bytes) else { return "no answer of this protocol" }
        return switch response {
        case .done(let opcode): "\(opcode): done"
        case .checksum(let reception): "received \(reception.words)"
        case .selected(let size, let reception): "objects of at most \(size) bytes; received \(reception.words)"
        case .refused(let opcode, let result, let extended):
            "\(opcode): \(extended.map { "\($0)" } ?? "\(result)")"
        }
    }

    func isSame(_ bytes: [UInt8], as captured: [UInt8], withStandIn: Bool) -> Bool { bytes == captured }
}

extension SecureDFU.Reception {
    fileprivate var words: String { "\(offset) bytes, CRC-32 \(crc32.hexadecimal)" }
}

extension SecureDFU.Transfer: CapturedProcedure {
    var captureTitle: String { CapturedProcedureName.transfer.rawValue }

    static func captureWords(for outcome: Outcome) -> String {
        switch outcome {
        case .installed: "installed"
        case .unanswered(linkLost: false): "unanswered"
        case .unanswered(linkLost: true): "unanswered, link lost"
        }
    }
}

extension SecureDFU.Entry: CapturedProcedure {
    var captureTitle: String { "entry" }

    static func captureWords(for outcome: Outcome) -> String {
        switch outcome {
        case .entering(name: nil): "entering"
        case .entering: "entering under a name"
        case .nameUnwelcome: "name unwelcome"
        }
    }
}
