import DFUProtocol

/// A bootloader as far as tests of the host need one: what it holds, and its answers, by the rules of SDK 15 to 17.
struct SecureBootloader {
    /// What a lost link leaves of what is not in flash.
    enum Memory {
        /// All of it (SDK 15).
        case kept
        /// The executed init packet only (SDK 17).
        case initPacketOnly
        /// And the executed objects (SDK 17 with its progress saved).
        case executedObjects
    }

    var memory = Memory.kept
    var maximumInitPacket = 512
    var maximumObject = 4096
    /// How much of a firmware its init packet announces; told by the test.
    var firmwareSize: Int
    /// Packets by their number, from 1, that are dropped.
    var lostPackets: Set<Int> = []
    var sendsReceipts = true

    private(set) var initPacket: [UInt8] = []
    private(set) var storedInitPacket: [UInt8] = []
    private(set) var firmware: [UInt8] = []
    private(set) var installed: [UInt8]?
    /// Bytes of the firmware in executed objects.
    private(set) var executed = 0
    /// Packets heard so far.
    private(set) var packets = 0
    private(set) var receiptInterval = 0

    private var isInitValid = false
    private var objectEnd = 0
    private var current: UInt8 = 1
    private var counter = 0

    init(firmwareSize: Int) {
        self.firmwareSize = firmwareSize
    }

    /// Holds what an earlier host left.
    mutating func hold(initPacket: [UInt8], isExecuted: Bool, firmware: [UInt8] = [], executed: Int = 0) {
        self.initPacket = initPacket
        storedInitPacket = isExecuted ? initPacket : []
        isInitValid = isExecuted
        self.firmware = firmware
        self.executed = executed
        objectEnd = executed == firmware.count ? executed : min(executed + maximumObject, firmwareSize)
    }

    /// The answers to a request; empty for `abort`, which ends the link.
    mutating func requested(_ bytes: [UInt8]) -> [[UInt8]] {
        func refuse(_ code: UInt8...) -> [[UInt8]] { [[0x60, bytes[0]] + code] }
        let done: [[UInt8]] = [[0x60, bytes[0], 0x01]]
        switch bytes[0] {
        case 0x01:
            let size = Int(number(bytes[2..<6]))
            counter = 0
            guard bytes[1] == 1 else { return createObject(of: size) ? done : refuse(isInitValid ? 0x03 : 0x08) }
            guard size <= maximumInitPacket else { return refuse(0x04) }
            current = 1
            initPacket = []
            objectEnd = size
            isInitValid = false
            firmware = []
            executed = 0
            return done
        case 0x02:
            receiptInterval = Int(bytes[1]) | Int(bytes[2]) << 8
            counter = 0
            return done
        case 0x03:
            return [[0x60, 0x03, 0x01] + reception]
        case 0x04:
            return execute() ? done : refuse(0x08)
        case 0x06:
            current = bytes[1]
            let maximum = current == 1 ? maximumInitPacket : maximumObject
            return [[0x60, 0x06, 0x01] + little(UInt32(maximum)) + reception]
        case 0x0C:
            return []
        default:
            return refuse(0x02)
        }
    }

    private mutating func createObject(of size: Int) -> Bool {
        guard isInitValid, size > 0, size <= maximumObject, executed + size <= firmwareSize,
            size == maximumObject || executed + size == firmwareSize
        else { return false }
        current = 2
        firmware = Array(firmware.prefix(executed))
        objectEnd = executed + size
        return true
    }

    private mutating func execute() -> Bool {
        guard current == 2 else {
            guard initPacket.count == objectEnd || isInitValid || initPacket == storedInitPacket else { return false }
            storedInitPacket = initPacket
            isInitValid = true
            return true
        }
        guard firmware.count == objectEnd else { return false }
        executed = objectEnd
        if executed == firmwareSize { installed = firmware }
        return true
    }

    /// The receipt for a packet, where one is due.
    mutating func heard(_ packet: [UInt8]) -> [UInt8]? {
        packets += 1
        var isTaken = !lostPackets.contains(packets)
        if isTaken {
            if current == 1 {
                isTaken = initPacket.count + packet.count <= objectEnd
                if isTaken { initPacket += packet }
            } else {
                isTaken = isInitValid && firmware.count + packet.count <= objectEnd
                if isTaken { firmware += packet }
            }
        }
        counter += 1
        guard receiptInterval > 0, counter == receiptInterval else { return nil }
        counter = 0
        guard sendsReceipts else { return nil }
        return [0x60, 0x03, 0x01] + (isTaken ? reception : [UInt8](repeating: 0, count: 8))
    }

    /// The link is gone.
    mutating func disconnected() {
        switch memory {
        case .kept: return
        case .initPacketOnly:
            executed = 0
            firmware = []
        case .executedObjects:
            firmware = Array(firmware.prefix(executed))
        }
        isInitValid = isInitValid && initPacket == storedInitPacket
        initPacket = storedInitPacket
        objectEnd = executed
        current = 1
    }

    private var reception: [UInt8] {
        let bytes = current == 1 ? initPacket : firmware
        return little(UInt32(bytes.count)) + little(CRC32.checksum(bytes))
    }
}

func little(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }

private func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) } }
