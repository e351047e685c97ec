import DFUPackage
import DFUProtocol

/// What `dfu info` tells of an init packet.
struct InitPacketDescription: Encodable, Equatable {
    /// Of which generation it is.
    enum Format: String, Encodable {
        case secure, legacy
    }

    /// One field as it stands in the bytes.
    struct Field: Encodable, Equatable {
        var name: String
        /// The value as text: a name of the SDK, a decimal number, or bytes in hexadecimal.
        var value: String
        /// What the value stands for, where that is more than its name.
        var meaning: String?
        var offset: Int
        var length: Int
    }

    /// The hash or checksum of the firmware.
    struct Check: Encodable, Equatable {
        /// What comparing it with the firmware gave.
        enum Verdict: String, Encodable {
            case matches, differs
            /// The firmware's SHA-256 is there in its natural order, where bootloaders expect it reversed.
            case naturalOrder
            /// The firmware is gone, or no bootloader accepts this kind of hash.
            case notCheckable
        }

        /// `SHA256`, `CRC16`, or another name of the SDK.
        var algorithm: String
        /// In the order of the packet.
        var stated: String
        var verdict: Verdict
    }

    /// The signature over the packet.
    struct Signature: Encodable, Equatable {
        var algorithm: String
        var value: String
        /// Where the signed bytes lie in the packet.
        var signedOffset: Int
        var signedLength: Int
        /// Whether it is that of the key that was given; nil without one.
        var verdict: SecureInitPacket.SignatureVerdict?
    }

    /// How the bootloader checks an image at each start.
    struct BootValidation: Encodable, Equatable {
        var type: String
        var value: String
    }

    var file: String
    var size: Int
    var format: Format
    var signed: Bool
    var signature: Signature?
    var check: Check
    /// The SoftDevices that it asks for, by their firmware IDs.
    var softdevices: [UInt32]
    var firmwareVersion: UInt32?
    var hardwareVersion: UInt32?
    var imageType: String?
    var debug: Bool?
    var bootValidations: [BootValidation]?
    var deviceType: UInt16?
    var deviceRevision: UInt16?
    var applicationVersion: UInt32?
    /// The firmware's size, where the packet has one for the whole.
    var firmwareSize: UInt32?
    /// Every field in the order of the bytes.
    var fields: [Field]

    init(_ packet: InitPacket, file: String, firmware: [UInt8], key: SignatureKey? = nil) {
        switch packet {
        case .secure(let packet): self.init(packet, file: file, firmware: firmware, key: key)
        case .legacy(let packet): self.init(packet, file: file, firmware: firmware)
        }
    }

    /// The number that counts up from one firmware to the next.
    var version: String? {
        switch format {
        case .secure: firmwareVersion.map { "\($0)" }
        case .legacy: applicationVersion.flatMap { $0 == .max ? nil : "\($0)" }
        }
    }

    private init(_ packet: SecureInitPacket, file: String, firmware: [UInt8], key: SignatureKey?) {
        self.file = file
        size = packet.bytes.count
        format = .secure
        signed = packet.signature != nil
        signature = packet.signature.map { signature in
            Signature(
                algorithm: signature.type.description, value: signature.bytes.hexadecimal,
                signedOffset: packet.signedRange.lowerBound, signedLength: packet.signedRange.count,
                verdict: key.map(packet.signatureVerdict))
        }
        check = Check(packet, firmware)
        softdevices = packet.softdevices
        firmwareVersion = packet.firmwareVersion
        hardwareVersion = packet.hardwareVersion
        imageType = packet.imageType?.description
        debug = packet.isDebug
        bootValidations = packet.bootValidations.map { validation in
            BootValidation(type: validation.type.description, value: validation.bytes.hexadecimal)
        }
        fields = packet.fields.map(Field.init)
    }

    private init(_ packet: LegacyInitPacket, file: String, firmware: [UInt8]) {
        self.file = file
        size = packet.bytes.count
        format = .legacy
        check = Check(packet.check, firmware)
        softdevices = packet.softdevices.map(UInt32.init)
        deviceType = packet.deviceType
        deviceRevision = packet.deviceRevision
        applicationVersion = packet.applicationVersion
        switch packet.check {
        case .crc16, .extendedCRC16: signed = false
        case .sha256(let size, _):
            signed = false
            firmwareSize = size
        case .signed(let size, _, let bytes):
            signed = true
            firmwareSize = size
            signature = Signature(
                algorithm: "ECDSA_P256_SHA256", value: bytes.hexadecimal, signedOffset: 0,
                signedLength: packet.bytes.count - bytes.count)
        }
        fields = packet.fields.map(Field.init)
    }
}

extension InitPacketDescription.Check {
    fileprivate init(_ packet: SecureInitPacket, _ firmware: [UInt8]) {
        algorithm = packet.hashType?.description ?? "none"
        stated = packet.hash.hexadecimal
        guard packet.hashType == .sha256, !firmware.isEmpty else {
            verdict = .notCheckable
            return
        }
        let found = Checksum.digest(.sha256, firmware)
        if packet.hash == found.reversed() {
            verdict = .matches
        } else {
            verdict = packet.hash == found ? .naturalOrder : .differs
        }
    }

    fileprivate init(_ check: LegacyInitPacket.Check, _ firmware: [UInt8]) {
        let matches: Bool
        switch check {
        case .crc16(let crc), .extendedCRC16(let crc):
            algorithm = "CRC16"
            stated = crc.hexadecimal
            matches = crc == Checksum.crc16(firmware)
        case .sha256(_, let hash), .signed(_, let hash, _):
            algorithm = "SHA256"
            stated = hash.hexadecimal
            matches = hash == Checksum.digest(.sha256, firmware)
        }
        verdict = firmware.isEmpty ? .notCheckable : matches ? .matches : .differs
    }
}

extension InitPacketDescription.Field {
    fileprivate init(_ field: InitPacket.Field) {
        name = field.name
        value = field.value
        meaning = Self.meaning(of: field)
        offset = field.range.lowerBound
        length = field.range.count
    }

    /// The fields of both generations whose numbers stand for something else.
    private static func meaning(of field: InitPacket.Field) -> String? {
        let numbers = field.value.split(separator: ", ").compactMap { UInt32($0) }
        guard let number = numbers.first else { return nil }
        switch field.name {
        case "sd_req", "softdevice": return numbers.map(SoftDevice.description).joined(separator: ", ")
        case "device_type", "device_revision": return number == 0xFFFF ? "any" : nil
        case "application_version": return number == .max ? "not stated" : nil
        case "ext_packet_id":
            let forms = ["CRC-16", "SHA-256", "SHA-256 and signature"]
            return number < forms.count ? "\(number) (\(forms[Int(number)]) follows)" : nil
        case "firmware_crc16": return UInt16(exactly: number)?.hexadecimal
        default: return nil
        }
    }
}
