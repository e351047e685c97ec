public import DFUTransport

/// A band behind an injector: a device like any other, to which things happen.
public struct FaultyBand: SimulatedDevice {
    /// The band.
    public private(set) var band: Band
    private var injector: FaultInjector
    private var isSilent = false
    /// How the reboot that is under way treats the blocks, where a fault says so.
    private var keepsBlocks: Bool?
    /// Packets on slow air, by the token that lets them arrive.
    private var late: [Int: (bytes: [UInt8], characteristic: BluetoothUUID)] = [:]
    private var tokens = 0
    /// The token that ends a silence.
    private static let endOfSilence = 0

    /// A band to which the script's faults happen.
    public init(_ band: Band, faults: FaultScript) {
        self.band = band
        injector = FaultInjector(faults, parameters: band.settings.profile.blockAck)
        for case .battery(let tenths) in faults.faults { self.band.settings.batteryTenths = tenths }
        for case .oldVersion in faults.faults { self.band.settings.keepsOldVersion = true }
    }

    /// The band's.
    public var address: String { band.address }

    /// The band's.
    public var services: [GATTService] { band.services }

    /// Told to the band.
    public mutating func connected() {
        band.connected()
    }

    /// Told to the band; what is still on the air is lost.
    public mutating func disconnected() {
        late.removeAll()
        injector.disconnected()
        band.disconnected()
    }

    /// Loses the link where the script says that so many packets are too many.
    public mutating func received(packets: Int) -> [DeviceAction] {
        injector.received(packets: packets).map { fail($0) } ?? []
    }

    /// Lets the packet, and the answers to it, meet their faults.
    public mutating func written(_ bytes: [UInt8], to characteristic: BluetoothUUID) -> [DeviceAction] {
        let effects = injector.hostFrame(bytes)
        guard !isSilent else { return [] }
        return effects.flatMap { perform($0, at: characteristic) }
    }

    /// The band's.
    public func read(_ characteristic: BluetoothUUID) -> [UInt8]? {
        band.read(characteristic)
    }

    /// Told to the band, which keeps its blocks or not as the fault says that made it reboot.
    public mutating func rebooted() {
        band.restart(keepingBlocks: keepsBlocks ?? band.settings.keepsBlocks)
        keepsBlocks = nil
    }

    /// Ends a silence, or lets a late packet arrive.
    public mutating func woken(_ token: Int) -> [DeviceAction] {
        if token == Self.endOfSilence {
            isSilent = false
            return []
        }
        guard let packet = late.removeValue(forKey: token), !isSilent else { return [] }
        return arrive(packet.bytes, at: packet.characteristic)
    }

    private mutating func perform(
        _ effect: FaultInjector.Effect, at characteristic: BluetoothUUID
    ) -> [DeviceAction] {
        switch effect {
        case .deliver(let bytes, after: .zero):
            return arrive(bytes, at: characteristic)
        case .deliver(let bytes, let delay):
            tokens += 1
            late[tokens] = (bytes, characteristic)
            return [.wake(token: tokens, after: delay)]
        case .answer(let bytes):
            return reply(bytes, from: band.settings.profile.reply, after: .zero)
        case .fail(let failure):
            return fail(failure)
        }
    }

    private mutating func arrive(_ bytes: [UInt8], at characteristic: BluetoothUUID) -> [DeviceAction] {
        band.written(bytes, to: characteristic).flatMap { action in
            guard case .notify(let bytes, let characteristic, let delay) = action else { return [action] }
            return reply(bytes, from: characteristic, after: delay)
        }
    }

    private mutating func reply(
        _ bytes: [UInt8], from characteristic: BluetoothUUID, after delay: Duration
    ) -> [DeviceAction] {
        injector.deviceFrame(bytes).flatMap { effect -> [DeviceAction] in
            switch effect {
            case .deliver(let bytes, let later): [.notify(bytes, from: characteristic, after: delay + later)]
            case .answer(let bytes): [.notify(bytes, from: characteristic, after: delay)]
            case .fail(let failure): fail(failure)
            }
        }
    }

    private mutating func fail(_ failure: FaultInjector.Failure) -> [DeviceAction] {
        switch failure {
        case .disconnect(let delay):
            return [.disconnect(after: delay)]
        case .silence(let duration):
            isSilent = true
            return duration.map { [.wake(token: Self.endOfSilence, after: $0)] } ?? []
        case .reboot(let keepsBlocks, let offAir):
            self.keepsBlocks = keepsBlocks
            return [.reboot(after: .zero, offAir: offAir)]
        }
    }
}
