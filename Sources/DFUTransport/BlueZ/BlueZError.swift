/// What an answer of BlueZ's that is an error, or none, means.
///
/// The names and texts are those of BlueZ's sources (`src/error.c`, `src/device.c`, `src/gatt-client.c`), of the bus and
/// of the kernel; older texts for the same thing are taken as well.
package enum BlueZError: Error, Sendable, Hashable {
    /// Nobody has the name `org.bluez` on the bus.
    case serviceMissing
    /// The service was asked and is gone, or says nothing.
    case serviceSilent
    /// The connection to the bus is gone; why.
    case busGone(String)
    /// There is no connection to the bus to be had; why.
    case busMissing(String)
    /// The bus does not let this user.
    case accessDenied
    /// The object that was called is not there any more.
    case objectGone
    /// The adapter is not on.
    case notReady
    /// Something of this kind is going on already.
    case inProgress
    /// The device is connected already.
    case alreadyConnected
    /// There is no connection to the device.
    case notConnected
    /// The connection could not be made; BlueZ's text.
    case connectAborted(String)
    /// A classic link was tried where a low-energy one is needed; BlueZ's text.
    case classicLink(String)
    /// Pairing, or the keys kept from it, failed; BlueZ's text.
    case authentication(String)
    /// The device wants to be paired before it lets this be done.
    case notPaired
    /// Another program has the characteristic alone.
    case held
    /// The device answered with this ATT error (Bluetooth Core 5.4, volume 3, part F, 3.4.1.1).
    case attribute(UInt8)
    /// BlueZ, or this characteristic, does not have that.
    case notSupported
    /// No answer came within the limit.
    case timedOut
    /// The task was cancelled.
    case cancelled
    /// Anything else; BlueZ's text, or the error's name where there is none.
    case other(String)

    /// Unlikely Error, an ATT error.
    static let unlikely: UInt8 = 0x0E

    /// What BlueZ said, or what stands for it.
    var text: String {
        switch self {
        case .busGone(let text), .busMissing(let text), .connectAborted(let text), .classicLink(let text),
            .authentication(let text),
            .other(let text):
            text
        case .attribute, .serviceMissing, .serviceSilent, .accessDenied, .objectGone, .notReady, .inProgress,
            .alreadyConnected, .notConnected, .notPaired, .held, .notSupported, .timedOut, .cancelled:
            "\(self)"
        }
    }

    /// Reads an error.
    package init(_ error: DBusError) {
        switch error.code {
        case .timeout: self = .timedOut
        case .cancelled: self = .cancelled
        case .connectFailed where error.message.contains("Permission denied"): self = .accessDenied
        case .connectFailed: self = .busMissing(error.message)
        case .disconnected: self = .busGone(error.message)
        case .invalidMessage: self = .other(error.message)
        case .answered: self.init(name: error.name ?? "", text: error.message)
        }
    }

    private init(name: String, text: String) {
        let bus = "org.freedesktop.DBus.Error."
        let bluez = "org.bluez.Error."
        switch name {
        case bus + "ServiceUnknown", bus + "NameHasNoOwner": self = .serviceMissing
        case _ where name.hasPrefix(bus + "Spawn.") || name.hasPrefix("org.freedesktop.systemd1."):
            self = .serviceMissing
        case bus + "NoReply": self = .serviceSilent
        case bus + "AccessDenied", bus + "AuthFailed": self = .accessDenied
        case bus + "Disconnected": self = .busGone(text)
        case bus + "Timeout", bus + "TimedOut": self = .timedOut
        case bus + "UnknownObject", bus + "UnknownInterface", bluez + "DoesNotExist": self = .objectGone
        // What GLib's and BlueZ's own server answer for an object that is gone; BlueZ's methods are all there else.
        case bus + "UnknownMethod": self = .objectGone
        case bluez + "NotReady": self = .notReady
        case bluez + "InProgress": self = .inProgress
        case bluez + "AlreadyConnected": self = .alreadyConnected
        case bluez + "NotConnected": self = .notConnected
        case bluez + "ConnectionAttemptFailed": self = .connectAborted(text.isEmpty ? name : text)
        case bluez + "NotAuthorized": self = .attribute(0x08)
        case bluez + "InvalidOffset": self = .attribute(0x07)
        case bluez + "InvalidValueLength": self = .attribute(0x0D)
        case bluez + "InvalidArguments" where text.contains("Length"): self = .attribute(0x0D)
        case bluez + "InvalidArguments" where text == "Invalid offset": self = .attribute(0x07)
        case bluez + "NotSupported": self = .notSupported
        case bluez + "NotPermitted": self.init(notPermitted: text)
        case _ where name.hasPrefix(bluez + "Authentication"): self = .authentication(text.isEmpty ? name : text)
        case _ where name.hasPrefix(bluez + "BREDR."): self = .classicLink(text.isEmpty ? name : text)
        default: self.init(failed: text.isEmpty ? name : text)
        }
    }

    private init(notPermitted text: String) {
        switch text {
        case "Not paired": self = .notPaired
        case "Write acquired", "Notify acquired": self = .held
        case "Read not permitted": self = .attribute(0x02)
        case "Write not permitted": self = .attribute(0x03)
        default: self = .other(text)
        }
    }

    /// `org.bluez.Error.Failed`, which stands for very much.
    private init(failed text: String) {
        if let code = Self.attributeError(in: text) {
            self = .attribute(code)
            return
        }
        let lowerCase = text.lowercased()
        switch lowerCase {
        case "not connected", "failed to initiate write", "failed to initiate read",
            "failed to initialize characteristic":
            self = .notConnected
        case "operation already in progress", "in progress": self = .inProgress
        case "already connected": self = .alreadyConnected
        case "resource not ready", "no such device", "network is down": self = .notReady
        case _ where lowerCase.hasPrefix("br-connection-"): self = .classicLink(text)
        case _ where lowerCase.hasPrefix("le-connection-") || Self.connectTexts.contains(lowerCase):
            self = .connectAborted(text)
        default: self = .other(text)
        }
    }

    /// The kernel's words, which BlueZ handed on until it had its own (5.63: `le-connection-…`).
    private static let connectTexts: Set = [
        "software caused connection abort", "connection timed out", "host is down", "connection refused",
        "connection reset by peer", "function not implemented", "no route to host",
        "transport endpoint is not connected",
        "device or resource busy", "input/output error", "operation canceled", "connection attempt failed",
        "page timeout", "timeout",
    ]

    /// The code in “Operation failed with ATT error: 0x80”, with one digit or two.
    private static func attributeError(in text: String) -> UInt8? {
        guard let start = text.range(of: "ATT error: 0x")?.upperBound else { return nil }
        return UInt8(text[start...].prefix { $0.isHexDigit }, radix: 16)
    }
}

extension String {
    /// Where a text stands in this one for the first time.
    fileprivate func range(of text: String) -> Range<Index>? {
        indices.lazy.first { self[$0...].hasPrefix(text) }.map { $0..<index($0, offsetBy: text.count) }
    }
}
