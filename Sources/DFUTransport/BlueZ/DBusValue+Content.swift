extension DBusValue {
    /// The string that it is.
    var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The strings of the array that it is.
    var texts: [String]? {
        if case .array(let elements, of: .string) = self { elements.compactMap(\.text) } else { nil }
    }

    /// The object path that it is.
    var path: DBusObjectPath? {
        if case .objectPath(let path) = self { path } else { nil }
    }
}

extension DBusObjectPath {
    /// The last of its names; empty at the root.
    package var lastComponent: String { string.split(separator: "/").last.map(String.init) ?? "" }
}
