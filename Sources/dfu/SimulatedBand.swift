import DFUKit
import DFUSimulator
import DFUTransport

/// A simulated band in this process, as its ID describes it.
struct SimulatedBand: TargetDevice {
    let world: VirtualTime?
    private let id: SimulatedDeviceID
    private let air: SimulatedTransport
    private let keeper: BandKeeper

    var device: String { id.device }
    var address: String { id.device }
    var transport: any Transport { air }

    /// Makes the band; its files are read and written here, so that a wrong one stops the command before anything begins.
    init(_ id: SimulatedDeviceID, profile: DeviceProfile) throws(Failure) {
        self.id = id
        keeper = try BandKeeper(id, address: id.device, profile: profile)
        world = id.time == .virtual ? VirtualTime() : nil
        let time = world.map { SimulatedTime.virtual($0) } ?? .real
        air = SimulatedTransport([keeper.device], radio: id.radio, time: time) { [keeper] _, device in
            keeper.keep(device)
        }
    }

    /// Writes what the band ended with.
    func finish() throws(Failure) {
        try keeper.finish(air.device(address))
    }
}

extension SimulatedDeviceID {
    /// What a connection to the device can carry.
    var radio: RadioModel {
        var radio = RadioModel()
        if let mtu { radio.mtu = mtu }
        if let interval { radio.interval = interval }
        radio.packetsPerEvent = packets
        switch phy {
        case .le2M: radio.phy = .le2M
        case .le1M, nil: radio.phy = .le1M
        }
        if dataLengthExtension == .on { radio.dataLength = 251 }
        return radio
    }
}
