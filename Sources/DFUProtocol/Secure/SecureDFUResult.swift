extension SecureDFU {
    /// How a device judges a request: the third byte of its answer (SDK 17: `nrf_dfu_result_t`).
    ///
    /// A code that has no name here is representable too.
    public struct ResultCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The byte on the wire.
        public let rawValue: UInt8

        /// The result that this byte stands for; any byte is one.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The request was carried out.
        public static let success = ResultCode(rawValue: 0x01)
        /// The device does not know the request.
        public static let opcodeNotSupported = ResultCode(rawValue: 0x02)
        /// A parameter of the request does not fit, for instance a size.
        public static let invalidParameter = ResultCode(rawValue: 0x03)
        /// The device has no room for it.
        public static let insufficientResources = ResultCode(rawValue: 0x04)
        /// The object does not fit what the device expects. Of an init packet: its signature does not verify.
        public static let invalidObject = ResultCode(rawValue: 0x05)
        /// The device does not know the object's type.
        public static let unsupportedType = ResultCode(rawValue: 0x07)
        /// The request does not fit what the device is doing.
        public static let operationNotPermitted = ResultCode(rawValue: 0x08)
        /// It failed, and the device gives no reason.
        public static let operationFailed = ResultCode(rawValue: 0x0A)
        /// An `ExtendedError` follows.
        public static let extendedError = ResultCode(rawValue: 0x0B)

        /// What it means, with the code: `operation not permitted (0x08)`.
        public var description: String { name.map { "\($0) (0x\(rawValue.hexadecimal))" } ?? unknownCode(rawValue) }

        private var name: String? {
            switch self {
            case .success: "success"
            case .opcodeNotSupported: "op code not supported"
            case .invalidParameter: "invalid parameter"
            case .insufficientResources: "insufficient resources"
            case .invalidObject: "invalid object"
            case .unsupportedType: "unsupported type"
            case .operationNotPermitted: "operation not permitted"
            case .operationFailed: "operation failed"
            case .extendedError: "extended error"
            default: nil
            }
        }
    }

    /// Why an init packet or an image is refused: the byte behind `ResultCode.extendedError`
    /// (SDK 13 and later; SDK 17: `nrf_dfu_handling_error.h`).
    ///
    /// A code that has no name here is representable too.
    public struct ExtendedError: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The byte on the wire.
        public let rawValue: UInt8

        /// The error that this byte stands for; any byte is one.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The device has set none.
        public static let none = ExtendedError(rawValue: 0x00)
        /// The device's own code is out of range.
        public static let invalidErrorCode = ExtendedError(rawValue: 0x01)
        /// The init packet cannot be read.
        public static let wrongCommandFormat = ExtendedError(rawValue: 0x02)
        /// The init packet's command is unknown.
        public static let unknownCommand = ExtendedError(rawValue: 0x03)
        /// A field of the init packet is missing or wrong.
        public static let initCommandInvalid = ExtendedError(rawValue: 0x04)
        /// The version is lower than what the device holds; a bootloader's has to be higher.
        public static let firmwareVersion = ExtendedError(rawValue: 0x05)
        /// It is for other hardware.
        public static let hardwareVersion = ExtendedError(rawValue: 0x06)
        /// The device's SoftDevice is not among those that it is made for.
        public static let softdeviceVersion = ExtendedError(rawValue: 0x07)
        /// It is not signed, and the bootloader wants a signature.
        public static let signatureMissing = ExtendedError(rawValue: 0x08)
        /// Its hash is not SHA-256.
        public static let wrongHashType = ExtendedError(rawValue: 0x09)
        /// The device could not compute a hash.
        public static let hashFailed = ExtendedError(rawValue: 0x0A)
        /// Its signature is not ECDSA P-256.
        public static let wrongSignatureType = ExtendedError(rawValue: 0x0B)
        /// The image does not have the hash that the init packet states.
        public static let verificationFailed = ExtendedError(rawValue: 0x0C)
        /// The image does not fit into the device.
        public static let insufficientSpace = ExtendedError(rawValue: 0x0D)

        /// What it means, with the code: `signature missing (0x08)`.
        public var description: String { name.map { "\($0) (0x\(rawValue.hexadecimal))" } ?? unknownCode(rawValue) }

        private var name: String? {
            switch self {
            case .none: "no error set"
            case .invalidErrorCode: "invalid error code"
            case .wrongCommandFormat: "wrong command format"
            case .unknownCommand: "unknown command"
            case .initCommandInvalid: "init command invalid"
            case .firmwareVersion: "firmware version failure"
            case .hardwareVersion: "hardware version failure"
            case .softdeviceVersion: "SoftDevice version failure"
            case .signatureMissing: "signature missing"
            case .wrongHashType: "wrong hash type"
            case .hashFailed: "hash failed"
            case .wrongSignatureType: "wrong signature type"
            case .verificationFailed: "verification failed"
            case .insufficientSpace: "insufficient space"
            default: nil
            }
        }
    }
}

private func unknownCode(_ code: UInt8) -> String { "unknown code 0x\(code.hexadecimal)" }
