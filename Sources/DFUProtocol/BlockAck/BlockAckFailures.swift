extension ProcedureError {
    /// The device judged a command with a status that ends the procedure.
    ///
    /// A frame that arrived damaged is the way's fault, so that status ends as silence does: another try may help.
    static func refused(_ status: BlockAck.Status, to command: BlockAck.Command) -> ProcedureError {
        let refusal = Refusal(status, to: command)
        let cure = refusal.cure.map { "; \($0)" } ?? ""
        return ProcedureError(
            status == .badFrameChecksum ? .silent : .refused, reason: refusal.reason,
            deviceCode: Int(status.rawValue),
            message: "\(refusal.fact) (status \(status.rawValue.hexadecimal))\(cure)")
    }

    /// A block was sent as often as is allowed, and the device still misses parts of it.
    static func blockRejected(_ status: BlockAck.Status, block: String, sends: Int) -> ProcedureError {
        ProcedureError(
            .refused, reason: "blockRejected", deviceCode: Int(status.rawValue),
            message: "\(block) did not arrive whole in \(sends) sends: \(status); "
                + "move closer, or use a longer gap")
    }

    /// The device lost blocks that it had, again and again; `trouble` is how that showed the last time.
    static func blocksLost(_ times: Int, after trouble: BlockAck.Transfer.Trouble) -> ProcedureError {
        let (code, deviceCode): (Code, Int?) =
            switch trouble {
            case .status(let status): (.refused, Int(status.rawValue))
            case .noAnswer, .writeFailed: (.silent, nil)
            }
        return ProcedureError(
            code, reason: "blocksLost", deviceCode: deviceCode,
            message: "the device lost blocks that it had acknowledged, \(times) times without a new one (\(trouble)); "
                + "restart it and try again")
    }

    /// The device was busy for as long as is waited for.
    static func busy(with command: BlockAck.Command) -> ProcedureError {
        ProcedureError(
            .silent, reason: "busy", deviceCode: Int(BlockAck.Status.busy.rawValue),
            message: "the device stayed busy when told \(command.rawValue) (\(BlockAck.Status.busy)); try again later")
    }

    /// A frame was not answered in its limit, as often as it is repeated.
    static func noAnswer(to frame: String, within limit: Duration, sends: Int) -> ProcedureError {
        let times = sends == 1 ? "" : " in each of \(sends) sends"
        return ProcedureError(
            .silent, reason: "noAnswer",
            message: "the device did not answer \(frame) within \(limit)\(times); move closer and try again")
    }

    /// A frame was not taken, as often as it is repeated.
    static func writeFailed(_ failure: WriteFailure, of frame: String) -> ProcedureError {
        ProcedureError(
            failure.attCode == nil ? .silent : .refused, reason: "writeFailed",
            deviceCode: failure.attCode.map(Int.init),
            message: "\(frame) could not be written: \(failure.message)")
    }

    /// The link was lost while `command` was under way.
    static func linkLost(during command: BlockAck.Command) -> ProcedureError {
        ProcedureError(.linkLost, message: "the link was lost at \(command.rawValue); move closer and try again")
    }

    /// The user stopped it; `state` says what that means for the device.
    static func stopped(_ state: String) -> ProcedureError {
        ProcedureError(.aborted, message: "stopped: \(state)")
    }

    /// The user stopped it after `complete` was written, so the device was not told.
    static let stoppedAfterComplete = ProcedureError(
        .aborted, reason: "stoppedAfterComplete",
        message: "stopped: all was sent, so the device may still install the new firmware; look at its version")

    private struct Refusal {
        var reason: String
        var fact: String
        var cure: String?

        init(_ status: BlockAck.Status, to command: BlockAck.Command) {
            let name = command.rawValue
            switch status {
            case .unsupportedCommand:
                reason = "unsupportedCommand"
                fact = "the device does not know the command \(name)"
                cure = "use a profile made for this device"
            case .wrongState:
                reason = "wrongState"
                fact = "the device says that \(name) does not fit its state"
                cure = "restart the device and try again"
            case .badFrameChecksum:
                reason = "frameDamaged"
                fact = "\(name) arrived damaged each time"
                cure = "move closer and try again, or check the profile's checksum"
            case .imageTooLarge:
                reason = "imageTooLarge"
                fact = "the image is too large for the device"
                cure = "use one that is made for this device"
            case .versionNotNewer:
                reason = "versionNotNewer"
                fact = "the device runs this version or a newer one"
                cure = "--allow-downgrade installs it nevertheless"
            case .batteryTooLow:
                reason = "batteryLow"
                fact = "the device says that its battery is too low for an update"
                cure = "charge it and try again"
            case .imageMismatch:
                reason = "imageRejected"
                fact = "the image as it arrived does not have the announced CRC-32, and the device has dropped it"
                cure = "run the update again"
            case .flashWriteFailed:
                reason = "flashWriteFailed"
                fact = "the device could not write its flash"
                cure = "restart the device and try again"
            default:
                reason = "unexpectedStatus"
                fact = "the device answered \(name) with \(status.meaning)"
                cure = "restart the device and try again"
            }
        }
    }
}
