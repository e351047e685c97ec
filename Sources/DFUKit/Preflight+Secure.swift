internal import DFUPackage
internal import DFUProtocol

// What goes by Secure DFU.
extension Preflight {
    /// The parts to be sent, in their order.
    func secureParts() throws(UpdateError) -> [SecurePart] {
        if options.allowDowngrade || options.firmwareVersion != nil {
            let option = options.allowDowngrade ? "--allow-downgrade" : "--firmware-version"
            throw UpdateError(
                .usage, phase: .check, reason: "optionDoesNotApply",
                message: "\(option) is for block-ack; by Secure DFU the init packet of \(package.fileName) states the "
                    + "version, and the bootloader decides")
        }
        do throws(PackageError) {
            guard package.kind == .nordicSecure else {
                throw PackageError(
                    .unsuitable, reason: "notForSecure",
                    message:
                        "\(package.fileName) is \(package.kind.words), and Secure DFU carries a .zip with init packets "
                        + "alone; use the one made for the device (nrfutil pkg generate)")
            }
            var parts: [SecurePart] = []
            for part in try chosenParts() {
                guard case .secure(let packet) = part.initPacket, !part.firmware.isEmpty else {
                    throw PackageError(
                        .missing, reason: "noInitPacket",
                        message: "\(part.fileName) has no init packet, without which no secure bootloader takes it; "
                            + "make the package again")
                }
                parts.append(SecurePart(part, packet))
            }
            return parts
        } catch {
            throw UpdateError(error)
        }
    }

    /// The parts that were asked for.
    func chosenParts() throws(PackageError) -> [Part] {
        guard let only = options.only else { return package.parts }
        let chosen = package.parts.filter { $0.role == only }
        guard chosen.isEmpty else { return chosen }
        throw PackageError(
            .unsuitable, reason: "noSuchPart",
            message: "\(package.fileName): the package has no \(only.words) part; it has: "
                + package.parts.map(\.role.words).joined(separator: ", "))
    }
}

extension Package.Kind {
    /// What people call it, with its article.
    fileprivate var words: String {
        switch self {
        case .nordicSecure: "a package for Secure DFU"
        case .nordicLegacy: "a package for Legacy DFU"
        case .nordic: "a package without init packets"
        case .connectSDK: "an nRF Connect SDK package"
        case .zip: "a zip without a manifest"
        case .mcuboot: "a bare MCUboot image"
        case .intelHex: "an Intel HEX file"
        case .binary: "a bare image"
        case .unknown: "no package"
        }
    }
}
