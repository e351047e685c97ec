import DFUProtocol
import DFUTransport

/// Where the notifications for a link go; a part of the link, so that a station need not hold who holds it.
struct SimulatedListener: Sendable {
    let events = LinkEvents()
    let bindings: [Endpoint: EndpointBinding]

    /// Passes on what the device notified, where the link listens to it.
    func hear(_ bytes: [UInt8], from characteristic: BluetoothUUID) {
        for (endpoint, binding) in bindings where binding.use.isHeard && binding.characteristic == characteristic {
            events.send(.notification(bytes, from: endpoint))
        }
    }
}
