/// What the command ends with: the contract that scripts rely on.
///
/// The numbers follow `sysexits.h` where it has a fitting one.
enum ExitStatus: Int32, CaseIterable, Sendable {
    case ok = 0
    case usage = 64
    case package = 65
    case input = 66
    case notFound = 68
    case environment = 69
    case `internal` = 70
    case output = 73
    case link = 75
    case refused = 76
    case permission = 77
    case config = 78
    case unverified = 79
    case partial = 80
    case hangup = 129
    case interrupt = 130
    case terminate = 143

    /// The word for it in JSON and in the help.
    var name: String {
        switch self {
        case .ok: "ok"
        case .usage: "usage"
        case .package: "package"
        case .input: "input"
        case .notFound: "notFound"
        case .environment: "environment"
        case .internal: "internal"
        case .output: "output"
        case .link: "link"
        case .refused: "refused"
        case .permission: "permission"
        case .config: "config"
        case .unverified: "unverified"
        case .partial: "partial"
        case .hangup, .interrupt, .terminate: "interrupted"
        }
    }

    /// One line for the help.
    var meaning: String {
        switch self {
        case .ok: "Done. Also: nothing to do, the device runs this firmware already."
        case .usage: "Wrong command line."
        case .package: "The package is at fault, or does not fit the device. Nothing was sent."
        case .input: "A file cannot be read."
        case .notFound: "The device is not in range."
        case .environment: "This machine's Bluetooth is missing, off, blocked or busy."
        case .internal: "A fault of dfu itself."
        case .output: "What was to be written cannot be written."
        case .link: "The link was lost or silent, or a limit passed: worth another try."
        case .refused: "The device said no, or is not fit for this update."
        case .permission: "This machine says no to this user."
        case .config: "A profile or configuration file is wrong."
        case .unverified: "All was sent and accepted, but the new firmware was not seen running."
        case .partial: "Several devices, and at least one of them failed."
        case .hangup: "Stopped by SIGHUP."
        case .interrupt: "Stopped by Ctrl-C (SIGINT)."
        case .terminate: "Stopped by SIGTERM."
        }
    }
}
