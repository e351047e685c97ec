/// Why something on a bus did not succeed.
package struct DBusError: Error, Sendable, Hashable {
    /// The kind of trouble.
    package enum Code: String, Sendable, Hashable {
        /// The peer, or the bus in its place, answered with an error: `name` says which.
        case answered
        /// No answer came within the limit.
        case timeout
        /// The task that waited was cancelled.
        case cancelled
        /// The connection is gone: the bus ended it, or this side closed it.
        case disconnected
        /// There was no connection to be had.
        case connectFailed
        /// The message cannot be sent as it is.
        case invalidMessage
    }

    /// The kind of trouble.
    package var code: Code
    /// The error's name on the bus, such as `org.bluez.Error.Failed`; nil unless `answered`.
    package var name: String?
    /// One sentence for people; the peer's own words when `answered`.
    package var message: String

    /// An error of this side.
    package init(_ code: Code, message: String) {
        self.code = code
        self.message = message
    }

    /// An answer that is an error.
    package init(name: String, message: String) {
        code = .answered
        self.name = name
        self.message = message
    }
}
