/// A place on the device that a procedure writes to or hears from.
///
/// A procedure names its endpoints; the transport maps each to a characteristic, so that the same procedure runs over
/// every transport and over devices whose UUIDs differ.
public enum Endpoint: String, Sendable, Hashable, Codable {
    /// Block-ack: where the host's frames go.
    case command
    /// Block-ack: where the device's frames come from. A device may use one characteristic for both.
    case reply
}
