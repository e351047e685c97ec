import DFUKit
import DFUPackage

/// What of a package is to be sent, and what it has to be.
struct PackageOptions: Sendable {
    /// A part of a package.
    enum Part: String, Choice {
        case application, bootloader, softdevice
        case softdeviceBootloader = "softdevice-bootloader"

        var role: DFUPackage.Part.Role {
            switch self {
            case .application: .application
            case .bootloader: .bootloader
            case .softdevice: .softdevice
            case .softdeviceBootloader: .softdeviceBootloader
            }
        }

        static let aliases: [String: Self] = ["app": .application, "bl": .bootloader, "sd": .softdevice]
    }

    var only: Part?
    var firmwareVersion: FirmwareVersion?
    var crc: UInt32?
    var ignoresCRC = false
    /// The file of the public key.
    var keyFile: String?

    static let group = OptionGroup<PackageOptions>(
        "Package options",
        [
            .option(
                "only", \.only, .choice("part"),
                help: "Send this part alone: application, bootloader, softdevice or softdevice-bootloader (app, bl, sd "
                    + "for short)."),
            .option(
                "firmware-version", \.firmwareVersion, .firmwareVersion,
                help: "The version to announce, in place of the package's."),
            .option("crc", \.crc, .hex32, help: "The image's CRC-32, in place of the one in its name."),
            .flag("no-crc", \.ignoresCRC, help: "Do not compare the image with a stated CRC-32."),
            .planned("sha256", "hex", help: "The SHA-256 that the package must have."),
            .option("key", \.keyFile, .file(), help: "The public key (PEM) that must have signed the package."),
        ])

    func validate(_ package: String) throws(Failure) {
        if crc != nil, ignoresCRC {
            throw .usage("--crc and --no-crc exclude each other")
        }
        if package.hasPrefix("https://") || package.hasPrefix("http://") {
            throw .notYet("a package from a server")
        }
    }

    /// Puts what they say into the options of an update. The key's file is read here.
    func fill(_ options: inout UpdateOptions) throws(Failure) {
        options.only = only?.role
        options.firmwareVersion = firmwareVersion
        options.statedCRC = ignoresCRC ? .none : crc.map { .value($0) } ?? .fileName
        options.key = try keyFile.map(SignatureKey.load)
    }
}

extension SignatureKey {
    /// The key in a file that the user names.
    ///
    /// - Throws: of status input where it cannot be read, and of status package where it is no such key.
    static func load(_ path: String) throws(Failure) -> SignatureKey {
        guard let key = SignatureKey(file: try InputFile.read(path, tooLarge: .package)) else {
            var failure = Failure(
                .package, subject: path,
                "this is no key of ECDSA over P-256; give the public key in PEM, as "
                    + "'openssl ec -pubout' and 'nrfutil keys display --format pem' write it")
            failure.reason = "keyInvalid"
            throw failure
        }
        return key
    }
}

extension ValueFormat<FirmwareVersion> {
    /// The three numbers that block-ack announces.
    fileprivate static var firmwareVersion: Self {
        ValueFormat(placeholder: "x.y.z") { text throws(InvalidValue) in
            guard let version = FirmwareVersion(text), version.text == text, version.numbers.count == 3,
                version.preRelease == nil, version.build == nil, version.numbers.allSatisfy({ $0 <= 255 })
            else {
                throw .wrong("not a version of three numbers from 0 to 255, as 1.2.3")
            }
            guard version.numbers != [255, 255, 255] else {
                throw .wrong("not the version of an image: it asks devices to skip their check (--allow-downgrade)")
            }
            return version
        }
    }
}
