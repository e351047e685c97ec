import FoundationEssentials
private import Glibc

/// One setting of a configuration file: the default of an option.
struct ConfigurationDefault: Sendable, Equatable {
    /// The option's name, without dashes.
    var option: String
    /// Its value as it would stand on a command line; for a flag, the spelling that is meant.
    var text: String
    /// The file that it comes from.
    var file: String

    /// Hands the text to an option, and blames the file where it does not fit.
    func assign(_ body: (String) throws(InvalidValue) -> Void) throws(Failure) {
        do {
            try body(text)
        } catch {
            throw Failure(.config, subject: file, error.sentence(about: text, given: "\"\(option)\""))
        }
    }
}

/// A file of defaults: a JSON object whose keys are the long names of options.
enum ConfigurationFile {
    /// What nobody should get without asking for it each time.
    private static let forbidden: Set = [
        "allow-downgrade", "device", "forget-bond", "no-crc", "no-verify", "skip-check",
    ]

    /// The defaults of this machine and this user; of two for one option the later one counts.
    static func defaults(
        environment: [String: String], options: [OptionDescription]
    ) throws(Failure) -> [ConfigurationDefault] {
        var defaults: [ConfigurationDefault] = []
        for path in paths(environment: environment) where access(path, F_OK) == 0 {
            defaults += try read(InputFile.read(path), path: path, options: options)
        }
        return defaults
    }

    private static func paths(environment: [String: String]) -> [String] {
        let home = environment["HOME"].map { $0 + "/.config" }
        // A relative path is to be ignored (XDG Base Directory Specification 0.8).
        let user = [environment["XDG_CONFIG_HOME"], home].compactMap(\.self).first { $0.hasPrefix("/") }
        return (["/etc"] + [user].compactMap(\.self)).map { $0 + "/dfu/config.json" }
    }

    /// Reads one file's text. `options` are those of all verbs.
    static func read(
        _ bytes: [UInt8], path: String, options: [OptionDescription]
    ) throws(Failure) -> [ConfigurationDefault] {
        let settings: [String: Setting]
        do {
            settings = try JSONDecoder().decode([String: Setting].self, from: Data(bytes))
        } catch {
            throw Failure(.config, subject: path, "not a JSON object of options and their values")
        }
        var defaults: [ConfigurationDefault] = []
        for (key, setting) in settings.sorted(by: { $0.key < $1.key }) {
            guard let text = try text(of: setting, for: key, path: path, options: options) else { continue }
            defaults.append(ConfigurationDefault(option: key, text: text, file: path))
        }
        return defaults
    }

    /// The setting as it would stand on a command line; nil for a flag that is off.
    private static func text(
        of setting: Setting, for key: String, path: String, options: [OptionDescription]
    ) throws(Failure) -> String? {
        guard !forbidden.contains(key) else {
            throw Failure(.config, subject: path, "\"\(key)\" may not be a default; give --\(key) where it is meant")
        }
        guard let option = options.first(where: { $0.name == key }) else {
            let nearest = Spelling.nearest(to: key, among: options.map(\.name))
            throw Failure(
                .config, subject: path,
                "\"\(key)\" is no option" + (nearest.map { "; did you mean \"\($0)\"?" } ?? "; take it out"))
        }
        guard option.isAvailable else {
            throw Failure(.config, subject: path, "\"\(key)\" is not in this version yet")
        }
        switch (setting, option.placeholder) {
        case (.text(let text), .some): return text
        case (.flag(true), nil): return "--\(key)"
        case (.flag(false), nil):
            guard option.spellings.contains("--no-\(key)") else { return nil }
            throw Failure(.config, subject: path, "\"\(key)\": false may not be a default; give --no-\(key)")
        case (_, .some): throw Failure(.config, subject: path, "\"\(key)\" needs a text or a number")
        case (_, nil): throw Failure(.config, subject: path, "\"\(key)\" needs true or false")
        }
    }

    private enum Setting: Decodable {
        case flag(Bool)
        case text(String)
        case other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let flag = try? container.decode(Bool.self) {
                self = .flag(flag)
            } else if let text = try? container.decode(String.self) {
                self = .text(text)
            } else if let number = try? container.decode(Int.self) {
                self = .text(String(number))
            } else if let number = try? container.decode(Double.self) {
                self = .text(String(number))
            } else {
                self = .other
            }
        }
    }
}
