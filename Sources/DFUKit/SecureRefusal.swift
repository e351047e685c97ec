internal import DFUProtocol

/// What a secure bootloader's no means, with the package's own values and the cure.
enum SecureRefusal {
    /// The result that says no more than that something failed (`SecureDFU.ResultCode.operationFailed`).
    private static let operationFailed = Int(SecureDFU.ResultCode.operationFailed.rawValue)

    /// The error of a refused part, made clear; others stay as they are.
    static func explained(_ error: UpdateError, of part: SecurePart) -> UpdateError {
        guard error.code == .refused, let explanation = explanation(error, part) else { return error }
        var error = error
        error.message += "; \(explanation)"
        return error
    }

    private static func explanation(_ error: UpdateError, _ part: SecurePart) -> String? {
        switch error.reason {
        case "versionNotNewer": "the package's version (\(part.firmwareVersion)) is too low; use a newer package"
        case "hardwareMismatch": "the package is for hardware \(part.hardwareVersion); use the one made for this device"
        case "softdeviceMismatch":
            "the package runs with the SoftDevice \(part.softdevices) (sd_req); use one made for the device's SoftDevice, or "
                + "update that first"
        case "signatureMissing": "the package is \(signed(part)); use the one that the device's maker has signed"
        case "signatureInvalid": "the package is \(signed(part)); use the one that the device's maker has signed"
        case "hashMismatch":
            "try again; where that does not help, \(part.part.fileName) (\(part.byteCount) bytes) and its init packet are not "
                + "of one build: make the package again"
        case "spaceInsufficient": "the image has \(part.byteCount) bytes; a smaller one is needed"
        case "initPacketInvalid": "the package asks for: \(part.demands); make it again for this device"
        case _ where error.phase == .initPacket && error.deviceCode == operationFailed:
            "the package asks for: \(part.demands); one of these does not fit the device"
        case _ where error.phase == .initPacket: "the package asks for: \(part.demands)"
        default: nil
        }
    }

    private static func signed(_ part: SecurePart) -> String { part.packet.signature == nil ? "not signed" : "signed" }
}
