extension SecureInitPacket {
    /// What comparing a packet with a key gave.
    public enum SignatureVerdict: String, Sendable, Hashable, Codable {
        /// The key's owner has signed it.
        case verified
        /// It has a signature, and not one of the key's owner.
        case invalid
        /// It is not signed.
        case missing
    }

    /// Whether the owner of `key` has signed this packet.
    public func signatureVerdict(by key: SignatureKey) -> SignatureVerdict {
        guard let signature else { return .missing }
        let isSigned =
            signature.type == .ecdsaP256SHA256 && key.verifies(signature.bytes, of: bytes[signedRange])
        return isSigned ? .verified : .invalid
    }
}

extension Package {
    /// What whoever gives a key for this file is told, where it is of a kind whose signatures a key is not for.
    public var keyObjection: String? {
        guard kind != .nordicSecure else { return nil }
        return
            "--key is for a package of Secure DFU, whose init packets are signed, and \(fileName) is none; leave it out"
    }

    /// What the owner of `key` has not signed, in the order of sending: `.mismatch` with the reason `signatureInvalid`,
    /// `.missing` with `signatureMissing`.
    public func signatureProblems(by key: SignatureKey) -> [PackageError] {
        parts.compactMap { part in
            guard case .secure(let packet) = part.initPacket else {
                return PackageError(
                    .missing, reason: "signatureMissing",
                    message: "\(part.fileName) has no init packet, so nobody has signed it; make the package again")
            }
            let file = part.initPacketFileName ?? "the init packet"
            switch packet.signatureVerdict(by: key) {
            case .verified: return nil
            case .missing:
                return PackageError(
                    .missing, reason: "signatureMissing",
                    message: "\(file), the init packet of \(part.fileName), is not signed; use the package that the "
                        + "key's owner has signed")
            case .invalid:
                return PackageError(
                    .mismatch, reason: "signatureInvalid",
                    message: "the signature in \(file), the init packet of \(part.fileName), is not this key's: it was "
                        + "made with another key, or the init packet was changed afterwards")
            }
        }
    }
}
