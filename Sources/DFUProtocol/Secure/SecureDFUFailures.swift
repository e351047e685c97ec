extension SecureDFU.Transfer {
    /// The request under way, for people.
    var requestName: String { request.map { "\($0.opcode)" } ?? "a packet" }

    /// What was going on, for people.
    var whereabouts: String {
        switch stage {
        case .settingUp, .selecting, .settingReceipts, .leaving: requestName
        case .creating, .preparing, .sending, .awaitingReceipt, .checking, .executing, .settling: name(of: object)
        }
    }

    /// An object, for people.
    func name(of object: Object) -> String {
        switch object.type {
        case .command: "the init packet"
        case .data: "the object at \(object.range.lowerBound) of \(image.firmware.count) bytes"
        }
    }

    /// A trouble, for people.
    func describe(_ trouble: Trouble) -> String {
        switch trouble {
        case .kept(let offset):
            switch object.type {
            case .command: "the device kept \(offset) of \(image.initPacket.count) bytes of the init packet"
            case .data where offset == object.sent: "the bytes of \(name(of: object)) did not arrive as they were sent"
            case .data:
                "the device kept \(max(offset - object.range.lowerBound, 0)) of \(object.range.count) bytes of "
                    + name(of: object)
            }
        case .receipt(let receipt): "the receipt \(receipt.encoded.hexadecimal) shows that packets were lost"
        case .refused(let opcode, let result, let extended):
            "the device refused \(opcode): \(SecureDFU.code(result, extended).text)"
        case .writeFailed(let failure): failure.message
        }
    }

    /// Ends because of what happened once more than is allowed.
    mutating func fail(_ trouble: Trouble) {
        let sends = object.creations == 1 ? "1 send" : "\(object.creations) sends"
        switch trouble {
        case .kept, .receipt:
            result = .failure(
                ProcedureError(
                    .refused, reason: "objectIncomplete",
                    message: "\(describe(trouble)) in each of \(sends); move closer and try again"))
        case .refused(let opcode, let code, let extended):
            refused(.refused(opcode, code, extended: extended))
        case .writeFailed(let failure):
            result = .failure(.writeFailed(failure, of: name(of: object)))
        }
    }

    /// Ends because the device said no.
    mutating func refused(_ answer: SecureDFU.Response) {
        guard case .refused(let opcode, let code, let extended) = answer else {
            result = .failure(.unexpectedAnswer(answer.encoded, to: requestName))
            return
        }
        let place: Refusal.Place =
            switch (opcode, object.type) {
            case (.execute, .command): .initPacket
            case (.create, .data): .object(of: image.firmware.count)
            case (.execute, .data) where isLastObject: .image
            default: .request(opcode)
            }
        let refusal = Refusal(code, extended, of: place)
        let number = SecureDFU.code(code, extended)
        result = .failure(
            ProcedureError(
                .refused, reason: refusal.reason, deviceCode: number.number,
                message: "the device refused \(place.name): \(number.text)\(refusal.meaning.map { "; \($0)" } ?? "")"))
    }

    fileprivate struct Refusal {
        enum Place {
            case initPacket
            case object(of: Int)
            case image
            case request(SecureDFU.Opcode)

            var name: String {
                switch self {
                case .initPacket: "the init packet"
                case .object(of: let size): "an object of the firmware of \(size) bytes"
                case .image: "the image"
                case .request(let opcode): "\(opcode)"
                }
            }
        }

        var reason: String
        var meaning: String?
    }
}

extension SecureDFU.Transfer.Refusal {
    fileprivate init(_ code: SecureDFU.ResultCode, _ extended: SecureDFU.ExtendedError?, of place: Place) {
        switch (place, code) {
        case (.initPacket, .extendedError), (.image, .extendedError):
            self.init(extended)
        case (.initPacket, .insufficientResources), (.object, .insufficientResources):
            self.init(reason: "spaceInsufficient", meaning: "it has no room for this image")
        case (.initPacket, .invalidObject):
            self.init(
                reason: "signatureInvalid",
                meaning: "it is signed with another key than the bootloader's, or was altered after it was signed")
        case (.image, .invalidObject):
            self.init(.verificationFailed)
        case (.initPacket, .operationFailed):
            self.init(reason: "bootloaderRefused", meaning: "its bootloader gives no reason")
        default:
            self.init(reason: "bootloaderRefused")
        }
    }

    private init(_ extended: SecureDFU.ExtendedError?) {
        switch extended {
        case .firmwareVersion?:
            self.init(
                reason: "versionNotNewer",
                meaning: "the device holds a newer one; downgrade is blocked by its bootloader")
        case .hardwareVersion?:
            self.init(reason: "hardwareMismatch", meaning: "the package is for other hardware")
        case .softdeviceVersion?:
            self.init(
                reason: "softdeviceMismatch",
                meaning: "the device runs another SoftDevice than those that the package names")
        case .signatureMissing?:
            self.init(reason: "signatureMissing", meaning: "its bootloader wants a signature")
        case .wrongSignatureType?:
            self.init(reason: "signatureInvalid", meaning: "its bootloader wants ECDSA P-256")
        case .verificationFailed?:
            self.init(reason: "hashMismatch", meaning: "the image does not have the hash that its init packet states")
        case .insufficientSpace?:
            self.init(reason: "spaceInsufficient", meaning: "it has no room for this image")
        case .wrongCommandFormat?, .unknownCommand?, .initCommandInvalid?, .wrongHashType?:
            self.init(
                reason: "initPacketInvalid",
                meaning: "the package's init packet is not of the form that the bootloader wants")
        default:
            self.init(reason: "bootloaderRefused")
        }
    }
}

extension SecureDFU {
    /// A result as people and machines are told it: with an extended error the number is 0x0B00 and that.
    static func code(_ result: ResultCode, _ extended: ExtendedError?) -> (text: String, number: Int) {
        guard let extended else {
            let bare = result == .extendedError ? ", but which it did not say" : ""
            return ("\(result)\(bare)", Int(result.rawValue))
        }
        return ("\(extended) of \(result)", Int(result.rawValue) << 8 | Int(extended.rawValue))
    }
}

extension ProcedureError {
    /// An answer came that is none of the protocol's.
    static func unexpectedAnswer(_ bytes: [UInt8], to request: String) -> ProcedureError {
        let answer = bytes.isEmpty ? "an empty value" : bytes.hexadecimal
        return ProcedureError(
            .refused, reason: "unexpectedAnswer",
            message: "the device answered \(request) with \(answer), which Secure DFU has no meaning for; "
                + "its bootloader may be built wrongly")
    }

    /// A request was not answered in its limit, as often as it is repeated.
    static func noAnswer(to request: String, sends: Int) -> ProcedureError {
        let times = sends == 1 ? "" : " in \(sends) sends"
        return ProcedureError(
            .silent, reason: "noAnswer",
            message: "the device did not answer \(request)\(times); move closer and try again")
    }

    /// The link was lost while this was under way.
    static func linkLost(at whereabouts: String) -> ProcedureError {
        ProcedureError(.linkLost, message: "the link was lost at \(whereabouts); move closer and try again")
    }

    /// A device that was told to restart, and still takes no init packet.
    static let deviceStuck = ProcedureError(
        .refused, reason: "deviceStuck", deviceCode: Int(SecureDFU.ResultCode.operationNotPermitted.rawValue),
        message: "the device takes no init packet: \(SecureDFU.ResultCode.operationNotPermitted); "
            + "it is stuck in an earlier update: power-cycle the device")
}
