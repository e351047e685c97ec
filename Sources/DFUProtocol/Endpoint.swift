/// A place on the device that a procedure writes to or hears from.
///
/// A procedure names its endpoints; the transport maps each to a characteristic, so that the same procedure runs over
/// every transport and over devices whose UUIDs differ.
public enum Endpoint: String, Sendable, Hashable, Codable {
    /// Block-ack: where the host's frames go.
    case command
    /// Block-ack: where the device's frames come from. A device may use one characteristic for both.
    case reply
    /// Secure DFU: where requests go, and answers come from.
    case controlPoint
    /// Secure DFU: where the init packet and the firmware go.
    case packet
    /// Secure DFU: where an application is sent into its bootloader, and answers.
    case buttonless
}
