/// A device as the user names it.
struct DeviceID: Sendable, Equatable {
    /// As typed.
    var text: String
    var simulated: SimulatedDeviceID

    /// What the device is called in JSON and in messages.
    var device: String { simulated.device }
}

extension ValueFormat<DeviceID> {
    /// The ID of a device that this version can reach.
    static var device: Self {
        ValueFormat(placeholder: "id", completion: .words(["sim:band"])) { text throws(InvalidValue) in
            guard !text.isEmpty else { throw .wrong("empty") }
            if text.hasPrefix("serial:") { throw .notYet("a device on a serial line") }
            if text.hasPrefix("udp:") { throw .notYet("a device on the network") }
            guard text.hasPrefix("sim:") else { throw .notYet("a device on the air") }
            return DeviceID(text: text, simulated: try SimulatedDeviceID(behindScheme: text.dropFirst(4)))
        }
    }
}
