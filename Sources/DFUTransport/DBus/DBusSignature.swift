private import CDBus

/// A sequence of types, such as `sa{sv}`.
package struct DBusSignature: Sendable, Hashable, CustomStringConvertible {
    /// The signature as text.
    package let string: String

    /// The signature with this text; nil when it is not one (D-Bus specification, "Valid Signatures").
    package init?(_ string: String) {
        guard !string.utf8.contains(0), dbus_signature_validate(string, nil) != 0 else { return nil }
        self.string = string
    }

    /// The signature with this text, which is known to be one.
    init(checked string: String) {
        self.string = string
    }

    /// The signature of these types; nil when they make none: too long, too deep, an empty structure, a key with parts.
    package init?(_ types: [DBusType]) {
        self.init(types.map(\.code).joined())
    }

    package var description: String { string }

    /// The types it lists.
    package var types: [DBusType] {
        var rest = string[...]
        var types: [DBusType] = []
        while !rest.isEmpty { types.append(DBusType(readingFrom: &rest)) }
        return types
    }
}
