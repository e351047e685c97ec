private import CGnuTLS
private import CZlib

/// The checksums and digests that packages carry.
public enum Checksum {
    /// The CRC-32 of zlib: `"123456789"` gives `CBF43926`.
    public static func crc32(_ bytes: some Collection<UInt8>) -> UInt32 {
        withBuffer(bytes) { buffer in
            // zlib takes a null pointer, which an empty buffer may have, as "give me the initial value", which is 0 too.
            UInt32(truncatingIfNeeded: CZlib.crc32_z(0, buffer.baseAddress, buffer.count))
        }
    }

    /// The CRC-16 of legacy init packets, CCITT-FALSE: `"123456789"` gives `29B1` (nRF5 SDK, crc16.c).
    public static func crc16(_ bytes: some Collection<UInt8>) -> UInt16 {
        var crc: UInt16 = 0xFFFF
        for byte in bytes {
            crc = crc << 8 | crc >> 8
            crc ^= UInt16(byte)
            crc ^= (crc & 0xFF) >> 4
            crc ^= crc << 12
            crc ^= (crc & 0xFF) << 5
        }
        return crc
    }

    /// A SHA-2 digest.
    public enum Digest: String, Sendable, Hashable, Codable, CaseIterable {
        case sha256, sha384, sha512
    }

    /// The digest of `bytes`: 32, 48 or 64 bytes.
    public static func digest(_ kind: Digest, _ bytes: some Collection<UInt8>) -> [UInt8] {
        let algorithm: gnutls_digest_algorithm_t
        switch kind {
        case .sha256: algorithm = GNUTLS_DIG_SHA256
        case .sha384: algorithm = GNUTLS_DIG_SHA384
        case .sha512: algorithm = GNUTLS_DIG_SHA512
        }
        var digest = [UInt8](repeating: 0, count: Int(gnutls_hash_get_len(algorithm)))
        let result = withBuffer(bytes) { buffer in
            gnutls_hash_fast(algorithm, buffer.baseAddress, buffer.count, &digest)
        }
        precondition(result == GNUTLS_E_SUCCESS, "gnutls_hash_fast failed with \(result)")
        return digest
    }

    private static func withBuffer<Result>(
        _ bytes: some Collection<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        bytes.withContiguousStorageIfAvailable(body) ?? Array(bytes).withUnsafeBufferPointer(body)
    }
}
