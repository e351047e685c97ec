/// A message on a bus, sent or received.
package struct DBusMessage: Sendable, Hashable {
    /// What a message is for.
    package enum Kind: Sendable, Hashable {
        /// Calls a method.
        case methodCall
        /// Answers the call with this serial number.
        case methodReturn(of: UInt32)
        /// Answers the call with this serial number: it failed, and this is the error's name.
        case error(String, of: UInt32)
        /// Tells whoever listens.
        case signal
    }

    /// What it is for.
    package var kind: Kind
    /// The bus name it goes to; nil: everybody.
    package var destination: String?
    /// The object that is called or that speaks.
    package var path: DBusObjectPath?
    /// The interface of `member`.
    package var interface: String?
    /// The method or signal.
    package var member: String?
    /// Whether the sender waits for an answer.
    package var expectsReply = false
    /// The arguments.
    package var body: [DBusValue]
    /// The unique bus name it comes from, which the bus vouches for; nil before it is sent.
    package internal(set) var sender: String?
    /// Its number among the sender's messages; 0 before it is sent.
    package internal(set) var serial: UInt32 = 0

    /// A call of a method.
    package static func call(
        _ member: String, of interface: String?, at path: DBusObjectPath, destination: String, body: [DBusValue] = []
    ) -> DBusMessage {
        DBusMessage(
            kind: .methodCall, destination: destination, path: path, interface: interface, member: member,
            expectsReply: true, body: body)
    }

    /// A signal, to everybody or to one bus name.
    package static func signal(
        _ member: String, of interface: String, at path: DBusObjectPath, destination: String? = nil,
        body: [DBusValue] = []
    ) -> DBusMessage {
        DBusMessage(
            kind: .signal, destination: destination, path: path, interface: interface, member: member, body: body)
    }

    /// The types of the arguments; nil when they cannot be sent.
    package var signature: DBusSignature? { DBusSignature(body.map(\.type)) }
}
