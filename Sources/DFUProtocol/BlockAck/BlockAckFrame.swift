extension BlockAck {
    /// `header opcode payload… checksum`: one packet of the protocol.
    package struct Frame: Sendable, Hashable {
        /// Who speaks.
        package enum Sender: Sendable {
            case host
            case device
        }

        /// Why bytes are no frame.
        package enum Flaw: Error, Hashable {
            /// Too few bytes for a frame.
            case short
            /// The first byte is not the sender's header.
            case foreign
            /// The checksum does not fit; the opcode is what stands where an opcode stands.
            case damaged(opcode: UInt8)
        }

        /// What the frame is about.
        package var opcode: UInt8
        /// What lies between opcode and checksum.
        package var payload: [UInt8]

        package init(opcode: UInt8, payload: [UInt8] = []) {
            self.opcode = opcode
            self.payload = payload
        }

        /// Reads a packet.
        package init(
            decoding bytes: [UInt8], from sender: Sender, by parameters: Parameters
        ) throws(Flaw) {
            let checksumLength = parameters.checksum.length
            guard bytes.count >= 2 + checksumLength else { throw .short }
            guard bytes[0] == parameters.header(of: sender) else { throw .foreign }
            let body = bytes.dropLast(checksumLength)
            guard parameters.checksum.bytes(closing: body).elementsEqual(bytes.suffix(checksumLength)) else {
                throw .damaged(opcode: bytes[1])
            }
            self.init(opcode: bytes[1], payload: Array(body.dropFirst(2)))
        }

        /// The packet's bytes.
        package func encoded(from sender: Sender, by parameters: Parameters) -> [UInt8] {
            let body = [parameters.header(of: sender), opcode] + payload
            return body + parameters.checksum.bytes(closing: body)
        }
    }
}

extension BlockAck.Parameters {
    /// Bytes of a data frame that carry no image: header, opcode, sequence and checksum.
    package var dataOverhead: Int { 3 + checksum.length }

    fileprivate func header(of sender: BlockAck.Frame.Sender) -> UInt8 {
        switch sender {
        case .host: hostHeader
        case .device: deviceHeader
        }
    }

    /// The bytes of an integer in the order of this profile.
    package func bytes(of value: some FixedWidthInteger) -> [UInt8] {
        let ordered =
            switch byteOrder {
            case .big: value.bigEndian
            case .little: value.littleEndian
            }
        return withUnsafeBytes(of: ordered) { Array($0) }
    }

    /// The integer that these bytes, as many as it has, stand for in the order of this profile.
    package func integer<Value: FixedWidthInteger & UnsignedInteger>(
        _ type: Value.Type, from bytes: ArraySlice<UInt8>
    ) -> Value {
        precondition(bytes.count == Value.bitWidth / 8, "\(bytes.count) bytes are no \(type)")
        func value(_ bytes: some Sequence<UInt8>) -> Value {
            bytes.reduce(0) { $0 << 8 | Value($1) }
        }
        return switch byteOrder {
        case .big: value(bytes)
        case .little: value(bytes.reversed())
        }
    }
}

extension BlockAck.Parameters.Checksum {
    fileprivate var length: Int {
        switch self {
        case .complement, .sum: 1
        case .none: 0
        }
    }

    /// What stands behind these bytes to close a frame.
    package func bytes(closing body: some Sequence<UInt8>) -> [UInt8] {
        let sum = body.reduce(0, &+)
        return switch self {
        case .complement: [0 &- sum]
        case .sum: [sum]
        case .none: []
        }
    }
}
