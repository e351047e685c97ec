private import CDBus

/// The path of an object on a bus, such as `/org/bluez/hci0`.
package struct DBusObjectPath: Sendable, Hashable, CustomStringConvertible {
    /// The path as text.
    package let string: String

    /// The path with this text; nil when it is not one (D-Bus specification, "Valid Object Paths").
    package init?(_ string: String) {
        guard !string.utf8.contains(0), dbus_validate_path(string, nil) != 0 else { return nil }
        self.string = string
    }

    /// The path `/`.
    package static let root = DBusObjectPath(checked: "/")

    /// The path with this text, which is known to be one.
    init(checked string: String) {
        self.string = string
    }

    package var description: String { string }

    /// Whether this is `other` or an object below it. Names count whole: `/hci10` is not below `/hci1`.
    package func isAtOrBelow(_ other: DBusObjectPath) -> Bool {
        self == other || other == .root || string.hasPrefix(other.string + "/")
    }
}
