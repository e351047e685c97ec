import DFUTransport

/// A device as the user names it.
struct DeviceID: Sendable, Equatable {
    /// What the name leads to.
    enum Kind: Sendable, Equatable {
        /// A device of this process's own.
        case simulated(SimulatedDeviceID)
        /// A device in range of an adapter.
        case onAir(DeviceSelector)
    }

    /// As typed.
    var text: String
    var kind: Kind

    /// What the device is called in JSON and in messages, as long as it is not found.
    var device: String {
        switch kind {
        case .simulated(let id): id.device
        case .onAir(.address(let address)): address.description
        case .onAir(.addressEnd), .onAir(.name): text
        }
    }

    /// Whether no device is touched.
    var isSimulated: Bool {
        if case .simulated = kind { true } else { false }
    }
}

extension ValueFormat<DeviceID> {
    /// The ID of a device.
    static var device: Self {
        ValueFormat(placeholder: "id", completion: .words(["sim:band", "sim:secure"])) { text throws(InvalidValue) in
            guard !text.isEmpty else { throw .wrong("empty") }
            if text.hasPrefix("serial:") { throw .notYet("a device on a serial line") }
            if text.hasPrefix("udp:") { throw .notYet("a device on the network") }
            if text.hasPrefix("sim:") {
                return DeviceID(
                    text: text, kind: .simulated(try SimulatedDeviceID(behindScheme: text.dropFirst(4))))
            }
            do throws(DeviceSelector.Unreadable) {
                return DeviceID(text: text, kind: .onAir(try DeviceSelector(text)))
            } catch {
                throw .wrong("no device's address, end of an address, or name: \(error.message)")
            }
        }
    }
}
