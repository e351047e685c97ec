/// Who speaks with a person while a device is paired.
package struct PairingDialogue: Sendable {
    /// What can be shown to the person, and what the person can say.
    package enum Capability: String, Sendable {
        case keyboardDisplay = "KeyboardDisplay"
        case noInputNoOutput = "NoInputNoOutput"
    }

    /// What BlueZ wants to know, or to be shown.
    package enum Question: Sendable, Hashable {
        /// Does the device show this number as well?
        case comparison(UInt32)
        /// Which number, of six digits at most, does the device show?
        case passkey
        /// Which text does an old device want?
        case pinCode
        /// This is to be typed in at the device.
        case display(String)
        /// Shall it be paired at all?
        case authorization
    }

    /// What the person says.
    package enum Answer: Sendable, Hashable {
        case yes
        case no
        case number(UInt32)
        case text(String)
    }

    /// What the person can do.
    package var capability: Capability
    /// Asks the person; ends soon when the task is cancelled, because the answer is not wanted any more.
    package var ask: @Sendable (Question) async -> Answer

    /// A dialogue like this.
    package init(_ capability: Capability, ask: @escaping @Sendable (Question) async -> Answer) {
        self.capability = capability
        self.ask = ask
    }
}

/// A connected device that can be paired.
package protocol PairablePeripheral: Peripheral {
    /// Whether this machine is paired with it.
    var isPaired: Bool { get async }

    /// Pairs with it, and keeps the keys.
    ///
    /// - Throws: `refused`; or `disconnected`, `timeout`, `environment`, `permission`, `cancelled`.
    func pair(_ dialogue: PairingDialogue) async throws(PairingError)
}

/// Why a device is not paired.
package enum PairingError: Error, Sendable, Equatable {
    /// The device, or whoever was asked, did not agree; one sentence for people.
    case refused(String)
    /// It did not come to that.
    case transport(TransportError)
}
