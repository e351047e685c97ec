extension SecureDFU {
    /// What a device sends by its control point: an answer, or a receipt, which looks like the answer to `checksum`.
    package enum Response: Sendable, Hashable {
        /// The request was carried out, and there is nothing to tell.
        case done(Opcode)
        /// What was received of the open object and all before it: asked for, or a receipt.
        case checksum(Reception)
        /// What there is of the selected type, of which an object holds at most `maximumSize` bytes.
        case selected(maximumSize: UInt32, Reception)
        /// The request was refused. `extended` is nil where the device gives none.
        case refused(Opcode, ResultCode, extended: ExtendedError?)

        /// Which request it answers.
        package var opcode: Opcode {
            switch self {
            case .done(let opcode), .refused(let opcode, _, _): opcode
            case .checksum: .checksum
            case .selected: .select
            }
        }

        /// The packet's bytes.
        package var encoded: [UInt8] {
            func answer(_ result: ResultCode, _ payload: [UInt8]) -> [UInt8] {
                [Opcode.response.rawValue, opcode.rawValue, result.rawValue] + payload
            }
            return switch self {
            case .done: answer(.success, [])
            case .checksum(let reception): answer(.success, reception.encoded)
            case .selected(let size, let reception): answer(.success, littleEndian(size) + reception.encoded)
            case .refused(_, let result, let extended): answer(result, extended.map { [$0.rawValue] } ?? [])
            }
        }

        /// The answer in a packet; nil where it is none, or its length does not fit. Bytes behind those known are ignored,
        /// but for `select` and `checksum`, whose numbers would be others in a longer form.
        package init?(_ bytes: [UInt8]) {
            guard bytes.count >= 3, bytes[0] == Opcode.response.rawValue else { return nil }
            let opcode = Opcode(rawValue: bytes[1])
            let result = ResultCode(rawValue: bytes[2])
            let payload = bytes[3...]
            guard result == .success else {
                let extended = result == .extendedError ? payload.first : nil
                self = .refused(opcode, result, extended: extended.map(ExtendedError.init(rawValue:)))
                return
            }
            switch opcode {
            case .checksum:
                guard payload.count == 8 else { return nil }
                self = .checksum(Reception(payload))
            case .select:
                guard payload.count == 12 else { return nil }
                self = .selected(
                    maximumSize: littleEndian(UInt32.self, payload.prefix(4)), Reception(payload.dropFirst(4)))
            default:
                self = .done(opcode)
            }
        }
    }
}

extension SecureDFU.Reception {
    fileprivate var encoded: [UInt8] { littleEndian(offset) + littleEndian(crc32) }

    fileprivate init(_ bytes: ArraySlice<UInt8>) {
        self.init(
            offset: littleEndian(UInt32.self, bytes.prefix(4)), crc32: littleEndian(UInt32.self, bytes.dropFirst(4)))
    }
}
