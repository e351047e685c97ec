/// What the kernel answers to a command: Command Complete or Command Status.
package struct ManagementAnswer: Sendable, Hashable {
    /// The command's number.
    package var code: UInt16
    /// The adapter's number, or FFFF.
    package var index: UInt16
    /// 0, or why not.
    package var status: UInt8
    /// What was asked for.
    package var parameters: [UInt8]

    /// Reads a datagram of the kernel's; nil where it is another event, or damaged.
    package init?(frame: [UInt8]) {
        var reader = LittleEndianReader(frame)
        guard let event = reader.word(), let index = reader.word(), let length = reader.word(),
            reader.bytesLeft == Int(length), let code = reader.word(), let status = reader.byte()
        else { return nil }
        switch event {
        case 0x0001: break
        case 0x0002: guard reader.bytesLeft == 0 else { return nil }
        default: return nil
        }
        self.code = code
        self.index = index
        self.status = status
        parameters = reader.rest()
    }

    /// Whether this is the answer to `command`.
    package func answers(_ command: ManagementCommand) -> Bool {
        code == command.code && index == command.index
    }
}

/// The version of the kernel's management of Bluetooth.
package struct ManagementVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
    package var version: UInt8
    package var revision: UInt16

    package init(version: UInt8, revision: UInt16) {
        self.version = version
        self.revision = revision
    }

    /// Reads the answer to `readVersion`.
    package init?(_ parameters: [UInt8]) {
        var reader = LittleEndianReader(parameters)
        guard let version = reader.byte(), let revision = reader.word(), reader.bytesLeft == 0 else { return nil }
        self.init(version: version, revision: revision)
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.version, left.revision) < (right.version, right.revision)
    }

    package var description: String { "\(version).\(revision)" }
}

/// What an adapter is, as far as it matters here.
package struct ControllerInformation: Sendable, Hashable {
    /// Its own address.
    package var address: BluetoothAddress

    /// Reads the answer to `readControllerInformation`: the address, and 274 bytes more.
    package init?(_ parameters: [UInt8]) {
        guard parameters.count == 280, let address = BluetoothAddress(octets: parameters.prefix(6).reversed()) else {
            return nil
        }
        self.address = address
    }
}

/// Which radios an adapter can and does use.
package struct PHYConfiguration: Sendable, Hashable {
    /// Whether it can send and receive LE 2M.
    package var supports2M: Bool
    /// Whether the kernel has it do so.
    package var selects2M: Bool

    /// LE 2M, both ways.
    private static let le2M: UInt32 = 1 << 11 | 1 << 12

    /// Reads the answer to `readPHYConfiguration`: what is supported, can be configured and is selected.
    package init?(_ parameters: [UInt8]) {
        var reader = LittleEndianReader(parameters)
        guard let supported = reader.doubleWord(), reader.doubleWord() != nil, let selected = reader.doubleWord(),
            reader.bytesLeft == 0
        else { return nil }
        supports2M = supported & Self.le2M == Self.le2M
        selects2M = selected & Self.le2M == Self.le2M
    }
}

extension ConnectionParameters {
    /// What the kernel connects a device with that it has no parameters for, where it does not tell (`hci_alloc_dev_priv`,
    /// net/bluetooth/hci_core.c).
    package static var kernelDefault: ConnectionParameters {
        guard let parameters = ConnectionParameters(units: [0x0018, 0x0028, 0, 0x002A]) else {
            preconditionFailure("these are within the limits")
        }
        return parameters
    }

    /// Reads the answer to `readDefaultSystemConfiguration`: a list of types, lengths and values, in which 0017 to 001A are
    /// the least and the most interval, the latency and the supervision timeout.
    package init?(systemConfiguration parameters: [UInt8]) {
        var reader = LittleEndianReader(parameters)
        var values: [UInt16: UInt16] = [:]
        while reader.bytesLeft > 0 {
            guard let type = reader.word(), let length = reader.byte(), let value = reader.bytes(Int(length)) else {
                return nil
            }
            if value.count == 2 { values[type] = UInt16(value[0]) | UInt16(value[1]) << 8 }
        }
        self.init(units: [0x0017, 0x0018, 0x0019, 0x001A].compactMap { values[$0] })
    }
}

/// Reads numbers from bytes, the least significant first.
private struct LittleEndianReader {
    private var left: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        left = bytes[...]
    }

    var bytesLeft: Int { left.count }

    mutating func bytes(_ count: Int) -> [UInt8]? {
        guard left.count >= count else { return nil }
        defer { left = left.dropFirst(count) }
        return Array(left.prefix(count))
    }

    mutating func rest() -> [UInt8] {
        defer { left = [] }
        return Array(left)
    }

    mutating func byte() -> UInt8? { left.popFirst() }

    mutating func word() -> UInt16? {
        bytes(2).map { UInt16($0[0]) | UInt16($0[1]) << 8 }
    }

    mutating func doubleWord() -> UInt32? {
        bytes(4).map { $0.reversed().reduce(0) { $0 << 8 | UInt32($1) } }
    }
}
