import DFUProtocol
public import DFUTransport

/// A device that is updated over Secure DFU, and to which a script's faults happen.
public struct FaultySecureDevice: SimulatedDevice {
    /// The device.
    public private(set) var device: SecureDevice
    private let faults: [SecureFault]
    private var count = SecureFaultCount()
    private var isSilent = false
    /// Whether the restart that is under way is one without power.
    private var isPowerless = false
    /// What is answered in the place of the device, or nothing, to the request that was taken last.
    private var substitute: [UInt8]??
    /// The token that ends an erasing.
    private var erasing: Int?
    /// What is still heard from before a restart, and the token that ends that.
    private var old: (advertisement: DeviceAdvertisement, token: Int)?
    /// The device's own tokens are positive.
    private var lastToken = 0
    private var silenceEnd: Int?

    /// A device to which the script's faults happen.
    public init(_ device: SecureDevice, faults: SecureFaultScript = SecureFaultScript()) {
        self.device = device
        self.faults = faults.faults
    }

    /// The device's.
    public var address: String { device.address }

    /// The device's.
    public var services: [GATTService] { device.services }

    /// The device's, and for a while the one that it had before.
    public var advertisements: [DeviceAdvertisement] {
        (old.map { [$0.advertisement] } ?? []) + device.advertisements
    }

    /// Told to the device.
    public mutating func connected() {
        device.connected()
    }

    /// Told to the device.
    public mutating func disconnected() {
        substitute = nil
        device.disconnected()
    }

    /// The device's.
    public func read(_ characteristic: BluetoothUUID) -> [UInt8]? {
        device.read(characteristic)
    }

    /// Told to the device: as a restart, or as a power cycle where that is the fault.
    public mutating func rebooted() {
        let before = device.advertisements.first
        if isPowerless { device.powerCycled() } else { device.rebooted() }
        isPowerless = false
        erasing = nil
        old = before.flatMap { $0.address == device.address ? nil : ($0, 0) }
    }

    /// What the device does, and the end of its old advertisement.
    public mutating func started() -> [DeviceAction] {
        var actions = device.started()
        let times = faults.compactMap { fault in if case .oldAdvertisement(let time) = fault { time } else { nil } }
        if let before = old?.advertisement {
            old = nil
            if let time = times.max() {
                old = (before, newToken())
                actions.append(.wake(token: lastToken, after: time))
            }
        }
        return actions
    }

    /// Ends what lasts a while, or wakes the device.
    public mutating func woken(_ token: Int) -> [DeviceAction] {
        if token > 0 { return pass(device.woken(token), isReceipt: false) }
        if token == old?.token { old = nil }
        if token == erasing { erasing = nil }
        if token == silenceEnd { isSilent = false }
        return []
    }

    private mutating func newToken() -> Int {
        lastToken -= 1
        return lastToken
    }

    // MARK: What a host writes

    /// Lets what is written meet its faults.
    public mutating func written(_ bytes: [UInt8], to characteristic: BluetoothUUID) -> [DeviceAction] {
        guard characteristic == SecureDFU.Attributes.packet else {
            if let answer = substitute.take() {
                return answer.map { pass([.notify($0, from: characteristic, after: .zero)], isReceipt: false) } ?? []
            }
            guard !isSilent else { return [] }
            let isErasing = bytes.prefix(2) == [0x01, 0x02] && characteristic == SecureDFU.Attributes.controlPoint
            return pass(device.written(bytes, to: characteristic), isReceipt: false)
                + (isErasing ? beginErasing() : [])
        }
        let places = count.packet(bytes.count)
        for fault in faults {
            switch fault {
            case .drop(let place) where places.contains(place): return []
            case .disconnect(let place, let delay) where places.contains(place): return [.disconnect(after: delay)]
            case .silence(let place, let time) where places.contains(place): return fallSilent(time)
            case .powerCycle(let place, let offAir) where places.contains(place): return losePower(offAir)
            default: continue
            }
        }
        guard !isSilent, erasing == nil else { return [] }
        return pass(device.written(bytes, to: characteristic), isReceipt: true)
    }

    private mutating func beginErasing() -> [DeviceAction] {
        let object = device.executed / SecureBootloader.Settings.pageSize
        for case .slowErase(let time, let most) in faults where object < most {
            erasing = newToken()
            return [.wake(token: lastToken, after: time)]
        }
        return []
    }

    private mutating func fallSilent(_ time: Duration?) -> [DeviceAction] {
        isSilent = true
        guard let time else { return [] }
        silenceEnd = newToken()
        return [.wake(token: lastToken, after: time)]
    }

    private mutating func losePower(_ offAir: Duration) -> [DeviceAction] {
        isPowerless = true
        return [.reboot(after: .zero, offAir: offAir)]
    }

    // MARK: What the device sends

    private mutating func pass(_ actions: [DeviceAction], isReceipt: Bool) -> [DeviceAction] {
        var passed: [DeviceAction] = []
        for action in actions {
            guard case .notify(let bytes, let characteristic, let delay) = action else {
                passed.append(action)
                continue
            }
            let operation =
                isReceipt ? .receipt : SecureFaultPlace.Operation(request: Array(bytes.dropFirst()), to: characteristic)
            passed += send(bytes, from: characteristic, after: delay, operation)
            // The power is gone before the rest.
            if isPowerless { break }
        }
        return passed
    }

    private mutating func send(
        _ bytes: [UInt8], from characteristic: BluetoothUUID, after delay: Duration,
        _ operation: SecureFaultPlace.Operation?
    ) -> [DeviceAction] {
        let place = count.answer(operation)
        var bytes = bytes
        var delay = delay
        var echoes: [Duration] = []
        for fault in faults {
            switch fault {
            case .drop(let at) where place.contains(at): return []
            case .disconnect(let at, let after) where place.contains(at): return [.disconnect(after: after)]
            case .powerCycle(let at, let offAir) where place.contains(at): return losePower(offAir)
            case .delay(let at, let time) where place.contains(at): delay += time
            case .double(let at, let time) where place.contains(at): echoes.append(time)
            case .noReceipts where operation == .receipt: return []
            case .zeroChecksum where bytes.starts(with: [0x60, 0x03, 0x01]):
                bytes = [0x60, 0x03, 0x01] + [UInt8](repeating: 0, count: 8)
            default: continue
            }
        }
        guard !isSilent else { return [] }
        return ([.zero] + echoes).map { .notify(bytes, from: characteristic, after: delay + $0) }
    }
}

extension FaultySecureDevice: AttributeDevice {
    /// Lets a request meet its faults.
    package mutating func answer(_ asked: AttributeRequest) -> AttributeAnswer {
        guard case .write(let bytes, let characteristic) = asked else {
            return isSilent ? AttributeAnswer(.silence) : device.answer(asked)
        }
        let place = count.request(SecureFaultPlace.Operation(request: bytes, to: characteristic))
        for fault in faults {
            switch fault {
            case .drop(let at) where place.contains(at):
                substitute = .some(nil)
                return AttributeAnswer()
            case .answer(let at, let answer) where place.contains(at):
                let isBootloaders = characteristic == SecureDFU.Attributes.controlPoint
                substitute = .some(answer.bytes(to: bytes, isBootloaders: isBootloaders))
                return AttributeAnswer()
            case .error(let at, let code) where place.contains(at):
                _ = device.answer(asked)
                let actions = device.written(bytes, to: characteristic).filter { action in
                    if case .notify = action { false } else { true }
                }
                return AttributeAnswer(.error(AttributeErrorCode(rawValue: code)), after: actions)
            case .disconnect(let at, let delay) where place.contains(at):
                return AttributeAnswer(.silence, after: [.disconnect(after: delay)])
            case .silence(let at, let time) where place.contains(at):
                return AttributeAnswer(.silence, after: fallSilent(time))
            case .powerCycle(let at, let offAir) where place.contains(at):
                return AttributeAnswer(.silence, after: losePower(offAir))
            default: continue
            }
        }
        return isSilent ? AttributeAnswer(.silence) : device.answer(asked)
    }
}

extension SecureFault.Answer {
    /// The packet in which a request is answered so.
    fileprivate func bytes(to request: [UInt8], isBootloaders: Bool) -> [UInt8] {
        switch self {
        case .bytes(let bytes): bytes
        case .result(let result, let extended):
            [isBootloaders ? 0x60 : 0x20, request.first ?? 0, result] + (extended.map { [$0] } ?? [])
        }
    }
}

/// How much there was of what faults befall.
private struct SecureFaultCount: Sendable {
    /// The numbers of something.
    struct Numbers {
        var sides: [SecureFaultPlace.Side: Range<Int>]
        var operation: (SecureFaultPlace.Operation, Int)?

        func contains(_ place: SecureFaultPlace) -> Bool {
            guard let range = sides[place.side] else { return false }
            guard let wanted = place.operation else { return range.overlaps(place.numbers) }
            return operation.map { $0 == wanted && place.numbers.contains($1) } ?? false
        }
    }

    private struct Kind: Hashable {
        var side: SecureFaultPlace.Side
        /// Nil: all of the side.
        var operation: SecureFaultPlace.Operation?
    }

    private var bytes = 0
    private var counts: [Kind: Int] = [:]

    mutating func packet(_ length: Int) -> Numbers {
        bytes += length
        var numbers = number(.packet, nil)
        numbers.sides[.byte] = bytes - length + 1..<bytes + 1
        return numbers
    }

    mutating func request(_ operation: SecureFaultPlace.Operation?) -> Numbers { number(.request, operation) }

    mutating func answer(_ operation: SecureFaultPlace.Operation?) -> Numbers { number(.answer, operation) }

    private mutating func number(
        _ side: SecureFaultPlace.Side, _ operation: SecureFaultPlace.Operation?
    ) -> Numbers {
        let total = next(Kind(side: side))
        return Numbers(
            sides: [side: total..<total + 1],
            operation: operation.map { ($0, next(Kind(side: side, operation: $0))) })
    }

    private mutating func next(_ kind: Kind) -> Int {
        counts[kind, default: 0] += 1
        return counts[kind, default: 0]
    }
}
