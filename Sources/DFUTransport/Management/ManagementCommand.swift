/// A command to the kernel's management of Bluetooth (`doc/mgmt-protocol.rst` in BlueZ's sources;
/// `include/net/bluetooth/mgmt.h` in Linux's).
package enum ManagementCommand: Sendable, Hashable {
    /// Which version of the interface the kernel has.
    case readVersion
    /// What the adapter is.
    case readControllerInformation(adapter: UInt16)
    /// Has these parameters used when the devices are connected next. Needs CAP_NET_ADMIN.
    case loadConnectionParameters([DeviceConnectionParameters], adapter: UInt16)
    /// Which PHYs the adapter can and does use. Needs CAP_NET_ADMIN.
    case readPHYConfiguration(adapter: UInt16)
    /// The kernel's defaults for the adapter. Since Linux 5.8.
    case readDefaultSystemConfiguration(adapter: UInt16)

    /// The command's number.
    package var code: UInt16 {
        switch self {
        case .readVersion: 0x0001
        case .readControllerInformation: 0x0004
        case .loadConnectionParameters: 0x0035
        case .readPHYConfiguration: 0x0044
        case .readDefaultSystemConfiguration: 0x004B
        }
    }

    /// The adapter's number, or what stands for none.
    package var index: UInt16 {
        switch self {
        case .readVersion: 0xFFFF
        case .readControllerInformation(let adapter), .loadConnectionParameters(_, let adapter),
            .readPHYConfiguration(let adapter), .readDefaultSystemConfiguration(let adapter):
            adapter
        }
    }

    /// The command as the kernel reads it: its number, the adapter's and the length of what follows, all little-endian.
    package var frame: [UInt8] {
        var parameters: [UInt8] = []
        if case .loadConnectionParameters(let entries, _) = self {
            parameters += UInt16(entries.count).littleEndianBytes
            for entry in entries { parameters += entry.bytes }
        }
        return [code, index, UInt16(parameters.count)].flatMap(\.littleEndianBytes) + parameters
    }
}

/// The parameters that a device is to be connected with.
package struct DeviceConnectionParameters: Sendable, Hashable {
    /// Which kind of address it is, with the kernel's numbers.
    package enum AddressType: UInt8, Sendable, Hashable {
        case lePublic = 1
        case leRandom = 2
    }

    package var address: BluetoothAddress
    package var addressType: AddressType
    package var parameters: ConnectionParameters

    package init(address: BluetoothAddress, addressType: AddressType, parameters: ConnectionParameters) {
        self.address = address
        self.addressType = addressType
        self.parameters = parameters
    }

    /// 15 bytes, the address's last octet first.
    fileprivate var bytes: [UInt8] {
        address.octets.reversed() + [addressType.rawValue] + parameters.units.flatMap(\.littleEndianBytes)
    }

    /// So many fit a command: its length is a number of 16 bits.
    package static let mostInCommand = (Int(UInt16.max) - 2) / 15
}

extension UInt16 {
    fileprivate var littleEndianBytes: [UInt8] { [UInt8(truncatingIfNeeded: self), UInt8(self >> 8)] }
}
