import DFUKit
import DFUPackage
import DFUSimulator
import DFUTransport

/// A simulated device in this process, as its ID describes it.
struct SimulatedTarget: TargetDevice {
    let world: VirtualTime?
    let address: String
    private let id: SimulatedDeviceID
    private let air: SimulatedTransport
    private let keeper: any DeviceKeeping

    var device: String { id.device }
    var transport: any Transport { air }

    /// Makes the device; its files are read and written here, so that a wrong one stops the command before anything
    /// begins.
    init(_ id: SimulatedDeviceID, profile: DeviceProfile) throws(Failure) {
        self.id = id
        keeper = try id.keeper(address: id.address, name: id.secure.name, profile: profile)
        // It may be in its bootloader already.
        address = keeper.device.address
        world = id.time == .virtual ? VirtualTime() : nil
        let time = world.map { SimulatedTime.virtual($0) } ?? .real
        air = SimulatedTransport([keeper.device], radio: id.radio, time: time) { [keeper] _, device in
            keeper.keep(device)
        }
    }

    /// Writes what the device ended with.
    func finish() throws(Failure) {
        try keeper.finish(air.device(address))
    }
}

extension SimulatedDeviceID {
    /// Where the device's application is found in this process. A band is known by its ID; where an application has another
    /// address than its bootloader, it has to be a real one.
    var address: String {
        switch kind {
        case .band, .legacy, .smp: device
        case .secure: secure.address?.description ?? secureAddress
        }
    }

    /// An address of each name's own, with room for the bootloader's.
    private var secureAddress: String {
        guard device != "sim:secure" else { return "C0:FF:EE:00:00:50" }
        let digest = Checksum.digest(.sha256, device.utf8)
        let octets = [0xC0, 0xFF, 0xEE, digest[0], digest[1], digest[2] & 0xFE]
        return BluetoothAddress(octets: octets)?.description ?? device
    }

    /// What a connection to the device can carry.
    var radio: RadioModel {
        var radio = RadioModel()
        if let mtu { radio.mtu = mtu }
        // What a host of today offers.
        if kind == .secure { radio.mtu = secure.sdk.generation.mtu(offered: mtu ?? 247) }
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
