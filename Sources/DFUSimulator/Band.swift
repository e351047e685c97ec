public import DFUProtocol
public import DFUTransport

/// A wristband that is updated over block-ack, as a value.
public struct Band: SimulatedDevice {
    /// What kind of band it is.
    public var settings: Settings
    /// What it keeps without power.
    public private(set) var memory: Memory
    /// The time that was set, which a reboot clears.
    public private(set) var clock: BlockAck.PackedTime?

    /// Whether blocks are taken: a `start` was accepted, and no reboot came since.
    private var isOpen = false
    /// The block that is being received.
    private var block: BandBlock?
    private let version2A26 = BluetoothUUID(short: 0x2A26)

    /// A band of this kind, which holds what an earlier one kept, or is fresh from the factory.
    public init(_ settings: Settings = Settings(), memory: Memory? = nil) {
        self.settings = settings
        self.memory = memory ?? Memory(version: settings.version)
    }

    /// Where it is found.
    public var address: String { settings.address }

    /// The service of its profile and, where it shows its version, Device Information (180A).
    public var services: [GATTService] {
        let profile = settings.profile
        var properties = settings.commandProperties
        if profile.reply == profile.command { properties.insert(.notify) }
        var characteristics = [GATTCharacteristic(uuid: profile.command, properties: properties)]
        if profile.reply != profile.command {
            characteristics.insert(GATTCharacteristic(uuid: profile.reply, properties: .notify), at: 0)
        }
        var services = [GATTService(uuid: profile.service, characteristics: characteristics)]
        if settings.showsVersion {
            let version = GATTCharacteristic(uuid: version2A26, properties: .read)
            services.append(GATTService(uuid: BluetoothUUID(short: 0x180A), characteristics: [version]))
        }
        return services
    }

    /// Nothing changes.
    public mutating func connected() {}

    /// Keeps the blocks and drops the one that is being received.
    public mutating func disconnected() {
        block = nil
    }

    /// The running version, where it is shown.
    public func read(_ characteristic: BluetoothUUID) -> [UInt8]? {
        guard settings.showsVersion, characteristic == version2A26 else { return nil }
        return Array(memory.version.description.utf8)
    }

    /// Runs an accepted image, and keeps an unfinished one where such a band does.
    public mutating func rebooted() {
        restart(keepingBlocks: settings.keepsBlocks)
    }

    /// Comes up again.
    package mutating func restart(keepingBlocks: Bool) {
        if let accepted = memory.accepted {
            if !settings.keepsOldVersion { memory.run(accepted) }
            memory.reception = nil
        } else if !keepingBlocks {
            memory.reception = nil
        }
        memory.accepted = nil
        clock = nil
        isOpen = false
        block = nil
    }

    /// Does what a frame of the host asks for.
    public mutating func written(_ bytes: [UInt8], to characteristic: BluetoothUUID) -> [DeviceAction] {
        guard characteristic == settings.profile.command else { return [] }
        let frame: BlockAck.Frame
        do {
            frame = try BlockAck.Frame(decoding: bytes, from: .host, by: parameters)
        } catch {
            return damaged(error)
        }
        guard let request = BlockAck.Request(frame, by: parameters) else {
            let isKnown = BlockAck.Command.allCases.contains { parameters.opcodes[$0] == frame.opcode }
            // The length of a known command does not fit: dropped.
            return isKnown ? [] : notify(unknownCommand(frame.opcode))
        }
        return answer(request)
    }

    private var parameters: BlockAck.Parameters { settings.profile.blockAck }

    private func damaged(_ flaw: BlockAck.Frame.Flaw) -> [DeviceAction] {
        guard case .damaged(let opcode) = flaw,
            let command = BlockAck.Command.allCases.first(where: { parameters.opcodes[$0] == opcode })
        else { return [] }
        return switch command {
        case .blockHeader, .data: []
        case .battery, .setTime, .start, .blockEnd, .complete, .abort: reply(.status(.badFrameChecksum, of: command))
        }
    }

    private func unknownCommand(_ opcode: UInt8) -> [UInt8] {
        BlockAck.Frame(opcode: opcode, payload: [BlockAck.Status.unsupportedCommand.rawValue])
            .encoded(from: .device, by: parameters)
    }

    private func reply(_ reply: BlockAck.Reply, after delay: Duration = .zero) -> [DeviceAction] {
        notify(reply.encoded(by: parameters), after: delay)
    }

    private func notify(_ bytes: [UInt8], after delay: Duration = .zero) -> [DeviceAction] {
        [.notify(bytes, from: settings.profile.reply, after: delay)]
    }
}

// MARK: - The commands

extension Band {
    private mutating func answer(_ request: BlockAck.Request) -> [DeviceAction] {
        switch request {
        case .battery:
            guard let tenths = settings.batteryTenths else {
                return reply(.status(.unsupportedCommand, of: .battery))
            }
            return reply(.battery(tenths: tenths))
        case .setTime(let time):
            guard settings.knowsTime else { return reply(.status(.unsupportedCommand, of: .setTime)) }
            clock = time
            return reply(.status(.ok, of: .setTime))
        case .start(let announcement):
            return start(announcement)
        case .blockHeader(let index, let length, let crc32):
            open(Int(index), length: Int(length), crc32: crc32)
            return []
        case .data(let sequence, let bytes):
            block?.add(bytes, sequence: sequence)
            return []
        case .blockEnd(let index):
            return end(Int(index))
        case .complete(let crc32):
            return complete(crc32)
        case .abort:
            return abort()
        }
    }

    private mutating func start(_ image: BlockAck.Request.Announcement) -> [DeviceAction] {
        block = nil
        if let refusal = refusal(of: image) { return reply(.status(refusal, of: .start)) }
        let isNew = memory.reception?.isSame(as: image) != true
        if isNew {
            memory.reception = BandReception(image)
        }
        // The latest word on the version counts; it is no part of what makes an image the same.
        memory.reception?.version = image.version
        isOpen = true
        let started = BlockAck.Reply.started(
            next: UInt16(memory.reception?.next ?? 0), packetLimit: settings.packetLimit)
        return reply(started, after: isNew ? settings.eraseTime : .zero)
    }

    private func refusal(of image: BlockAck.Request.Announcement) -> BlockAck.Status? {
        // "Too large" is the nearest there is to an image of no blocks, or of more than can be counted.
        if image.size == 0 || Int(image.size) > min(settings.capacity, Int(UInt16.max) * Int(image.blockSize)) {
            return .imageTooLarge
        }
        if image.version != .any, image.version <= memory.version { return .versionNotNewer }
        if let tenths = settings.batteryTenths, tenths < settings.neededTenths { return .batteryTooLow }
        return nil
    }

    private mutating func open(_ index: Int, length: Int, crc32: UInt32) {
        // A length that is not this block's would shift all that follows.
        guard isOpen, let reception = memory.reception, index <= reception.next,
            length > 0, length == reception.length(ofBlock: index)
        else { return }
        block = BandBlock(index: index, length: length, crc32: crc32)
    }

    private mutating func end(_ index: Int) -> [DeviceAction] {
        func judge(_ status: BlockAck.Status, missing: UInt16 = BandBlock.noneMissing) -> BlockAck.Reply {
            .block(status, index: UInt16(index), firstMissing: missing)
        }
        guard isOpen, let reception = memory.reception, index <= reception.next, index < reception.blockCount else {
            return reply(judge(.wrongState))
        }
        guard let block, block.index == index else {
            return reply(index < reception.next ? judge(.ok) : judge(.packetsMissing, missing: 0))
        }
        let (status, missing) = block.verdict
        if status == .ok {
            memory.reception?.keep(block.bytes, at: index)
            self.block = nil
        }
        return reply(judge(status, missing: missing), after: settings.flashTime)
    }

    private mutating func complete(_ crc32: UInt32) -> [DeviceAction] {
        func judge(_ status: BlockAck.Status) -> [DeviceAction] { reply(.status(status, of: .complete)) }
        guard isOpen, let reception = memory.reception, reception.next == reception.blockCount else {
            return judge(.wrongState)
        }
        guard crc32 == reception.crc32, CRC32.checksum(reception.bytes) == crc32 else {
            forget()
            return judge(.imageMismatch)
        }
        guard memory.accepted == nil else { return judge(.ok) }
        memory.accepted = reception
        return judge(.ok) + [.reboot(after: settings.rebootDelay, offAir: settings.rebootTime)]
    }

    private mutating func abort() -> [DeviceAction] {
        guard memory.accepted == nil else { return reply(.status(.wrongState, of: .abort)) }
        forget()
        return reply(.status(.ok, of: .abort))
    }

    private mutating func forget() {
        memory.reception = nil
        isOpen = false
        block = nil
    }
}
