/// The init packet of Secure DFU: a protobuf `Packet` (nRF5 SDK 17, `dfu-cc.proto`).
public struct SecureInitPacket: Sendable, Hashable {
    /// One entry of `boot_validation`: the SoftDevice's comes before the bootloader's.
    public struct BootValidation: Sendable, Hashable {
        /// What is checked.
        public var type: ValidationType
        /// With ECDSA a signature over the firmware, R then S, each little-endian; else empty.
        public var bytes: [UInt8]
    }

    /// The signature around the command.
    public struct Signature: Sendable, Hashable {
        /// What it is made with.
        public var type: SignatureType
        /// With ECDSA R then S, 32 bytes each, little-endian.
        public var bytes: [UInt8]
    }

    /// The packet as it is sent.
    public let bytes: [UInt8]
    /// Every field in the order of the bytes, unknown ones too.
    public private(set) var fields: [InitPacket.Field] = []
    /// The content of the InitCommand, without its key and length: the bytes that a signature covers, or would cover.
    public private(set) var signedRange: Range<Int> = 0..<0

    /// The signature, or nil in an unsigned packet.
    public private(set) var signature: Signature?
    /// The firmware's version: one plain number, which may not fall.
    public private(set) var firmwareVersion: UInt32?
    /// The hardware that it is for.
    public private(set) var hardwareVersion: UInt32?
    /// The firmware IDs of the SoftDevices that it runs with.
    public private(set) var softdevices: [UInt32] = []
    /// The kind of image; nil where the maker left it out, which bootloaders refuse.
    public private(set) var imageType: ImageType?
    /// The SoftDevice's size in bytes.
    public private(set) var softdeviceSize: UInt32?
    /// The bootloader's size in bytes.
    public private(set) var bootloaderSize: UInt32?
    /// The application's size in bytes.
    public private(set) var applicationSize: UInt32?
    /// What the hash is made with.
    public private(set) var hashType: HashType?
    /// The firmware's hash in the order of the packet: Nordic stores SHA-256 with its bytes reversed.
    public private(set) var hash: [UInt8] = []
    /// Whether it is for debug bootloaders, which skip version and hardware checks; nil where it is left out (SDK 12).
    public private(set) var isDebug: Bool?
    /// How the images are checked at each start.
    public private(set) var bootValidations: [BootValidation] = []

    /// Decodes a whole packet.
    ///
    /// Errors: `.malformed` with the reason `initPacketMalformed`, or `notAnInitCommand` for a command that is none.
    public init(decoding bytes: [UInt8]) throws(PackageError) {
        self.bytes = bytes
        do throws(ProtobufReader.Fault) {
            try readPacket()
        } catch {
            throw PackageError(
                .malformed, reason: "initPacketMalformed",
                message: "the init packet has \(bytes.count) bytes and is no init packet: \(error.text)")
        }
        guard opCode == 1, !signedRange.isEmpty else {
            throw PackageError(
                .malformed, reason: "notAnInitCommand",
                message: "the init packet holds the command \(opCode.map { "\($0)" } ?? "none") and not INIT (1), "
                    + "which announces a firmware")
        }
    }

    private var opCode: UInt64?
}

// The messages of dfu-cc.proto, from the outside in. A field that may stand once stands once: the bootloader would take
// the last of several, and what a check saw could be another.
extension SecureInitPacket {
    private typealias Fault = ProtobufReader.Fault

    private mutating func readPacket() throws(Fault) {
        var reader = ProtobufReader(bytes, in: bytes.indices)
        var hasCommand = false
        while let field = try reader.next() {
            switch (field.number, field.value) {
            case (1, .bytes(let range)), (2, .bytes(let range)):
                guard !hasCommand else {
                    throw Fault(text: "it has a second command at byte \(field.range.lowerBound)")
                }
                hasCommand = true
                if field.number == 1 { try readCommand(range) } else { try readSignedCommand(range) }
            default: noteUnknown(field)
            }
        }
        guard hasCommand else { throw Fault(text: "it has neither command nor signed_command") }
    }

    private mutating func readSignedCommand(_ range: Range<Int>) throws(Fault) {
        var reader = ProtobufReader(bytes, in: range)
        var hasCommand = false
        var type: SignatureType?
        var signature: [UInt8]?
        while let field = try reader.next() {
            switch (field.number, field.value) {
            case (1, .bytes(let range)):
                guard !hasCommand else { throw twice("command", field) }
                hasCommand = true
                try readCommand(range)
            case (2, .number(let number)):
                guard type == nil else { throw twice("signature_type", field) }
                type = SignatureType(rawValue: number)
                note("signature_type", SignatureType(rawValue: number).description, field)
            case (3, .bytes(let range)):
                guard signature == nil else { throw twice("signature", field) }
                signature = Array(bytes[range])
                note("signature", Array(bytes[range]).hexadecimal, field)
            default: noteUnknown(field)
            }
        }
        guard hasCommand, let type, let signature else {
            throw Fault(text: "its signed_command lacks command, signature_type or signature")
        }
        self.signature = Signature(type: type, bytes: signature)
    }

    private mutating func readCommand(_ range: Range<Int>) throws(Fault) {
        var reader = ProtobufReader(bytes, in: range)
        var hasInit = false
        while let field = try reader.next() {
            switch (field.number, field.value) {
            case (1, .number(let number)):
                guard opCode == nil else { throw twice("op_code", field) }
                opCode = number
                note("op_code", number == 0 ? "RESET" : number == 1 ? "INIT" : "unknown (\(number))", field)
            case (2, .bytes(let range)):
                guard !hasInit else { throw twice("init", field) }
                hasInit = true
                signedRange = range
                try readInitCommand(range)
            default: noteUnknown(field)
            }
        }
    }

    private mutating func readInitCommand(_ range: Range<Int>) throws(Fault) {
        var reader = ProtobufReader(bytes, in: range)
        var hasHash = false
        while let field = try reader.next() {
            switch (field.number, field.value) {
            case (1, .number(let number)): try set(\.firmwareVersion, "fw_version", number, field)
            case (2, .number(let number)): try set(\.hardwareVersion, "hw_version", number, field)
            case (3, .number(let number)):
                softdevices.append(try narrow(number, "sd_req", field))
                note("sd_req", "\(number)", field)
            case (3, .bytes(let range)): try readSoftdevices(range, field)
            case (4, .number(let number)):
                guard imageType == nil else { throw twice("type", field) }
                imageType = ImageType(rawValue: number)
                note("type", ImageType(rawValue: number).description, field)
            case (5, .number(let number)): try set(\.softdeviceSize, "sd_size", number, field)
            case (6, .number(let number)): try set(\.bootloaderSize, "bl_size", number, field)
            case (7, .number(let number)): try set(\.applicationSize, "app_size", number, field)
            case (8, .bytes(let range)):
                guard !hasHash else { throw twice("hash", field) }
                hasHash = true
                try readHash(range)
            case (9, .number(let number)):
                guard isDebug == nil else { throw twice("is_debug", field) }
                isDebug = number != 0
                note("is_debug", number == 0 ? "false" : "true", field)
            case (10, .bytes(let range)): try readBootValidation(range, field)
            default: noteUnknown(field)
            }
        }
    }

    private mutating func readSoftdevices(_ range: Range<Int>, _ field: ProtobufReader.Field) throws(Fault) {
        var reader = ProtobufReader(bytes, in: range)
        let before = softdevices.count
        while reader.position < reader.end {
            softdevices.append(try narrow(try reader.varint(), "sd_req", field))
        }
        note("sd_req", softdevices[before...].map { "\($0)" }.joined(separator: ", "), field)
    }

    private mutating func readHash(_ range: Range<Int>) throws(Fault) {
        var reader = ProtobufReader(bytes, in: range)
        while let field = try reader.next() {
            switch (field.number, field.value) {
            case (1, .number(let number)):
                guard hashType == nil else { throw twice("hash.hash_type", field) }
                hashType = HashType(rawValue: number)
                note("hash.hash_type", HashType(rawValue: number).description, field)
            case (2, .bytes(let range)):
                guard hash.isEmpty else { throw twice("hash.hash", field) }
                hash = Array(bytes[range])
                note("hash.hash", hash.hexadecimal, field)
            default: noteUnknown(field)
            }
        }
    }

    private mutating func readBootValidation(_ range: Range<Int>, _ field: ProtobufReader.Field) throws(Fault) {
        var reader = ProtobufReader(bytes, in: range)
        var type: ValidationType?
        var content: [UInt8] = []
        while let field = try reader.next() {
            switch (field.number, field.value) {
            case (1, .number(let number)):
                type = ValidationType(rawValue: number)
                note("boot_validation.type", ValidationType(rawValue: number).description, field)
            case (2, .bytes(let range)):
                content = Array(bytes[range])
                note("boot_validation.bytes", content.hexadecimal, field)
            default: noteUnknown(field)
            }
        }
        guard let type else { throw Fault(text: "the boot_validation at byte \(field.range.lowerBound) has no type") }
        bootValidations.append(BootValidation(type: type, bytes: content))
    }

    private mutating func set(
        _ member: WritableKeyPath<Self, UInt32?>, _ name: String, _ number: UInt64, _ field: ProtobufReader.Field
    ) throws(Fault) {
        guard self[keyPath: member] == nil else { throw twice(name, field) }
        self[keyPath: member] = try narrow(number, name, field)
        note(name, "\(number)", field)
    }

    private func narrow(_ number: UInt64, _ name: String, _ field: ProtobufReader.Field) throws(Fault) -> UInt32 {
        guard let value = UInt32(exactly: number) else {
            throw Fault(text: "\(name) at byte \(field.range.lowerBound) is \(number), more than 32 bits")
        }
        return value
    }

    private func twice(_ name: String, _ field: ProtobufReader.Field) -> Fault {
        Fault(text: "it has \(name) a second time, at byte \(field.range.lowerBound)")
    }

    private mutating func note(_ name: String, _ value: String, _ field: ProtobufReader.Field) {
        fields.append(InitPacket.Field(name: name, value: value, range: field.range))
    }

    private mutating func noteUnknown(_ field: ProtobufReader.Field) {
        let value =
            switch field.value {
            case .number(let number): "\(number)"
            case .bytes(let range), .fixed(let range): Array(bytes[range]).hexadecimal
            }
        note("unknown field \(field.number)", value, field)
    }
}
