/// How an update ended that went well.
public struct UpdateReport: Sendable, Hashable {
    /// How the new firmware is known to run.
    public enum Verdict: Sendable, Hashable {
        /// It was seen running: its version was read.
        case running(version: String)
        /// Its application was seen running again after it had accepted all; it has no version to read.
        case started
        /// The device accepted it; whether it runs was not looked at, for this reason.
        case accepted(because: String)
        /// It ran already: an earlier update was interrupted after the device had accepted the image.
        case ranAlready(version: String)

        /// A stable word for machines, where it is not simply done.
        package var reason: String? {
            switch self {
            case .running, .started: nil
            case .accepted: "notVerified"
            case .ranAlready: "alreadyRunning"
            }
        }

        /// What the device is left with.
        package var deviceState: UpdateError.DeviceState {
            switch self {
            case .running, .started, .ranAlready: .updated
            case .accepted: .unknown
            }
        }
    }

    /// The protocol's name.
    public var protocolName: String
    /// How the new firmware is known to run.
    public var verdict: Verdict
    /// Bytes of all images.
    public var bytes: Int
    /// The version that was announced to the device: of Secure DFU the number in the init packet, of the last part. nil
    /// where there is none, or the device's version check was switched off.
    public var version: String?
    /// The version that the device said it ran before, where it can tell.
    public var versionBefore: String?
    /// The CRC-32 of the image, of the last part where there are several.
    public var crc32: UInt32
    /// How often a connection was made.
    public var connections: Int
    /// Blocks and commands that had to be sent again.
    public var retries: Int
}
