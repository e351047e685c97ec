import DFUTransport

/// What BlueZ 5.66 answers when it does not do something: names and texts as in its `src/error.c` and `gdbus/object.c`.
enum BlueZError {
    static let invalidArguments = error("InvalidArguments", "Invalid arguments in method call")
    static let busy = error("InProgress", "Operation already in progress")
    static let inProgress = error("InProgress", "In Progress")
    static let notSupported = error("NotSupported", "Operation is not supported")
    static let doesNotExist = error("DoesNotExist", "Does Not Exist")
    static let alreadyExists = error("AlreadyExists", "Already Exists")
    static let blocked = error("Blocked", "Blocked through rfkill")
    static let notReady = error("NotReady", "Resource Not Ready")
    static let notConnected = failed("Not connected")

    static func failed(_ text: String) -> DBusError { error("Failed", text) }

    static func notPermitted(_ text: String) -> DBusError { error("NotPermitted", text) }

    /// What an error of the attribute protocol becomes.
    static func attribute(_ code: UInt8) -> DBusError {
        switch code {
        case 0x02: return notPermitted("Read not permitted")
        case 0x03: return notPermitted("Write not permitted")
        case 0x05, 0x0C, 0x0F: return notPermitted("Not paired")
        case 0x06: return notSupported
        case 0x07: return error("InvalidArguments", "Invalid offset")
        case 0x08: return error("NotAuthorized", "Operation Not Authorized")
        case 0x0D: return error("InvalidArguments", "Invalid Length")
        default:
            let digits = String(code, radix: 16)
            return failed("Operation failed with ATT error: 0x" + (code < 0x10 ? "0" : "") + digits)
        }
    }

    /// What became of a request that the device did not answer as wished.
    static func request(_ error: TransportError) -> DBusError {
        // 0x0E, Unlikely Error, is what BlueZ makes of requests that the end of the connection leaves open.
        attribute(error.attCode ?? 0x0E)
    }

    /// What becomes of a call of `Pair` whose pairing ended so (`new_authentication_return` in src/device.c).
    static func authentication(_ end: PairingEnd) -> DBusError? {
        switch end {
        case .paired: nil
        case .refused(.failed): error("AuthenticationFailed", "Authentication Failed")
        case .refused(.rejected): error("AuthenticationRejected", "Authentication Rejected")
        case .refused(.canceled): error("AuthenticationCanceled", "Authentication Canceled")
        case .refused(.timedOut): error("AuthenticationTimeout", "Authentication Timeout")
        case .notReached: error("ConnectionAttemptFailed", "Page Timeout")
        }
    }

    static func noInterface(_ name: String) -> DBusError {
        DBusError(name: "org.freedesktop.DBus.Error.InvalidArgs", message: "No such interface '\(name)'")
    }

    static func noProperty(_ name: String) -> DBusError {
        DBusError(name: "org.freedesktop.DBus.Error.InvalidArgs", message: "No such property '\(name)'")
    }

    static func readOnly(_ name: String) -> DBusError {
        DBusError(
            name: "org.freedesktop.DBus.Error.PropertyReadOnly", message: "Property '\(name)' is not writable")
    }

    static func wrongType(of name: String) -> DBusError {
        DBusError(name: "org.freedesktop.DBus.Error.InvalidSignature", message: "Invalid signature for '\(name)'")
    }

    /// libdbus's own words for a call that no object takes.
    static func unknownMethod(_ call: DBusMessage, isObjectKnown: Bool) -> DBusError {
        DBusError(
            name: "org.freedesktop.DBus.Error." + (isObjectKnown ? "UnknownMethod" : "UnknownObject"),
            message: "Method \"\(call.member ?? "")\" with signature \"\(call.signature?.string ?? "")\" on interface "
                + "\"\(call.interface ?? "")\" doesn't exist\n")
    }

    private static func error(_ name: String, _ text: String) -> DBusError {
        DBusError(name: "org.bluez.Error." + name, message: text)
    }
}
