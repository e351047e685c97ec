import DFUTransport

extension BluetoothUUID {
    /// The service of Secure DFU, in bootloaders and in applications (nRF5 SDK 17: `ble_dfu.h`).
    static let secureService = BluetoothUUID(short: 0xFE59)
    /// Where a bootloader is asked.
    static let secureControlPoint = nordic("8ec90001")
    /// Where a bootloader is sent what is in objects.
    static let securePacket = nordic("8ec90002")
    /// Where an application without bonds is sent into its bootloader.
    static let secureButtonless = nordic("8ec90003")
    /// Where an application with bonds is sent into its bootloader.
    static let secureBondedButtonless = nordic("8ec90004")
    /// The experimental service of SDK 12, and its characteristic.
    static let secureExperimentalButtonless = nordic("8e400001")
    /// The service that says what a device is, and its firmware's version.
    static let deviceInformation = BluetoothUUID(short: 0x180A)
    static let firmwareRevision = BluetoothUUID(short: 0x2A26)

    private static func nordic(_ number: String) -> BluetoothUUID {
        guard let uuid = BluetoothUUID(number + "-f315-4f60-9fb8-838830daea50") else {
            preconditionFailure("the rest of a UUID of Nordic's")
        }
        return uuid
    }
}
