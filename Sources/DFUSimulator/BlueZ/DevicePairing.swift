package import DFUTransport

/// How a device is paired, and what needs it.
package struct DevicePairing: Sendable, Hashable {
    /// How the two sides make sure of each other (Bluetooth Core 5.4, volume 3, part H, 2.3.5.1).
    package enum Method: Sendable, Hashable {
        /// Not at all.
        case justWorks
        /// Both show this number, and somebody says on both sides whether it is the same.
        case comparison(UInt32)
        /// The device shows this number, and it is typed in at the host.
        case entry(UInt32)
        /// The host shows this number, and it is typed in at the device.
        case display(UInt32)
    }

    /// How a device ends a pairing that it does not want, as BlueZ tells it.
    package enum Refusal: Sendable, Hashable {
        /// It says that the pairing has failed.
        case failed
        /// It says that it does not want to.
        case rejected
        /// It ends the connection.
        case canceled
        /// It says nothing any more.
        case timedOut
    }

    /// How the two sides make sure of each other.
    package var method: Method
    /// The characteristics that are read, written and subscribed to over an encrypted link only; nil: all.
    package var characteristics: Set<BluetoothUUID>?
    /// How it ends a pairing; nil: it agrees.
    package var refusal: Refusal?

    /// A device that is paired like this.
    package init(_ method: Method = .justWorks, of characteristics: Set<BluetoothUUID>? = nil, refusal: Refusal? = nil)
    {
        self.method = method
        self.characteristics = characteristics
        self.refusal = refusal
    }

    /// Whether a characteristic needs it.
    func protects(_ characteristic: BluetoothUUID) -> Bool { characteristics?.contains(characteristic) ?? true }
}
