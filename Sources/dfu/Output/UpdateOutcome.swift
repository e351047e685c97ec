import DFUKit
import DFUPackage
import DFUProtocol

// What the library says of an update, as the command tells it.

extension ExitStatus {
    /// The status of an update that ended with an error.
    ///
    /// An update that the user stopped has the status of the signal, which the error does not know.
    init(_ code: UpdateError.Code) {
        self =
            switch code {
            case .usage: .usage
            case .package: .package
            case .notFound: .notFound
            case .environment: .environment
            case .permission: .permission
            case .connectFailed, .linkLost, .silent, .timeout: .link
            case .refused: .refused
            case .misconfigured: .config
            case .unverified: .unverified
            case .aborted: .interrupt
            }
    }
}

extension Failure {
    /// A file that cannot be read, or that is no package.
    init(_ error: PackageError) {
        self.init(error.code == .unreadable ? .input : .package, reason: error.reason, error.message)
    }
}

extension JSONLine.Result {
    /// An update that went well.
    init(_ report: UpdateReport) {
        self.init(status: .ok, message: "")
        let before = report.versionBefore.map { " (before: \($0))" } ?? ""
        switch report.verdict {
        case .running(let version):
            message = "updated: it runs \(version)\(before)"
        case .started:
            message = "updated: it accepted all, and its application runs again"
        case .accepted(let reason):
            message = "sent and accepted: \(reason)"
        case .ranAlready(let version):
            message = "nothing to do: it runs \(version) already"
        }
        reason = report.verdict.reason
        deviceState = report.verdict.deviceState.rawValue
        protocolName = report.protocolName
        bytes = report.bytes
        attempts = report.connections
        retries = report.retries
        firmware = Firmware(
            version: report.version, versionBefore: report.versionBefore, hash: report.crc32.hexadecimal)
    }

    /// An update that ended with an error, or that the user's signal stopped.
    init(_ error: UpdateError, interruption: ExitStatus?) {
        let status = ExitStatus(error.code)
        self.init(status: error.code == .aborted ? interruption ?? status : status, message: error.message)
        reason = error.reason ?? error.code.rawValue
        deviceCode = error.deviceCode
        phase = error.phase
        deviceState = error.deviceState.rawValue
        switch error.deviceState {
        case .asBefore: break
        case .bootloader: message += "; it was left in its bootloader"
        case .updated: message += "; it runs the new firmware"
        case .unknown: message += "; whether it runs the old or the new firmware is not known"
        }
        protocolName = error.protocolName
        firmware.versionBefore = error.versionBefore
        attempts = error.connections
        retries = error.retries
    }

    /// A device whose update was not begun.
    init(notBegun device: JSONLine.Device, _ failure: Failure) {
        self.init(status: failure.status, reason: failure.reason, message: failure.message(about: device.device))
        phase = failure.phase
        deviceState = UpdateError.DeviceState.asBefore.rawValue
    }
}

extension JSONLine.Device {
    /// A device that was not found yet.
    init(_ id: DeviceID) {
        self.init(device: id.device, id: id.text, isSimulated: id.isSimulated)
    }
}
