package import DFUTransport

/// One thing that goes wrong with a simulated BlueZ, its adapters or its bus.
package struct BlueZFault: Sendable, Hashable {
    /// What goes wrong.
    package enum Kind: Sendable, Hashable {
        /// The next calls of a method fail; nil: they are never answered.
        case fail(method: String, DBusError?, times: Int)
        /// The next connections are not made; the device is shown as connected for a while, or not at all.
        case failConnects(String, shown: Duration?, times: Int)
        /// An adapter is pulled out.
        case unplug(adapter: String)
        /// An adapter is plugged in.
        case plugIn(adapter: String)
        /// An adapter is switched off or on.
        case power(Bool, adapter: String)
        /// A switch of the machine keeps an adapter off, or does so no more.
        case block(Bool, adapter: String)
        /// The daemon dies, and is there again when the time has passed.
        case restart(after: Duration)
        /// The bus ends all its connections.
        case closeBus
    }

    /// What goes wrong.
    package var kind: Kind
    /// Only when a device has got so many bytes; nil: at the start.
    package var bytes: Int?
    /// The address of that device; nil: whichever is the first.
    package var device: String?
    /// So much later.
    package var delay: Duration

    /// A fault of this kind.
    package init(_ kind: Kind, atByte bytes: Int? = nil, of device: String? = nil, after delay: Duration = .zero) {
        self.kind = kind
        self.bytes = bytes
        self.device = device
        self.delay = delay
    }
}
