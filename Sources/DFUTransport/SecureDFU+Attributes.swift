package import DFUProtocol

extension SecureDFU {
    /// Where Secure DFU is found on a device (nRF5 SDK 17.1.0: `ble_dfu.h`, `nrf_dfu_ble.c`).
    package enum Attributes {
        /// The service of applications and bootloaders.
        package static let service = BluetoothUUID(short: 0xFE59)
        /// Takes a bootloader's requests, and answers.
        package static let controlPoint = nordic(0x0001)
        /// Takes the init packet and the firmware.
        package static let packet = nordic(0x0002)
        /// Sends an application into its bootloader, which knows nothing of bonds.
        package static let buttonless = nordic(0x0003)
        /// Sends an application into its bootloader, which shares its bonds.
        package static let bondedButtonless = nordic(0x0004)
        /// Service and characteristic of SDK 12, which did so by way of trial (SDK 12.3.0: `ble_dfu.h`).
        package static let experimental = uuid("8e400001-f315-4f60-9fb8-838830daea50")
        /// The service of Legacy DFU's applications and bootloaders (SDK 11.0.0: `ble_dfu.h`).
        package static let legacyService = uuid("00001530-1212-efde-1523-785feabcd123")
        /// What bootloaders advertise.
        package static let loaderServices: Set<BluetoothUUID> = [service, legacyService]

        private static func nordic(_ number: UInt16) -> BluetoothUUID {
            uuid("8ec9\(number.hexadecimal)-f315-4f60-9fb8-838830daea50")
        }

        private static func uuid(_ text: String) -> BluetoothUUID {
            guard let uuid = BluetoothUUID(text) else { preconditionFailure("\(text) is no UUID") }
            return uuid
        }
    }
}
