package import DFUProtocol
public import DFUTransport

/// A device that is updated over Secure DFU, as a value: an application, and the bootloader that replaces it.
public struct SecureDevice: SimulatedDevice {
    /// What kind of device it is.
    public var settings: Settings {
        didSet { bootloader?.settings = settings.bootloader }
    }
    /// The bootloader; nil where the application runs.
    private var bootloader: SecureBootloader?
    /// What the device keeps, while the application runs.
    private var applicationMemory: SecureMemory
    /// Whether the application goes into the bootloader already.
    private var isLeaving = false
    /// What the bootloader advertises.
    private var bootloaderName = ""
    /// After how long without work the bootloader restarts.
    private var inactivityLimit = Duration.zero
    /// What is told of changes, by its characteristic.
    private var subscriptions: Set<BluetoothUUID> = []
    /// The request that was taken, and is to be carried out. What comes as a command is not heard.
    private var request: [UInt8]?
    private var lastToken = 0
    /// What ends the bootloader's wait for work.
    private var timer: Int?
    /// What tells that the flash has done a piece of work.
    private var flashToken: Int?

    /// A device of this kind, which holds what an earlier one kept, or is fresh from the factory.
    public init(_ settings: Settings = Settings(), memory: SecureMemory? = nil) {
        self.settings = settings
        applicationMemory = memory ?? SecureMemory(application: SecureMemory.Application(version: 1))
        start(wantsBootloader: settings.startsInBootloader)
    }

    /// What it keeps without power.
    public var memory: SecureMemory { bootloader?.memory ?? applicationMemory }

    /// Whether the bootloader runs.
    public var isInBootloader: Bool { bootloader != nil }

    /// Whether the bootloader's flash is at work.
    package var isWriting: Bool { bootloader?.isWriting ?? false }

    /// How many bytes of the firmware are in objects that were executed.
    package var executed: Int { bootloader?.reception.executed ?? 0 }

    /// What the bootloader has received of the init packet or of the firmware.
    package func received(_ type: SecureDFU.ObjectType) -> [UInt8] {
        guard let reception = bootloader?.reception else { return [] }
        return type == .command ? reception.command : reception.firmware
    }

    // MARK: What it shows

    /// Where it is found now.
    public var address: String {
        guard isInBootloader, !(settings.keepsAddress ?? (settings.entry == .bonded)) else { return settings.address }
        return BluetoothAddress(settings.address)?.bootloader.description ?? settings.address
    }

    /// The bootloader's service, or the application's ones.
    public var services: [GATTService] {
        guard !isInBootloader else {
            return [
                GATTService(
                    uuid: SecureDFU.Attributes.service,
                    characteristics: [
                        GATTCharacteristic(uuid: SecureDFU.Attributes.packet, properties: .writeWithoutResponse),
                        GATTCharacteristic(uuid: SecureDFU.Attributes.controlPoint, properties: [.write, .notify]),
                    ])
            ]
        }
        var services: [GATTService] = []
        if let entry = settings.entry.characteristic {
            let answers: GATTCharacteristic.Properties = settings.entry == .sdk12 ? .notify : .indicate
            services.append(
                GATTService(
                    uuid: settings.entry.service,
                    characteristics: [GATTCharacteristic(uuid: entry, properties: [.write, answers])]))
        }
        if settings.showsVersion {
            let version = GATTCharacteristic(uuid: BluetoothUUID(short: 0x2A26), properties: .read)
            services.append(GATTService(uuid: BluetoothUUID(short: 0x180A), characteristics: [version]))
        }
        return services
    }

    /// The name and the service of Secure DFU, which an application shows too.
    public var advertisements: [DeviceAdvertisement] {
        if isInBootloader {
            let services = [SecureDFU.Attributes.service]
            return [DeviceAdvertisement(address: address, name: bootloaderName, services: services)]
        }
        let services = settings.entry == .none ? [] : [settings.entry.service]
        return [DeviceAdvertisement(address: address, name: settings.name, services: services)]
    }

    /// The version of the application, where it is shown.
    public func read(_ characteristic: BluetoothUUID) -> [UInt8]? {
        guard settings.showsVersion, characteristic == BluetoothUUID(short: 0x2A26), !isInBootloader else { return nil }
        let isFactorys = memory.application?.firmware.isEmpty ?? true
        let number = "\(memory.applicationVersion)"
        return Array((isFactorys ? settings.version ?? number : number).utf8)
    }

    // MARK: The link

    /// Nothing is subscribed to.
    public mutating func connected() {
        subscriptions = []
        request = nil
    }

    /// An application forgets nothing; what a bootloader forgets depends on its generation.
    public mutating func disconnected() {
        subscriptions = []
        request = nil
        bootloader?.linkLost()
    }

    // MARK: Starts

    /// Runs the bootloader where it is wanted, or nothing else is valid; and the application else.
    public mutating func rebooted() {
        start(wantsBootloader: memory.isBootloaderWanted)
    }

    /// Comes up after its power was gone, with which a wish for the bootloader is gone.
    public mutating func powerCycled() {
        start(wantsBootloader: false)
    }

    /// Has its next start go into the bootloader, as an application can by itself.
    package mutating func wantBootloader() {
        applicationMemory.isBootloaderWanted = true
    }

    /// Waits for work, where the bootloader runs.
    public mutating func started() -> [DeviceAction] {
        isInBootloader ? [restartTimer()] : []
    }

    private mutating func start(wantsBootloader: Bool) {
        var memory = memory
        let isSystemNew = memory.install()
        bootloaderName = memory.bootloaderName ?? settings.bootloaderName
        memory.bootloaderName = nil
        memory.isBootloaderWanted = false
        subscriptions = []
        request = nil
        timer = nil
        flashToken = nil
        isLeaving = false
        applicationMemory = memory
        bootloader = nil
        guard wantsBootloader || isSystemNew || memory.application == nil else { return }
        bootloader = SecureBootloader(settings.bootloader, memory: memory)
        let isContinuing = isSystemNew && memory.application != nil
        inactivityLimit = isContinuing ? settings.continuationLimit : settings.inactivityLimit
    }

    private mutating func restartTimer() -> DeviceAction {
        timer = newToken()
        return .wake(token: lastToken, after: inactivityLimit)
    }

    private mutating func newToken() -> Int {
        lastToken += 1
        return lastToken
    }

    /// Restarts after a time without work, or goes on with what the flash has done.
    public mutating func woken(_ token: Int) -> [DeviceAction] {
        if token == timer {
            timer = nil
            return [.reboot(after: .zero, offAir: settings.startTime)]
        }
        guard token == flashToken else { return [] }
        flashToken = nil
        return perform(bootloader?.flashed() ?? [])
    }

    // MARK: What a host writes

    /// Does what was asked for.
    public mutating func written(_ bytes: [UInt8], to characteristic: BluetoothUUID) -> [DeviceAction] {
        if characteristic == SecureDFU.Attributes.packet {
            return perform(bootloader?.packet(bytes) ?? [])
        }
        guard let request = request.take(), request == bytes else { return [] }
        guard isInBootloader else { return answerApplication(bytes, at: characteristic) }
        return perform(bootloader?.request(bytes) ?? [])
    }

    private mutating func perform(_ effects: [SecureBootloader.Effect]) -> [DeviceAction] {
        effects.flatMap { effect -> [DeviceAction] in
            switch effect {
            case .answer(let bytes): return [.notify(bytes, from: SecureDFU.Attributes.controlPoint, after: .zero)]
            case .restartTimer: return [restartTimer()]
            case .work(let time):
                flashToken = newToken()
                return [.wake(token: lastToken, after: time)]
            case .reset(let isDisconnecting):
                timer = nil
                let time = settings.startTime + (memory.accepted == nil ? .zero : settings.installTime)
                return (isDisconnecting ? [.disconnect(after: settings.endDelay)] : [])
                    + [.reboot(after: settings.endDelay, offAir: time)]
            }
        }
    }

    /// An application's answer (nRF5 SDK 17: `ble_dfu.c`).
    private mutating func answerApplication(_ bytes: [UInt8], at characteristic: BluetoothUUID) -> [DeviceAction] {
        guard let opcode = bytes.first else { return [] }
        func answer(_ result: SecureDFU.Buttonless.ResultCode) -> [DeviceAction] {
            [
                .notify(
                    SecureDFU.Buttonless.Response(opcode: opcode, result).encoded, from: characteristic, after: .zero)
            ]
        }
        switch opcode {
        case 0x01:
            guard settings.entry != .bonded || settings.isBonded else { return answer(.notBonded) }
            guard !isLeaving else { return answer(.busy) }
            isLeaving = true
            applicationMemory.isBootloaderWanted = true
            return answer(.success) + [
                .disconnect(after: settings.endDelay), .reboot(after: settings.endDelay, offAir: settings.startTime),
            ]
        case 0x02 where settings.entry == .unbonded && settings.takesName:
            let length = bytes.count > 1 ? Int(bytes[1]) : 0
            guard (1...20).contains(length), bytes.count == 2 + length,
                let name = String(validating: bytes[2...], as: UTF8.self)
            else { return answer(.invalidName) }
            // Once for each start.
            guard applicationMemory.bootloaderName == nil else { return answer(.operationFailed) }
            applicationMemory.bootloaderName = name
            return answer(.success)
        default: return answer(.opcodeNotSupported)
        }
    }
}

extension SecureDevice: AttributeDevice {
    /// Refuses what cannot be answered afterwards, and what is too long.
    package mutating func answer(_ asked: AttributeRequest) -> AttributeAnswer {
        switch asked {
        case .read(let characteristic):
            return AttributeAnswer(read(characteristic).map { .success($0) } ?? .error(.readNotPermitted))
        case .subscribe(let characteristic):
            subscriptions.insert(characteristic)
            let isIdle = timer == nil && isInBootloader
            return AttributeAnswer(after: isIdle ? [restartTimer()] : [])
        case .write(let bytes, let characteristic):
            guard subscriptions.contains(characteristic) else { return AttributeAnswer(.error(.configurationWrong)) }
            guard bytes.count <= (isInBootloader ? 23 : 22) else { return AttributeAnswer(.error(.lengthWrong)) }
            request = bytes
            return AttributeAnswer()
        }
    }
}

extension AttributeErrorCode {
    /// Invalid Attribute Value Length.
    fileprivate static let lengthWrong = AttributeErrorCode(rawValue: 0x0D)
    /// Client Characteristic Configuration Descriptor Improperly Configured.
    fileprivate static let configurationWrong = AttributeErrorCode(rawValue: 0xFD)
}
