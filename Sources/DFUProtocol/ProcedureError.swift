/// Why a procedure ended without its outcome.
public struct ProcedureError: Error, Sendable, Equatable {
    /// The kind of end.
    public enum Code: String, Sendable, Hashable {
        /// The link was lost. Asking the device where to go on, over a new link, may repair it.
        case linkLost
        /// The device did not answer in the protocol's limits, repeats included.
        case silent
        /// The device said no, or answered in a way that the protocol has no meaning for.
        case refused
        /// All was sent, but the device's last word never came: it may or may not run the new firmware.
        case unconfirmed
        /// The user stopped it, and the device was told where the protocol has a word for it.
        case aborted
        /// What the device offers does not fit the profile or the image (for instance a packet length).
        case misconfigured
    }

    /// The kind of end.
    public var code: Code
    /// A stable word for machines, where there is a more exact one than the code (`batteryLow`, `versionNotNewer`, …).
    public var reason: String?
    /// The status or error number that the device gave.
    public var deviceCode: Int?
    /// One sentence for people: what went wrong, and what to do where something can be done. No device name in it.
    public var message: String

    /// An error of this kind.
    public init(_ code: Code, reason: String? = nil, deviceCode: Int? = nil, message: String) {
        self.code = code
        self.reason = reason
        self.deviceCode = deviceCode
        self.message = message
    }
}
