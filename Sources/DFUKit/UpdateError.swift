public import DFUPackage
public import DFUProtocol
public import DFUTransport

/// Why an update did not end well, and in what state it left the device.
public struct UpdateError: Error, Sendable {
    /// The kind of end.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// What was asked for contradicts itself or the device's profile.
        case usage
        /// The package is at fault, or does not fit the device: found before anything was sent.
        case package
        /// The device is not in range.
        case notFound
        /// The machine's Bluetooth is not fit.
        case environment
        /// The machine does not let this user.
        case permission
        /// The device was heard but could not be connected to.
        case connectFailed
        /// The link was lost, and reconnecting did not help.
        case linkLost
        /// The device stopped answering.
        case silent
        /// A limit on the whole update passed.
        case timeout
        /// The device said no, or is not fit for this update.
        case refused
        /// The profile does not fit itself, the image or what the device offers.
        case misconfigured
        /// All was sent, but the new firmware was not seen running.
        case unverified
        /// The user stopped it.
        case aborted
    }

    /// What a failed update left behind.
    public enum DeviceState: String, Sendable, Hashable {
        /// The device runs what it ran before.
        case asBefore
        /// The device is in its bootloader.
        case bootloader
        /// The device runs the new firmware.
        case updated
        /// The host does not know.
        case unknown
    }

    /// The kind of end.
    public var code: Code
    /// The stage in which it ended.
    public var phase: Phase
    /// A stable word for machines, where there is a more exact one than the code.
    public var reason: String?
    /// The status or error number that the device gave.
    public var deviceCode: Int?
    /// One sentence for people: what went wrong, and what to do. No device name in it.
    public var message: String
    /// What the device is left with.
    public var deviceState: DeviceState
    /// What caused it, where it came from below.
    public var cause: (any Error)?
    /// The protocol's name, where the device has proven that it speaks it.
    public var protocolName: String?
    /// The version that the device said it ran before, where it was read.
    public var versionBefore: String?
    /// How often a connection was made.
    public var connections = 0
    /// Blocks and commands that had to be sent again.
    public var retries = 0

    /// An error of this kind.
    public init(
        _ code: Code, phase: Phase, reason: String? = nil, deviceCode: Int? = nil, message: String,
        deviceState: DeviceState = .asBefore, cause: (any Error)? = nil
    ) {
        self.code = code
        self.phase = phase
        self.reason = reason
        self.deviceCode = deviceCode
        self.message = message
        self.deviceState = deviceState
        self.cause = cause
    }

    /// A fault of the package.
    public init(_ error: PackageError, phase: Phase = .check) {
        self.init(.package, phase: phase, reason: error.reason, message: error.message, cause: error)
    }

    /// An end of a procedure.
    public init(_ error: ProcedureError, phase: Phase, deviceState: DeviceState) {
        let code: Code =
            switch error.code {
            case .linkLost: .linkLost
            case .silent: .silent
            case .refused: .refused
            case .unconfirmed: .unverified
            case .aborted: .aborted
            case .misconfigured: .misconfigured
            }
        self.init(
            code, phase: phase, reason: error.reason, deviceCode: error.deviceCode, message: error.message,
            deviceState: deviceState, cause: error)
    }

    /// Trouble on the way to the device.
    public init(_ error: TransportError, phase: Phase, deviceState: DeviceState) {
        let (code, reason): (Code, String) =
            switch error.code {
            case .notFound: (.notFound, "notFound")
            case .connectFailed: (.connectFailed, "connectFailed")
            case .disconnected: (.linkLost, "linkLost")
            case .servicesUnresolved: (.silent, "servicesUnresolved")
            case .bondMismatch: (.refused, "bondMismatch")
            case .timeout: (.silent, "noAnswer")
            case .missing: (.refused, "serviceMissing")
            case .subscribeRefused: (.refused, "subscribeRefused")
            case .attributeError: (.refused, "attributeError")
            case .environment: (.environment, "bluetoothUnavailable")
            case .permission: (.permission, "permissionDenied")
            case .cancelled: (.aborted, "aborted")
            }
        self.init(
            code, phase: phase, reason: reason, deviceCode: error.attCode.map(Int.init), message: error.message,
            deviceState: deviceState, cause: error)
    }
}
