extension BlockAck {
    /// A command of the host with its payload.
    package enum Request: Sendable, Hashable {
        /// Asks for the battery level. Payload `01`.
        case battery
        /// Sets the clock.
        case setTime(PackedTime)
        /// Announces an image, and asks where to go on.
        case start(Announcement)
        /// Opens a block.
        case blockHeader(index: UInt16, length: UInt16, crc32: UInt32)
        /// Carries a piece of the open block.
        case data(sequence: UInt8, bytes: [UInt8])
        /// Closes a block, and asks for its acknowledgement.
        case blockEnd(index: UInt16)
        /// Says that all blocks were sent, and asks for the verdict.
        case complete(crc32: UInt32)
        /// Ends the session.
        case abort

        /// What `start` says of the image.
        package struct Announcement: Sendable, Hashable {
            package var size: UInt32
            package var crc32: UInt32
            package var version: Version
            package var blockSize: UInt16

            package init(size: UInt32, crc32: UInt32, version: Version, blockSize: UInt16) {
                self.size = size
                self.crc32 = crc32
                self.version = version
                self.blockSize = blockSize
            }
        }

        /// Which command it is.
        package var command: Command {
            switch self {
            case .battery: .battery
            case .setTime: .setTime
            case .start: .start
            case .blockHeader: .blockHeader
            case .data: .data
            case .blockEnd: .blockEnd
            case .complete: .complete
            case .abort: .abort
            }
        }

        /// The packet's bytes.
        package func encoded(by parameters: Parameters) -> [UInt8] {
            Frame(opcode: parameters.opcodes[command], payload: payload(by: parameters))
                .encoded(from: .host, by: parameters)
        }

        private func payload(by parameters: Parameters) -> [UInt8] {
            switch self {
            case .battery:
                [0x01]
            case .setTime(let time):
                parameters.bytes(of: time.rawValue)
            case .start(let image):
                parameters.bytes(of: image.size) + parameters.bytes(of: image.crc32)
                    + [image.version.major, image.version.minor, image.version.patch]
                    + parameters.bytes(of: image.blockSize)
            case .blockHeader(let index, let length, let crc32):
                parameters.bytes(of: index) + parameters.bytes(of: length) + parameters.bytes(of: crc32)
            case .data(let sequence, let bytes):
                [sequence] + bytes
            case .blockEnd(let index):
                parameters.bytes(of: index)
            case .complete(let crc32):
                parameters.bytes(of: crc32)
            case .abort:
                []
            }
        }

        /// The request that a frame of the host holds; nil where its opcode is none, or its length does not fit.
        package init?(_ frame: Frame, by parameters: Parameters) {
            guard let command = Command.allCases.first(where: { parameters.opcodes[$0] == frame.opcode }) else {
                return nil
            }
            let payload = frame.payload[...]
            switch (command, payload.count) {
            case (.battery, 1):
                self = .battery
            case (.setTime, 4):
                self = .setTime(PackedTime(rawValue: parameters.integer(UInt32.self, from: payload)))
            case (.start, 13):
                self = .start(
                    Announcement(
                        size: parameters.integer(UInt32.self, from: payload[0..<4]),
                        crc32: parameters.integer(UInt32.self, from: payload[4..<8]),
                        version: Version(payload[8], payload[9], payload[10]),
                        blockSize: parameters.integer(UInt16.self, from: payload[11..<13])))
            case (.blockHeader, 8):
                self = .blockHeader(
                    index: parameters.integer(UInt16.self, from: payload[0..<2]),
                    length: parameters.integer(UInt16.self, from: payload[2..<4]),
                    crc32: parameters.integer(UInt32.self, from: payload[4..<8]))
            case (.data, 2...):
                self = .data(sequence: payload[0], bytes: Array(payload.dropFirst()))
            case (.blockEnd, 2):
                self = .blockEnd(index: parameters.integer(UInt16.self, from: payload))
            case (.complete, 4):
                self = .complete(crc32: parameters.integer(UInt32.self, from: payload))
            case (.abort, 0):
                self = .abort
            case (.battery, _), (.setTime, _), (.start, _), (.blockHeader, _), (.data, _), (.blockEnd, _),
                (.complete, _), (.abort, _):
                return nil
            }
        }
    }
}
