/// The stages of an update, as people and machines are told them.
public enum Phase: String, Sendable, Hashable, CaseIterable, Codable {
    /// Looking for the device.
    case scan
    /// Connecting to it.
    case connect
    /// Resolving its services and subscribing.
    case discover
    /// Asking what decides whether the update may go on (identity, battery, versions).
    case check
    /// Sending the device into its bootloader.
    case enterBootloader = "enter-bootloader"
    /// Waiting for the device to come back.
    case reconnect
    /// The device makes ready, for instance erases.
    case prepare
    /// Sending the init packet.
    case initPacket = "init-packet"
    /// Sending the image.
    case transfer
    /// The device judges the whole image.
    case verify
    /// The device is told to run it.
    case activate
    /// Looking whether the new firmware runs.
    case confirm
}
