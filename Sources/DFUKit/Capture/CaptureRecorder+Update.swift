internal import DFUPackage
internal import DFUProtocol
internal import DFUTransport
private import FoundationEssentials

// What holds of the whole update.

extension CaptureRecorder {
    /// Writes down what is to be sent to whom, and by which rules.
    func begin(
        _ device: String, _ package: Package, by protocolName: String, profile: DeviceProfile, options: UpdateOptions
    ) {
        note(.protocol, protocolName)
        noteDevice(device)
        note(.package, package.sha256.digits, "\(package.size) bytes, SHA-256")
        let preflight = Preflight(package: package, profile: profile, options: options)
        if protocolName == BlockAckUpdate.protocolName, let image = try? preflight.blockAckImage() {
            note(.imageSize, "\(image.bytes.count)")
            note(.imageCRC, image.crc32.hexadecimal)
            note(.version, image.announcedVersion?.description ?? "any")
        }
        if let differences = profile.differences { note(.profile, differences) }
        if let limit = options.maximumPacketLength { note(.packetLimit, "\(limit)") }
        let words = options.captureWords
        if !words.isEmpty { note(.options, words.joined(separator: " ")) }
    }

    /// Writes down how the update ended.
    func end(_ result: Result<UpdateReport, UpdateError>) {
        switch result {
        case .success(let report):
            let verdict = report.verdict
            let words = ["ok", verdict.reason ?? "-", verdict.deviceState.rawValue]
            note(.result, words.joined(separator: " "), verdict.captureMeaning)
        case .failure(let error):
            let words = [error.code.rawValue, error.reason ?? "-", error.deviceState.rawValue]
            note(.result, words.joined(separator: " "), error.message)
        }
    }
}

extension UpdateReport.Verdict {
    fileprivate var captureMeaning: String {
        switch self {
        case .running(let version): "it runs \(version)"
        case .started: "its application runs again"
        case .accepted(because: let reason): "accepted: \(reason)"
        case .ranAlready(let version): "it runs \(version) already"
        }
    }
}

extension UpdateOptions {
    /// What was asked for that no other fact tells, as on the command line.
    fileprivate var captureWords: [String] {
        var words: [String] = []
        if let only { words += ["--only", only.optionWord] }
        if let receiptInterval { words += ["--prn", "\(receiptInterval)"] }
        if statedCRC == .none { words.append("--no-crc") }
        if allowDowngrade { words.append("--allow-downgrade") }
        for check in Check.allCases where skippedChecks.contains(check) { words += ["--skip-check", check.rawValue] }
        switch verification {
        case .whereItCan: break
        case .always: words.append("--verify")
        case .never: words.append("--no-verify")
        }
        return words
    }
}

extension DeviceProfile {
    /// What it differs in from the built-in band, as a profile of one line; nil where that is nothing. Its name stays out.
    fileprivate var differences: String? {
        let band = DeviceProfile.band.members
        var members = members.filter { $0.key != "name" && $0.value != band[$0.key] }
        guard !members.isEmpty else { return nil }
        members["name"] = .string("captured")
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(JSONValue.object(members)) else {
            preconditionFailure("a profile's values can all be written as JSON")
        }
        return String(decoding: data, as: UTF8.self)
    }

    private var members: [String: JSONValue] {
        guard case .object(let members) = try? JSONValue(parsing: Array(json.utf8)) else {
            preconditionFailure("a profile is written as an object")
        }
        return members
    }
}
