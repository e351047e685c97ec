/// Nordic Secure DFU, the bootloader protocol of nRF5 SDK 12 to 17.
///
/// The host writes requests to the control point and image bytes to the packet characteristic; the device answers by
/// notifications of the control point. Integers are little-endian (SDK 17: `nrf_dfu_req_handler.c`, `nrf_dfu_ble.c`).
public enum SecureDFU {
    /// What an object holds (SDK 17: `nrf_dfu_obj_type_t`).
    public enum ObjectType: UInt8, Sendable, Hashable {
        /// The init packet.
        case command = 0x01
        /// A piece of the firmware.
        case data = 0x02
    }

    /// What a device has received, counted from the first byte of the init packet or of the firmware.
    public struct Reception: Sendable, Hashable {
        /// How many bytes.
        public var offset: UInt32
        /// Their CRC-32, from the first to the last. Without bytes it means nothing: some devices say anything.
        public var crc32: UInt32

        /// So many bytes with this checksum.
        public init(offset: UInt32, crc32: UInt32) {
            self.offset = offset
            self.crc32 = crc32
        }
    }
}
