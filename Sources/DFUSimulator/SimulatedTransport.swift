public import DFUTransport

/// Reaches simulated devices over a modelled radio, in real or in virtual time.
///
/// A device is on the air until it reboots, and takes one host at a time. Writes without response are queued without
/// back-pressure, as BlueZ's socket does; what is queued and not yet sent is lost with the link.
public final class SimulatedTransport: Transport {
    /// The devices by the addresses that they had at the beginning, in their order.
    private let stations: [SimulatedStation]
    private let advertisingInterval: Duration
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
        precondition(Set(devices.map(\.address)).count == devices.count, "each device has an address of its own")
        stations = devices.map { SimulatedStation($0, radio: radio, time: time, observer: observer) }
        advertisingInterval = radio.advertisingInterval
        self.time = time
    }

    /// The device that had this address at the beginning, as it is now.
    public func device(_ address: String) -> (any SimulatedDevice)? {
        stations.first { $0.address == address }?.device
    }

    /// Lets the radio fail between the device and its host.
    ///
    /// The address is the device's at the beginning. From now on nothing is carried; writes are still accepted, and lost. When the supervision timeout is over both
    /// sides see the end of the connection. A host that dies without a goodbye is this, and the end of its task.
    public func loseLink(to address: String) {
        stations.first { $0.address == address }?.loseLink()
    }

    /// Connects as soon as a device is on the air at this address and no other host has it.
    public func connect(to device: String, timeout: Duration) async throws(TransportError) -> any Peripheral {
        let end = time.now + timeout
        while true {
            let found = stations.filter { $0.currentAddress == device }
            for station in found {
                guard let (connection, services) = station.connect(to: device) else { continue }
                let peripheral = SimulatedPeripheral(
                    address: device, station: station, connection: connection, table: services)
                try await discover(peripheral, before: end)
                return peripheral
            }
            let now = time.now
            guard now < end else {
                throw TransportError(.notFound, message: "The device was not heard in \(timeout).")
            }
            // Whatever there is may come up at this address.
            let next = (found.isEmpty ? stations : found).map { $0.nextAdvertisement(after: now) }.min()
            do {
                try await time.sleep(until: min(next ?? end, end))
            } catch {
                throw TransportError(.cancelled, message: "Connecting was stopped.")
            }
        }
    }

    /// Listens from one advertisement of each device to the next.
    public func find(_ hints: [DeviceHint], timeout: Duration) async throws(TransportError) -> String {
        let begin = time.now
        let end = begin + timeout
        while time.now < end {
            do {
                try await time.sleep(until: min(time.now + advertisingInterval, end))
            } catch {
                throw TransportError(.cancelled, message: "Listening was stopped.")
            }
            let elapsed = time.now - begin
            for hint in hints {
                for station in stations {
                    let heard = station.advertisements.first { advertisement in
                        hint.fits(
                            address: advertisement.address, name: advertisement.name,
                            services: advertisement.services ?? station.device.services.prefix(1).map(\.uuid),
                            after: elapsed)
                    }
                    if let heard { return heard.address }
                }
            }
        }
        throw TransportError(.notFound, message: "The device was not heard in \(timeout).")
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
