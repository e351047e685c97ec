/// A package for Secure DFU that a key's owner has signed.
package enum SignedFirmware {
    /// The public half of a throw-away key, made with `openssl ecparam -name prime256v1 -genkey`.
    package static let key = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEmZV2hsl62mK44AkyD3UzMn6B0tHm
        9I2q0QCrT9RhcoY7YEQxPMV+pI8I13ZLdRAyV9vVjsBDDI5mxmCUT+NhZw==
        -----END PUBLIC KEY-----
        """
    /// That of somebody else.
    package static let otherKey = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAENNhJa+6EmV60wE/k9vzeaKgOF7L0
        PP720fTROfaj9YlAfsE/vVwnt3fdu5ovTOU3Brf34SsnLtsOVzLLv3NKeg==
        -----END PUBLIC KEY-----
        """

    /// The application.
    package static let image = SampleFirmware.bytes(6000)

    /// `openssl dgst -sha256 -sign` of the image's InitCommand, as R then S, each little-endian.
    private static let signature: [UInt8] =
        ([
            0x449a_df23_5b4a_8b8c, 0x96f0_1437_c159_136a, 0x44d4_0352_b022_54ae, 0x3a85_ab53_cf58_5237,
            0xf704_ae18_be12_3980, 0x6698_c020_e48b_6dab, 0x9a48_7605_787e_7cf6, 0x4be2_0ef2_3710_2e08,
        ] as [UInt64])
        .flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }

    /// How it is signed.
    package enum Signing: Sendable {
        case asItIs, altered, not
    }

    /// A zip with the application: version 1, hardware 52, SoftDevice 0x0100.
    package static func zip(_ signing: Signing = .asItIs) -> [UInt8] {
        var secure = SampleFirmware.Secure()
        switch signing {
        case .asItIs: secure.signature = signature
        case .altered: secure.signature = Array(signature.dropLast()) + [0x09]
        case .not: secure.signature = nil
        }
        let manifest =
            #"{"manifest": {"application": {"bin_file": "application.bin", "dat_file": "application.dat"}}}"#
        return ZipMaker.zip([
            ZipMaker.Entry("manifest.json", manifest), ZipMaker.Entry("application.bin", image),
            ZipMaker.Entry("application.dat", secure.packet(for: image)),
        ])
    }
}
