/// One thing that `dfu doctor` has looked at.
struct Finding: Sendable, Equatable {
    /// How much it matters.
    enum Level: String, Sendable, Encodable, CaseIterable {
        /// As it should be.
        case ok
        /// Updates are possible; it can be better.
        case note
        /// Updates are possible, and may fail by it.
        case warning
        /// No update can begin.
        case problem
    }

    /// What it is, in a stable word (docs/json.md).
    enum ID: String, Sendable, Encodable, CaseIterable {
        case busReachable, busOther, busMissing, busDenied
        case serviceRunning, serviceOther, serviceStopped, serviceFails, accessDenied
        case version, versionOld, versionUnknown
        case adapterOn, adapterMissing, adapterUnknown, adapterOff, adapterBlocked, adapterClassic, adapterScanning
        case adapterSuspended
        case deviceConnected, deviceHeld
        case configuration, configurationUnreadable, configurationBroken, settingIgnored
        case classicOnly, clientOff, cache, autoEnableOff
        case connectionInterval, supervisionTimeout, rights, kernel
    }

    /// What helps.
    struct Cure: Sendable, Equatable {
        /// One sentence, with a colon at its end where `lines` follow.
        var text: String
        /// What can be copied: commands, options of one, or settings of the file that the sentence names.
        var lines: [String]

        init(_ text: String, _ lines: [String] = []) {
            self.text = text
            self.lines = lines
        }
    }

    var id: ID
    var level: Level
    /// The adapter, device, bus or file that it is about.
    var about: String?
    /// What was found: a clause without a capital and without a full stop.
    var message: String
    /// What that means for updates: one sentence. Nil where it is as it should be.
    var meaning: String?
    /// What to do. Nil where it is as it should be.
    var cure: Cure?

    /// Something that is as it should be.
    static func ok(_ id: ID, about: String? = nil, _ message: String) -> Finding {
        Finding(id: id, level: .ok, about: about, message: message)
    }

    /// Something that is not.
    init(_ id: ID, _ level: Level, about: String? = nil, _ message: String, meaning: String, cure: Cure) {
        self.init(id: id, level: level, about: about, message: message, meaning: meaning, cure: cure)
    }

    private init(
        id: ID, level: Level, about: String?, message: String, meaning: String? = nil, cure: Cure? = nil
    ) {
        self.id = id
        self.level = level
        self.about = about
        self.message = message
        self.meaning = meaning
        self.cure = cure
    }

    /// What a command ends with that this stands in the way of.
    var status: ExitStatus {
        guard level == .problem else { return .ok }
        return id == .busDenied || id == .accessDenied ? .permission : .environment
    }

    /// The clause and its cure, on one line.
    var line: String {
        guard let cure, let first = cure.text.first else { return message }
        let sentence = message + "; " + first.lowercased() + cure.text.dropFirst()
        return cure.lines.isEmpty ? sentence : sentence + " " + cure.lines.joined(separator: "; ")
    }
}

extension Finding: Encodable {
    private enum Key: String, CodingKey { case id, level, about, message, meaning, cure, lines }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(id, forKey: .id)
        try container.encode(level, forKey: .level)
        try container.encodeIfPresent(about, forKey: .about)
        try container.encode(message, forKey: .message)
        try container.encodeIfPresent(meaning, forKey: .meaning)
        try container.encodeIfPresent(cure?.text, forKey: .cure)
        if let lines = cure?.lines, !lines.isEmpty { try container.encode(lines, forKey: .lines) }
    }
}
