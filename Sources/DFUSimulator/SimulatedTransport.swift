public import DFUTransport

/// Reaches simulated devices over a modelled radio, in real or in virtual time.
///
/// A device is on the air until it reboots, and takes one host at a time. Writes without response are queued without
/// back-pressure, as BlueZ's socket does; what is queued and not yet sent is lost with the link.
public final class SimulatedTransport: Transport {
    private let stations: [String: SimulatedStation]
    private let time: SimulatedTime

    /// A world with these devices in it, whose addresses differ.
    /// - Parameters:
    ///   - devices: The devices, as they are at the beginning.
    ///   - radio: What each connection can carry.
    ///   - time: In virtual time the host has to run in `VirtualTime.run(_:)` and to use its clock.
    ///   - observer: Is told each event, with the device as it is after it, and must not block.
    public init(
        _ devices: [any SimulatedDevice], radio: RadioModel = RadioModel(), time: SimulatedTime = .real,
        observer: (@Sendable (SimulatedEvent, any SimulatedDevice) -> Void)? = nil
    ) {
        stations = Dictionary(
            uniqueKeysWithValues: devices.map { device in
                (device.address, SimulatedStation(device, radio: radio, time: time, observer: observer))
            })
        self.time = time
    }

    /// The device with this address as it is now.
    public func device(_ address: String) -> (any SimulatedDevice)? {
        stations[address]?.device
    }

    /// Lets the radio fail between the device and its host.
    ///
    /// From now on nothing is carried; writes are still accepted, and lost. When the supervision timeout is over both
    /// sides see the end of the connection. A host that dies without a goodbye is this, and the end of its task.
    public func loseLink(to address: String) {
        stations[address]?.loseLink()
    }

    /// Connects as soon as the device is on the air and no other host has it.
    public func connect(to device: String, timeout: Duration) async throws(TransportError) -> any Peripheral {
        let end = time.now + timeout
        let station = stations[device]
        while true {
            if let station, let (connection, services) = station.connect() {
                let peripheral = SimulatedPeripheral(station: station, connection: connection, table: services)
                try await discover(peripheral, before: end)
                return peripheral
            }
            let now = time.now
            guard now < end else {
                throw TransportError(.notFound, message: "The device was not heard in \(timeout).")
            }
            do {
                try await time.sleep(until: min(station?.nextAdvertisement(after: now) ?? end, end))
            } catch {
                throw TransportError(.cancelled, message: "Connecting was stopped.")
            }
        }
    }

    /// Exchanges the MTU, and resolves the services and the characteristics of each.
    private func discover(_ peripheral: SimulatedPeripheral, before end: Duration) async throws(TransportError) {
        for _ in 0..<(2 + peripheral.table.count) {
            do {
                _ = try await peripheral.station.request(.discover, on: peripheral.connection)
            } catch {
                throw TransportError(.connectFailed, message: "The connection was lost while it was set up.")
            }
            guard time.now <= end, !Task.isCancelled else {
                await peripheral.disconnect()
                if Task.isCancelled { throw TransportError(.cancelled, message: "Connecting was stopped.") }
                throw TransportError(.connectFailed, message: "The connection took too long to set up.")
            }
        }
    }
}

extension TransportError {
    /// What a host hears when the connection is over.
    static var connectionLost: TransportError {
        TransportError(.disconnected, message: "The connection to the device is lost.")
    }

    /// What a host hears of a request that the device answers with an error.
    static func refused(_ code: AttributeErrorCode) -> TransportError {
        TransportError(.attributeError, attCode: code.rawValue, message: "The device answered: \(code).")
    }
}
