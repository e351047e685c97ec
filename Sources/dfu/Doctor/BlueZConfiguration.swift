/// BlueZ's `main.conf`, as BlueZ and GLib's GKeyFile read it, for what matters to updates.
struct BlueZConfiguration: Sendable, Equatable {
    /// A setting that matters to updates.
    enum Setting: String, CaseIterable, Sendable {
        case controllerMode = "ControllerMode"
        case justWorksRepairing = "JustWorksRepairing"
        case minConnectionInterval = "MinConnectionInterval"
        case maxConnectionInterval = "MaxConnectionInterval"
        case supervisionTimeout = "ConnectionSupervisionTimeout"
        case cache = "Cache"
        case client = "Client"
        case autoEnable = "AutoEnable"
    }

    /// A value as it stands in the file.
    struct Entry: Sendable, Equatable {
        var section: String
        var value: String
        /// The line, from 1 on.
        var line: Int
    }

    /// The line that is neither a section, nor a setting, nor a comment. Where there is one, BlueZ ignores the whole file.
    private(set) var fault: Int?
    /// The settings, each with all its places; the last one in a section counts.
    private(set) var entries: [Setting: [Entry]] = [:]

    /// Reads the file's bytes.
    init(_ bytes: [UInt8]) {
        var section: String?
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            var text = String(decoding: line.drop { $0.isBlank }, as: UTF8.self)
            if text.unicodeScalars.last == "\r" { text.unicodeScalars.removeLast() }
            guard !text.isEmpty, !text.hasPrefix("#") else { continue }
            if let name = Self.sectionName(text) {
                section = name
            } else if let section, let (key, value) = Self.assignment(text) {
                guard let setting = Setting(rawValue: key) else { continue }
                entries[setting, default: []].append(Entry(section: section, value: value, line: index + 1))
            } else {
                fault = index + 1
                entries = [:]
                return
            }
        }
    }

    private static func sectionName(_ line: String) -> String? {
        let text = line.droppingBlanksAtEnd
        guard text.hasPrefix("["), text.hasSuffix("]"), text.count > 2 else { return nil }
        return String(text.dropFirst().dropLast())
    }

    /// GKeyFile keeps blanks behind a value.
    private static func assignment(_ line: String) -> (key: String, value: String)? {
        let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else { return nil }
        return (String(parts[0]).droppingBlanksAtEnd, String(parts[1].drop { $0 == " " || $0 == "\t" }))
    }

    // MARK: What it sets

    /// What BlueZ takes of a setting; nil where it does not take it, or there is nothing to take.
    func word(_ setting: Setting) -> String? {
        guard let entry = effective(setting), setting.form.admits(entry.value) else { return nil }
        return entry.value
    }

    /// The number that BlueZ takes of a setting.
    func number(_ setting: Setting) -> Int? { word(setting).flatMap(Int.init(parsingC:)) }

    /// What BlueZ takes of a switch.
    func flag(_ setting: Setting) -> Bool? {
        word(setting).map { $0.droppingBlanksAtEnd == "true" || $0.droppingBlanksAtEnd == "1" }
    }

    /// A setting where BlueZ looks for it.
    private func effective(_ setting: Setting) -> Entry? {
        entries[setting]?.last { $0.section == setting.section }
    }

    /// What it sets, in the words of the file.
    var summary: [String] {
        Setting.allCases.compactMap { setting in
            word(setting).map { "\(setting.rawValue)=\($0.droppingBlanksAtEnd)" }
        }
    }

    /// What BlueZ ignores, and why: a sentence for each.
    var ignored: [String] {
        Setting.allCases.flatMap { setting in
            var sentences: [String] = []
            if let entry = effective(setting), !setting.form.admits(entry.value) {
                sentences.append(
                    "line \(entry.line): \(setting.rawValue) is “\(entry.value)”, and not \(setting.form.words)")
            }
            if effective(setting) == nil, let entry = entries[setting]?.last {
                sentences.append(
                    "line \(entry.line): \(setting.rawValue) stands in [\(entry.section)], and belongs to "
                        + "[\(setting.section)]")
            }
            return sentences
        }
    }
}

extension BlueZConfiguration.Setting {
    /// What its value is to be.
    enum Form: Sendable {
        case word([String])
        case flag
        case number(ClosedRange<Int>)
    }

    /// Where it belongs (BlueZ 5.56; `supported_options` and its neighbours in src/main.c).
    var section: String {
        switch self {
        case .controllerMode, .justWorksRepairing: "General"
        case .minConnectionInterval, .maxConnectionInterval, .supervisionTimeout: "LE"
        case .cache, .client: "GATT"
        case .autoEnable: "Policy"
        }
    }

    /// What BlueZ takes (the parsers in src/main.c).
    var form: Form {
        switch self {
        case .controllerMode: .word(["dual", "bredr", "le"])
        case .justWorksRepairing: .word(["never", "confirm", "always"])
        case .cache: .word(["always", "yes", "no"])
        case .minConnectionInterval, .maxConnectionInterval: .number(0x0006...0x0C80)
        case .supervisionTimeout: .number(0x000A...0x0C80)
        case .client, .autoEnable: .flag
        }
    }
}

extension BlueZConfiguration.Setting.Form {
    /// Whether BlueZ takes such a value.
    func admits(_ value: String) -> Bool {
        switch self {
        case .word(let words): words.contains(value)
        case .flag: ["true", "false", "1", "0"].contains(value.droppingBlanksAtEnd)
        case .number(let range): Int(parsingC: value).map(range.contains) ?? false
        }
    }

    /// What it is to be, in words.
    var words: String {
        switch self {
        case .word(let words): words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
        case .flag: "true or false"
        case .number(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
        }
    }
}

extension Int {
    /// A number as C's `strtol` takes it with the base 0: decimal, or hexadecimal behind `0x`, or octal behind `0`.
    fileprivate init?(parsingC text: String) {
        guard text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") }) else { return nil }
        let digits = text.lowercased()
        if digits.hasPrefix("0x") {
            self.init(digits.dropFirst(2), radix: 16)
        } else if digits.hasPrefix("0"), digits.count > 1 {
            self.init(digits.dropFirst(), radix: 8)
        } else {
            self.init(digits)
        }
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}

extension String {
    fileprivate var droppingBlanksAtEnd: String {
        String(prefix(count - reversed().prefix { $0 == " " || $0 == "\t" }.count))
    }
}
