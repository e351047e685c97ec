@preconcurrency private import CGnuTLS

/// The public key by which a bootloader verifies what is signed: ECDSA over P-256 with SHA-256 (nRF5 SDK 17,
/// `nrf_dfu_validation.c`).
public struct SignatureKey: Sendable, Hashable {
    /// The key as a device has it: X then Y, 32 bytes each, little-endian.
    public let bytes: [UInt8]

    /// The bytes of one coordinate, and of each half of a signature.
    private static let width = 32

    /// The key in 64 bytes, as a device has it; nil where they are no point of the curve.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == 2 * Self.width, PublicKey(x: Self.half(0, of: bytes), y: Self.half(1, of: bytes)) != nil
        else { return nil }
        self.bytes = bytes
    }

    /// The key in a file: in PEM, or in the 64 bytes that a device has; nil where it is neither.
    public init?(file content: [UInt8]) {
        guard let key = SignatureKey(pem: content) ?? SignatureKey(content) else { return nil }
        self = key
    }

    /// The key in a PEM file: a public one, or a private one, of which the public half is taken; nil where it is none of
    /// P-256.
    public init?(pem text: [UInt8]) {
        guard let point = PublicKey(pem: text)?.point else { return nil }
        bytes = point.x.reversed() + point.y.reversed()
    }

    /// Whether this key's owner has signed `message`.
    ///
    /// - Parameter signature: R then S, 32 bytes each, little-endian, as in init packets.
    public func verifies(_ signature: [UInt8], of message: some Collection<UInt8>) -> Bool {
        guard signature.count == 2 * Self.width,
            let key = PublicKey(x: Self.half(0, of: bytes), y: Self.half(1, of: bytes))
        else { return false }
        return key.verifies(
            r: Self.half(0, of: signature), s: Self.half(1, of: signature), of: Array(message))
    }

    /// One of two numbers, with its bytes in the order of X9.62: the highest first.
    private static func half(_ index: Int, of bytes: [UInt8]) -> [UInt8] {
        bytes[index * width..<(index + 1) * width].reversed()
    }
}

/// The owner of a key of GnuTLS.
private final class PublicKey {
    private let handle: gnutls_pubkey_t

    private init() {
        var handle: gnutls_pubkey_t?
        guard gnutls_pubkey_init(&handle) == GNUTLS_E_SUCCESS, let handle else {
            preconditionFailure("GnuTLS has no memory for a key")
        }
        self.handle = handle
    }

    deinit {
        gnutls_pubkey_deinit(handle)
    }

    /// The key with these coordinates; nil where they are no point of the curve.
    convenience init?(x: [UInt8], y: [UInt8]) {
        self.init()
        let isPoint = withDatum(x) { x in
            withDatum(y) { y in
                gnutls_pubkey_import_ecc_raw(handle, GNUTLS_ECC_CURVE_SECP256R1, x, y) == GNUTLS_E_SUCCESS
            }
        }
        // The import looks at the coordinates alone; the curve has to be asked for.
        guard isPoint, gnutls_pubkey_verify_params(handle) == GNUTLS_E_SUCCESS else { return nil }
    }

    /// The key in a PEM text; nil where there is none.
    convenience init?(pem: [UInt8]) {
        self.init()
        let isRead = withDatum(pem) { pem in
            if gnutls_pubkey_import(handle, pem, GNUTLS_X509_FMT_PEM) == GNUTLS_E_SUCCESS { return true }
            var secret: gnutls_privkey_t?
            guard gnutls_privkey_init(&secret) == GNUTLS_E_SUCCESS, let secret else { return false }
            defer { gnutls_privkey_deinit(secret) }
            return gnutls_privkey_import_x509_raw(secret, pem, GNUTLS_X509_FMT_PEM, nil, 0) == GNUTLS_E_SUCCESS
                && gnutls_pubkey_import_privkey(handle, secret, 0, 0) == GNUTLS_E_SUCCESS
        }
        guard isRead else { return nil }
    }

    /// The coordinates, 32 bytes each, the highest first; nil where the key is of another curve.
    var point: (x: [UInt8], y: [UInt8])? {
        var curve = gnutls_ecc_curve_t(0)
        var x = gnutls_datum_t()
        var y = gnutls_datum_t()
        guard
            gnutls_pubkey_export_ecc_raw2(handle, &curve, &x, &y, UInt32(GNUTLS_EXPORT_FLAG_NO_LZ.rawValue))
                == GNUTLS_E_SUCCESS
        else { return nil }
        defer {
            gnutls_free?(x.data)
            gnutls_free?(y.data)
        }
        guard curve == GNUTLS_ECC_CURVE_SECP256R1 else { return nil }
        return (Self.padded(x), Self.padded(y))
    }

    func verifies(r: [UInt8], s: [UInt8], of message: [UInt8]) -> Bool {
        var signature = gnutls_datum_t()
        let isEncoded = withDatum(r) { r in
            withDatum(s) { s in gnutls_encode_rs_value(&signature, r, s) == GNUTLS_E_SUCCESS }
        }
        guard isEncoded else { return false }
        defer { gnutls_free?(signature.data) }
        return withDatum(message) { message in
            gnutls_pubkey_verify_data2(handle, GNUTLS_SIGN_ECDSA_SECP256R1_SHA256, 0, message, &signature) >= 0
        }
    }

    private static func padded(_ number: gnutls_datum_t) -> [UInt8] {
        let bytes = Array(UnsafeBufferPointer(start: number.data, count: Int(number.size)))
        return [UInt8](repeating: 0, count: max(0, 32 - bytes.count)) + bytes
    }
}

private func withDatum<Result>(_ bytes: [UInt8], _ body: (UnsafePointer<gnutls_datum_t>) -> Result) -> Result {
    var bytes = bytes
    return bytes.withUnsafeMutableBufferPointer { buffer in
        var datum = gnutls_datum_t(data: buffer.baseAddress, size: UInt32(buffer.count))
        return body(&datum)
    }
}
