import DFUProtocol

/// What a bootloader has received of an update (nRF5 SDK 17: `dfu_progress_t`).
package struct SecureReception: Sendable, Hashable, Codable {
    /// The init packet so far.
    @Base64 package internal(set) var command: [UInt8] = []
    /// The bytes that the init packet is to have.
    var commandSize = 0
    /// The firmware so far.
    @Base64 package internal(set) var firmware: [UInt8] = []
    /// Its CRC-32.
    private var crc: UInt32 = 0
    /// The bytes of the firmware that are in objects that were executed, and their CRC-32.
    private(set) var executed = 0
    private var executedCRC: UInt32 = 0
    /// The bytes of the open data object; 0 where none is.
    private(set) var objectSize = 0
    /// Where the first byte lies that the flash has not got as it was sent.
    private(set) var damagedAt: Int?
    /// Where the last application began, which the CRC of no data shows: both have one place in memory.
    private var startAddress: UInt32 = 0

    init() {}

    /// What is there after an application was installed.
    static func afterInstalling(at address: UInt32) -> SecureReception {
        var reception = SecureReception()
        reception.startAddress = address
        return reception
    }

    /// What is told of the init packet.
    var commandState: SecureDFU.Reception {
        SecureDFU.Reception(offset: UInt32(command.count), crc32: CRC32.checksum(command))
    }

    /// What is told of the firmware.
    var dataState: SecureDFU.Reception {
        SecureDFU.Reception(offset: UInt32(firmware.count), crc32: firmware.isEmpty ? startAddress : crc)
    }

    /// The bytes of the open data object so far.
    var objectLength: Int { firmware.count - executed }

    /// Begins a data object behind what was executed.
    mutating func open(_ size: Int) {
        firmware.removeSubrange(executed...)
        crc = executedCRC
        objectSize = size
        startAddress = 0
        if let place = damagedAt, place >= executed { damagedAt = nil }
    }

    /// Takes a packet of the firmware.
    ///
    /// - Parameter isLast: Whether it ends the image. Flash is written in words: of another packet that is not made of
    ///   them the rest is lost.
    mutating func add(_ packet: [UInt8], isLast: Bool) {
        if damagedAt == nil, !firmware.count.isMultiple(of: 4) || (!isLast && !packet.count.isMultiple(of: 4)) {
            damagedAt = firmware.count
        }
        firmware += packet
        var sum = CRC32(continuing: crc)
        sum.update(packet)
        crc = sum.value
    }

    /// Takes the open data object over.
    mutating func execute() {
        executed = firmware.count
        executedCRC = crc
        objectSize = 0
    }

    /// What flash holds of it when only the init packet is noted.
    var withoutData: SecureReception {
        var reception = SecureReception()
        reception.command = command
        reception.commandSize = commandSize
        return reception
    }
}
