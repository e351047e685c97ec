import DFUProtocol
import DFUTransport

/// A way to the endpoints of a simulated device.
struct SimulatedLink: Link {
    let station: SimulatedStation
    let connection: Int
    let listener: SimulatedListener

    var maximumWriteLength: Int { station.radio.maximumWriteLength }

    func write(_ bytes: [UInt8], to endpoint: Endpoint) async throws(TransportError) {
        precondition(bytes.count <= maximumWriteLength, "\(bytes.count) bytes are too many for one write.")
        guard let binding = listener.bindings[endpoint] else {
            preconditionFailure("The link has no endpoint \(endpoint).")
        }
        switch binding.use {
        case .writeWithoutResponse:
            // There is no back-pressure, as there is none on BlueZ's socket.
            try station.send(bytes, to: binding.characteristic, on: connection)
        case .write, .writeAndNotify:
            _ = try await station.request(.write(bytes, to: binding.characteristic), on: connection)
        case .notify: preconditionFailure("The endpoint \(endpoint) is for notifications.")
        }
    }

    func setReceiver(_ receiver: (@Sendable (LinkEvent) -> Void)?) {
        listener.events.setReceiver(receiver)
    }
}
