internal import DFUPackage
internal import DFUProtocol
internal import DFUTransport

/// What the host decides by itself, before anything is sent.
struct Preflight {
    let package: Package
    let profile: DeviceProfile
    let options: UpdateOptions

    /// Refuses a package that is at fault, whatever the protocol.
    func checkPackage() throws(UpdateError) {
        try checkContent()
        if case .value = options.statedCRC, fileName == nil {
            throw UpdateError(
                .usage, phase: .check, reason: "optionDoesNotApply",
                message: "--crc is for a .bin; \(package.fileName) carries checks of its own")
        }
        try checkSignatures()
    }

    /// Refuses a package whose content is at fault.
    func checkContent() throws(UpdateError) {
        var waived: Set<String> = []
        if options.statedCRC != .fileName { waived.insert("crcMismatch") }
        if options.skippedChecks.contains(.hash) {
            waived.formUnion(["hashMismatch", "crc16Mismatch", "digestMismatch"])
        }
        if options.skippedChecks.contains(.size) { waived.insert("sizeMismatch") }
        do throws(PackageError) {
            _ = try package.checked(skipping: waived)
            if let bare = fileName { try checkCRC(bare) }
        } catch {
            throw UpdateError(error)
        }
    }

    /// Refuses a package that is not signed as it has to be.
    private func checkSignatures() throws(UpdateError) {
        guard let key = options.key else { return }
        if let objection = package.keyObjection {
            throw UpdateError(.usage, phase: .check, reason: "optionDoesNotApply", message: objection)
        }
        if let problem = package.signatureProblems(by: key).first { throw UpdateError(problem) }
    }

    /// What is told before an update that waives checks.
    var warnings: [UpdateWarning] {
        var warnings = package.warnings.map { UpdateWarning(reason: $0.reason, message: $0.message) }
        for check in UpdateOptions.Check.allCases where options.skippedChecks.contains(check) {
            warnings.append(
                UpdateWarning(reason: "checkSkipped", message: "the check of the \(check.rawValue) is waived"))
        }
        if options.statedCRC == .none {
            warnings.append(UpdateWarning(reason: "checkSkipped", message: "the CRC-32 of the file is not checked"))
        }
        return warnings
    }

    /// The image that goes by block-ack.
    func blockAckImage() throws(UpdateError) -> BlockAck.Image {
        if options.allowDowngrade, !profile.blockAck.anyVersion {
            throw UpdateError(
                .usage, phase: .check, reason: "downgradeNotPossible",
                message: "the profile \(profile.name) does not say that its devices take any version, so "
                    + "--allow-downgrade would leave one that refuses every later update; leave it out")
        }
        if let problem = profile.blockAck.problems.first {
            throw UpdateError(
                .misconfigured, phase: .check, reason: "profileInvalid",
                message: "the profile \(profile.name): \(problem)")
        }
        do throws(PackageError) {
            let part = try blockAckPart()
            if let bare = fileName, options.statedCRC == .fileName { try bare.requireCRC() }
            let image = BlockAck.Image(bytes: part.firmware, version: try version(of: part))
            if let problem = profile.blockAck.problem(with: image) {
                throw PackageError(.unsuitable, reason: "imageUnsuitable", message: "\(part.fileName): \(problem)")
            }
            return image
        } catch {
            throw UpdateError(error)
        }
    }

    // MARK: The parts

    /// The one part that block-ack carries.
    private func blockAckPart() throws(PackageError) -> Part {
        let name = package.fileName
        if let only = options.only, only != .application {
            throw PackageError(
                .unsuitable, reason: "noSuchPart",
                message: "block-ack carries an application alone, and --only asks for a part of \(name) that is none "
                    + "(\(only.words))")
        }
        switch package.kind {
        case .binary, .intelHex, .mcuboot:
            guard let part = package.parts.first else { preconditionFailure("a sound bare file has one part") }
            return part
        case .connectSDK:
            throw PackageError(
                .unsuitable, reason: "notForBlockAck",
                message:
                    "\(name) is an nRF Connect SDK package, and block-ack carries none; use one made for the device")
        case .nordicSecure, .nordicLegacy, .nordic, .zip, .unknown:
            guard let application = package.parts.first(where: { $0.role == .application }) else {
                throw PackageError(
                    .unsuitable, reason: "noApplication",
                    message: "\(name) holds no application, and block-ack carries nothing else")
            }
            guard package.parts.count == 1 || options.only == .application else {
                let others = package.parts.filter { $0 != application }.map(\.role.rawValue).joined(separator: ", ")
                throw PackageError(
                    .unsuitable, reason: "severalParts",
                    message: "\(name) holds more than an application (\(others)), and block-ack carries nothing else; "
                        + "--only application sends that part alone")
            }
            return application
        }
    }

    /// What the name of a bare .bin says; nil for files with checks of their own.
    private var fileName: FileName? {
        switch package.kind {
        case .binary, .mcuboot:
            package.parts.first.map { FileName(package.fileName, crc32: Checksum.crc32($0.firmware)) }
        case .intelHex, .connectSDK, .nordicSecure, .nordicLegacy, .nordic, .zip, .unknown: nil
        }
    }

    /// The image's version: as asked, of the file's name, of the package's, or of MCUboot's header.
    private func version(of part: Part) throws(PackageError) -> BlockAck.Version {
        if options.allowDowngrade { return .any }
        let stated =
            options.firmwareVersion
            ?? [part.fileName, package.fileName].lazy.compactMap { FileName($0, crc32: 0).version }.first
            ?? MCUbootImage.version(of: part.firmware)
        guard let stated else {
            throw PackageError(
                .unsuitable, reason: "versionMissing",
                message: "no name in \(package.fileName) states a version; give it with --firmware-version X.Y.Z")
        }
        let bytes = try stated.bytes()
        return BlockAck.Version(bytes[0], bytes[1], bytes[2])
    }

    // MARK: The stated CRC-32

    private func checkCRC(_ name: FileName) throws(PackageError) {
        guard case .value(let value) = options.statedCRC, value != name.contentCRC else { return }
        throw PackageError(
            .mismatch, reason: "crcMismatch",
            message: "\(name.name): --crc states \(value.hexadecimal), the content has \(name.contentCRC.hexadecimal): "
                + "the file is damaged, or the value is another file's")
    }
}

extension MCUbootImage {
    fileprivate static func version(of bytes: [UInt8]) -> FirmwareVersion? {
        hasMagic(bytes) ? MCUbootImage(reading: bytes).version : nil
    }
}
