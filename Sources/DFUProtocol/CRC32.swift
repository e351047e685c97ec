private import CZlib

/// The CRC-32 of zlib, PNG and Ethernet: reflected polynomial 0xEDB88320, initial value and final XOR all ones.
///
/// The check value of `"123456789"` is `CBF43926`.
public struct CRC32: Sendable {
    /// The checksum of all bytes so far.
    public private(set) var value: UInt32

    /// The checksum of nothing, or of what an earlier one covered.
    public init(continuing value: UInt32 = 0) {
        self.value = value
    }

    /// Adds bytes behind those so far.
    public mutating func update(_ bytes: some Sequence<UInt8>) {
        let done: Void? = bytes.withContiguousStorageIfAvailable { add($0) }
        if done == nil {
            Array(bytes).withUnsafeBufferPointer { add($0) }
        }
    }

    private mutating func add(_ buffer: UnsafeBufferPointer<UInt8>) {
        // zlib takes a null pointer, which an empty buffer may have, as "start again".
        guard !buffer.isEmpty else { return }
        value = UInt32(truncatingIfNeeded: crc32_z(UInt(value), buffer.baseAddress, buffer.count))
    }

    /// The checksum of `bytes`.
    public static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var crc = CRC32()
        crc.update(bytes)
        return crc.value
    }
}
