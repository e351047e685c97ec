internal import DFUPackage
internal import DFUProtocol
internal import DFUTransport

// What goes by Secure DFU.
extension DeviceCheck {
    func askSecure(
        _ inquiry: Inquiry, _ found: DetectedProtocol, _ parts: [SecurePart], _ forecast: inout UpdateForecast
    ) async throws(UpdateError) {
        forecast.protocolName = SecureUpdate.protocolName
        forecast.note(.protocol, "Secure DFU, as the package")
        let isBootloader = found == .secureBootloader
        forecast.note(.mode, isBootloader ? "in its bootloader" : "in its application, which stays where it is")
        if let version = forecast.version { forecast.note(.version, "it runs \(version)") }
        notePackage(&forecast)
        for (place, part) in parts.enumerated() { note(part, parts.count > 1 ? place + 1 : nil, &forecast) }
        guard isBootloader else {
            forecast.noteUnknown(.objectSize, "can be asked only in its bootloader")
            forecast.noteUnknown(.interrupted, "can be asked only in its bootloader")
            return
        }
        var question = SecureDFU.Inquiry()
        do throws(UpdateError) {
            let link = try await inquiry.openLink { services throws(TransportError) in
                try DetectedProtocol.bootloaderBindings(in: services)
            }
            let held = try await inquiry.run(&question, over: link)
            noteObjectSizes(held, parts, &forecast)
            forecast.note(.interrupted, Self.words(for: held, before: parts[0]))
        } catch {
            guard error.code == .refused else { throw error }
            forecast.noteFailure(.interrupted, error)
        }
    }

    /// What a part asks of a device.
    private func note(_ part: SecurePart, _ number: Int?, _ forecast: inout UpdateForecast) {
        let name = number.map { "part \($0), " } ?? ""
        forecast.note(.part, "\(name)\(part.part.role.words): \(part.byteCount) bytes")
        noteSignature(of: part, name, &forecast)
        forecast.noteUnknown(
            .hardware, "\(name)cannot be asked; the package wants hw_version \(part.hardwareVersion)")
        forecast.noteUnknown(.softdevice, "\(name)cannot be asked; the package wants sd_req \(part.softdevices)")
        let isStrict = part.part.role == .bootloader || part.part.role == .softdeviceBootloader
        forecast.noteUnknown(
            .firmwareVersion,
            "\(name)cannot be asked; the package has fw_version \(part.firmwareVersion), and the device has to hold "
                + (isStrict ? "a lower one" : "no higher one"))
    }

    private func noteSignature(of part: SecurePart, _ name: String, _ forecast: inout UpdateForecast) {
        let isSigned = part.packet.signature != nil
        guard let key = options.key else {
            let message =
                isSigned
                ? "signed, not verified: that takes the public key (--key)"
                : "not signed; a bootloader that has a key refuses it"
            return forecast.noteUnknown(.signature, name + message)
        }
        guard part.packet.signatureVerdict(by: key) == .verified else {
            let reason = isSigned ? "signatureInvalid" : "signatureMissing"
            let problem = package.signatureProblems(by: key).first { $0.reason == reason }
            guard let problem else { preconditionFailure("a packet that is not verified is a problem") }
            return forecast.noteFailure(.signature, UpdateError(problem))
        }
        forecast.note(.signature, "\(name)verified with the key; whether it is the device's cannot be asked")
    }

    private func noteObjectSizes(
        _ held: SecureDFU.Inquiry.Outcome, _ parts: [SecurePart], _ forecast: inout UpdateForecast
    ) {
        let (command, data) = (held.command.maximumSize, held.data.maximumSize)
        if let part = parts.first(where: { $0.packet.bytes.count > command }) {
            return forecast.noteFailure(
                .objectSize,
                UpdateError(
                    .package, phase: .check, reason: "initPacketTooLong",
                    message: "the init packet of \(part.part.fileName) has \(part.packet.bytes.count) bytes, and the "
                        + "device takes \(command); make the package again with less in it"))
        }
        guard data > 0 else {
            return forecast.noteFailure(
                .objectSize,
                UpdateError(
                    .refused, phase: .check, reason: "unexpectedAnswer",
                    message: "it says that it takes objects of 0 bytes; its bootloader may be built wrongly"))
        }
        let count = parts.reduce(0) { $0 + ($1.byteCount + data - 1) / data }
        forecast.note(
            .objectSize,
            "an init packet of \(command) bytes, firmware in objects of \(data): \(count) to be sent")
    }

    /// What becomes of what the device has of an earlier update: the first part decides.
    private static func words(for held: SecureDFU.Inquiry.Outcome, before part: SecurePart) -> String {
        let (command, data) = (held.command.reception, held.data.reception)
        let (packet, firmware) = (part.image.initPacket, part.image.firmware)
        guard command.offset > 0 || data.offset > 0 else { return "none: the device begins anew" }
        guard command.offset > 0, command.isStart(of: packet) else {
            return "of another package, which this one replaces"
        }
        guard command.offset == packet.count else {
            return "of this package: \(command.offset) of \(packet.count) bytes of the init packet are there, and it "
                + "goes on"
        }
        guard data.offset > 0 else { return "of this package: the init packet is there, and it goes on" }
        guard data.isStart(of: firmware) else {
            return "of this package, with \(data.offset) bytes of another firmware: it begins anew"
        }
        return "of this package: \(data.offset) of \(firmware.count) bytes are there, and it goes on"
    }
}

extension SecureDFU.Reception {
    /// Whether these are the first of `bytes`.
    fileprivate func isStart(of bytes: [UInt8]) -> Bool {
        offset <= bytes.count && CRC32.checksum(bytes.prefix(Int(offset))) == crc32
    }
}
