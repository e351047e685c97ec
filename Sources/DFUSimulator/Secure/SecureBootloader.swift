import DFUPackage
import DFUProtocol

/// Nordic's bootloader for Secure DFU at work: what a host asks it and sends, and what it answers, as a value.
///
/// It does what nRF5 SDK 17's `nrf_dfu_req_handler.c`, `nrf_dfu_ble.c` and `nrf_dfu_validation.c` do, and what the
/// generations before did in another way.
package struct SecureBootloader: Sendable {
    /// What it does.
    package enum Effect: Sendable, Equatable {
        /// It answers, or sends a receipt.
        case answer([UInt8])
        /// The time to its restart without work begins anew.
        case restartTimer
        /// The flash is at work: `flashed()` is to be called after this time.
        case work(Duration)
        /// It restarts, and ends the link before where it does so.
        case reset(disconnecting: Bool)
    }

    /// What kind it is.
    package var settings: Settings
    /// What the device keeps without power.
    package internal(set) var memory: SecureMemory

    /// What is received, in RAM.
    var reception: SecureReception
    /// The init packet that is in force.
    var target: SecureInitPacket?
    /// What `checksum`, `execute` and packets are about; nil: nothing that exists.
    private var selected: SecureDFU.ObjectType? = .command
    private var receiptInterval: UInt16 = 0
    private var packetsToReceipt: UInt16 = 0
    /// How long each piece of work takes that the flash has still to do, the one at work first.
    private var flash: [Duration] = []
    /// The answer to `execute` waits for the flash.
    private var isExecuting = false

    /// A bootloader that has just started.
    package init(_ settings: Settings, memory: SecureMemory) {
        self.settings = settings
        self.memory = memory
        reception = memory.reception
        // What is in flash was checked before it was written.
        target = try? SecureInitPacket(decoding: reception.command)
    }

    /// The link is gone. From SDK 16 on it goes back to what flash holds; the init packet stays in force or not.
    package mutating func linkLost() {
        isExecuting = false
        if !settings.sdk.keepsWorkOverLinks { reception = memory.reception }
    }

    /// Does what a packet on the control point asks for.
    package mutating func request(_ bytes: [UInt8]) -> [Effect] {
        guard let opcode = bytes.first.map(SecureDFU.Opcode.init(rawValue:)) else { return [] }
        if opcode == .create { packetsToReceipt = receiptInterval }
        guard let request = SecureDFU.Request(bytes) else { return unknown(opcode) }
        switch request {
        case .create(let type, let size):
            guard settings.sdk != .sdk12 || bytes.count == 6 else { return refuse(opcode, .invalidParameter) }
            selected = type
            return type == .command ? createCommand(Int(size)) : createData(Int(size))
        case .setReceipts(let count):
            receiptInterval = count
            packetsToReceipt = count
            return answer(.done(opcode))
        case .checksum:
            guard let selected else { return refuse(opcode, .invalidObject) }
            return answer(.checksum(selected == .command ? reception.commandState : reception.dataState))
        case .execute:
            guard let selected else { return refuse(opcode, .invalidObject) }
            return selected == .command ? executeCommand() : executeData()
        case .select(let type):
            selected = type
            let size = type == .command ? settings.sdk.commandSize : Settings.pageSize
            return answer(
                .selected(
                    maximumSize: UInt32(size), type == .command ? reception.commandState : reception.dataState))
        case .abort:
            guard settings.sdk != .sdk12 else { return unknown(opcode) }
            return [.reset(disconnecting: settings.sdk != .sdk15)]
        }
    }

    /// Takes a packet of the open object.
    package mutating func packet(_ bytes: [UInt8]) -> [Effect] {
        var effects: [Effect] = []
        let received: Result<SecureDFU.Reception, Refusal>
        do throws(Refusal) {
            received = .success(selected == .data ? try addData(bytes, &effects) : try addCommand(bytes))
        } catch {
            received = .failure(error)
        }
        guard receiptInterval > 0 else { return effects }
        packetsToReceipt -= 1
        guard packetsToReceipt == 0 else { return effects }
        packetsToReceipt = receiptInterval
        switch received {
        case .success(let reception): return effects + answer(.checksum(reception))
        case .failure(let refusal): return effects + refuse(.checksum, refusal)
        }
    }

    /// The flash has done its first piece of work.
    package mutating func flashed() -> [Effect] {
        guard !flash.isEmpty else { return [] }
        flash.removeFirst()
        if let next = flash.first { return [.work(next)] }
        guard isExecuting else { return [] }
        isExecuting = false
        return finishExecuting()
    }

    /// Whether the flash has still something to do.
    package var isWriting: Bool { !flash.isEmpty }

    // MARK: Answers

    private func answer(_ response: SecureDFU.Response) -> [Effect] { [.answer(response.encoded)] }

    func refuse(_ opcode: SecureDFU.Opcode, _ refusal: Refusal) -> [Effect] {
        switch refusal {
        case .result(let result): return answer(.refused(opcode, result, extended: nil))
        case .extended(let error) where settings.sdk.hasExtendedErrors:
            return answer(.refused(opcode, .extendedError, extended: error))
        case .extended(.verificationFailed): return answer(.refused(opcode, .invalidObject, extended: nil))
        case .extended: return answer(.refused(opcode, .operationFailed, extended: nil))
        }
    }

    private func refuse(_ opcode: SecureDFU.Opcode, _ result: SecureDFU.ResultCode) -> [Effect] {
        refuse(opcode, .result(result))
    }

    /// An opcode, or a type of object, that is not known.
    private mutating func unknown(_ opcode: SecureDFU.Opcode) -> [Effect] {
        switch opcode {
        case .create, .select:
            selected = nil
            return refuse(opcode, .invalidObject)
        default:
            if settings.hasFullProtocol {
                // Over BLE their answers carry nothing; the write of an object has none.
                switch opcode.rawValue {
                case 0x00, 0x07, 0x09, 0x0A, 0x0B: return answer(.done(opcode))
                case 0x08: return []
                default: break
                }
            }
            return refuse(opcode, settings.sdk == .sdk12 ? .invalidParameter : .opcodeNotSupported)
        }
    }

    // MARK: The init packet

    private mutating func createCommand(_ size: Int) -> [Effect] {
        guard size > 0 else { return refuse(.create, .invalidParameter) }
        guard size <= settings.sdk.commandSize else { return refuse(.create, .insufficientResources) }
        reception = SecureReception()
        reception.commandSize = size
        target = nil
        return answer(.done(.create)) + [.restartTimer]
    }

    private mutating func addCommand(_ bytes: [UInt8]) throws(Refusal) -> SecureDFU.Reception {
        guard selected == .command else { throw .result(.invalidObject) }
        guard reception.command.count + bytes.count <= reception.commandSize else { throw .result(.invalidParameter) }
        reception.command += bytes
        return reception.commandState
    }

    private mutating func executeCommand() -> [Effect] {
        guard reception.command.count == reception.commandSize else { return refuse(.execute, .operationNotPermitted) }
        guard target == nil else { return answer(.done(.execute)) }
        do throws(Refusal) {
            target = try checkedInitPacket()
        } catch {
            reception = SecureReception()
            return refuse(.execute, error)
        }
        memory.reception = reception.withoutData
        return answer(.done(.execute))
    }

    // MARK: The firmware

    /// The bytes that the firmware is to have; 0 without an init packet.
    private var firmwareSize: Int { target?.firmwareSize ?? 0 }

    private mutating func createData(_ size: Int) -> [Effect] {
        guard target != nil else { return refuse(.create, .operationNotPermitted) }
        let end = reception.executed + size
        guard size > 0, size.isMultiple(of: Settings.pageSize) || end == firmwareSize else {
            return refuse(.create, .invalidParameter)
        }
        guard size <= Settings.pageSize else { return refuse(.create, .insufficientResources) }
        guard end <= firmwareSize else { return refuse(.create, .operationNotPermitted) }
        reception.open(size)
        return answer(.done(.create)) + work(settings.eraseTime)
    }

    private mutating func addData(
        _ bytes: [UInt8], _ effects: inout [Effect]
    ) throws(Refusal) -> SecureDFU.Reception {
        guard target != nil else { throw .result(.operationNotPermitted) }
        guard reception.objectLength + bytes.count <= reception.objectSize else { throw .result(.invalidParameter) }
        // What finds no place in the queue is dropped, and the receipt for it is empty.
        guard flash.count < Settings.flashQueue else { return SecureDFU.Reception(offset: 0, crc32: 0) }
        reception.add(bytes, isLast: reception.firmware.count + bytes.count == firmwareSize)
        effects += work(settings.writeTime)
        return reception.dataState
    }

    private mutating func work(_ time: Duration) -> [Effect] {
        guard time > .zero || !flash.isEmpty, flash.count < Settings.flashQueue else { return [] }
        flash.append(time)
        return flash.count == 1 ? [.work(time)] : []
    }

    private mutating func executeData() -> [Effect] {
        guard reception.objectLength == reception.objectSize else { return refuse(.execute, .operationNotPermitted) }
        if settings.refusesSecondExecute, reception.objectSize == 0, target != nil {
            return refuse(.execute, .operationNotPermitted)
        }
        guard flash.isEmpty else {
            isExecuting = true
            return [.restartTimer]
        }
        return [.restartTimer] + finishExecuting()
    }

    private mutating func finishExecuting() -> [Effect] {
        reception.execute()
        guard reception.firmware.count == firmwareSize else {
            if settings.savesProgress || settings.sdk == .sdk12 { memory.reception = reception }
            return answer(.done(.execute))
        }
        let end = Effect.reset(disconnecting: true)
        let isSound = target.map { Self.isSound(reception, $0) } ?? false
        defer {
            reception = SecureReception()
            memory.reception = reception
            target = nil
        }
        guard isSound else { return refuse(.execute, .extended(.verificationFailed)) + [end] }
        memory.accepted = SecureMemory.Accepted(initPacket: reception.command, firmware: reception.firmware)
        return answer(.done(.execute)) + [end]
    }

    /// Whether what is in flash has the hash of its init packet.
    private static func isSound(_ reception: SecureReception, _ target: SecureInitPacket) -> Bool {
        reception.damagedAt == nil && Array(Checksum.digest(.sha256, reception.firmware).reversed()) == target.hash
    }
}
