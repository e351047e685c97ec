/// Which signals are wanted (D-Bus specification, "Match Rules"). What is nil does not matter.
package struct DBusMatchRule: Sendable, Hashable {
    /// The bus name they come from, unique or well-known.
    package var sender: String?
    /// The object that speaks.
    package var path: DBusObjectPath?
    /// The object that speaks, or one above it.
    package var pathNamespace: DBusObjectPath?
    /// The interface.
    package var interface: String?
    /// The signal.
    package var member: String?
    /// The first argument, when it is a string.
    package var firstArgument: String?

    /// A rule for these signals.
    package init(
        sender: String? = nil, path: DBusObjectPath? = nil, pathNamespace: DBusObjectPath? = nil,
        interface: String? = nil, member: String? = nil, firstArgument: String? = nil
    ) {
        self.sender = sender
        self.path = path
        self.pathNamespace = pathNamespace
        self.interface = interface
        self.member = member
        self.firstArgument = firstArgument
    }

    /// The rule as the bus takes it.
    package var text: String {
        let parts: [(String, String?)] = [
            ("sender", sender), ("path", path?.string), ("path_namespace", pathNamespace?.string),
            ("interface", interface), ("member", member), ("arg0", firstArgument),
        ]
        return parts.reduce("type='signal'") { text, part in
            guard let value = part.1 else { return text }
            // An apostrophe cannot stand between apostrophes: they are ended, it is escaped, they begin again.
            let quoted = value.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#)
            return text + ",\(part.0)='\(quoted)'"
        }
    }

    /// Whether a signal is wanted, when the bus name `sender` belongs to the unique name `owner`.
    ///
    /// The bus knows only whether some rule of the connection fits, and asks none for a signal sent to it directly.
    func matches(_ signal: DBusMessage, owner: String?) -> Bool {
        if sender != nil, owner == nil || signal.sender != owner { return false }
        if let path, signal.path != path { return false }
        if let pathNamespace, signal.path?.isAtOrBelow(pathNamespace) != true { return false }
        if let interface, signal.interface != interface { return false }
        if let member, signal.member != member { return false }
        if let firstArgument, signal.body.first != .string(firstArgument) { return false }
        return true
    }
}
