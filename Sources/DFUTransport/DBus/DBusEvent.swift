/// What a subscriber hears.
package enum DBusEvent: Sendable, Hashable {
    /// A signal came.
    case signal(DBusMessage)
    /// The connection is gone; the last event.
    case disconnected
}
