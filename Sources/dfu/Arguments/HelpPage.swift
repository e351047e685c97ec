/// The text of `--help`, in the layout of swift-argument-parser.
struct HelpPage {
    /// The verbs that lead to the page's own, `dfu` first.
    var path: [Verb]
    /// Columns that a line may have.
    var width = 80

    private var verb: Verb { path[path.count - 1] }
    private var name: String { path.map(\.name).joined(separator: " ") }

    /// The page, without a line break at its end.
    var text: String {
        let options = verb.grammar.groups + [GrammarDescription.Group(title: "Help", options: commonOptions)]
        let sections = [overview, usage, discussion, examples, arguments] + verb.groups.map(table) + options.map(table)
        return (sections + [statuses, footnotes]).compactMap(\.self).joined(separator: "\n\n")
    }

    private var overview: String {
        wrap("OVERVIEW: " + verb.abstract + (verb.isAvailable ? "" : " Not in this version yet."))
    }

    private var usage: String {
        var words = [name]
        if !verb.verbs.isEmpty {
            words.append("<subcommand>")
        }
        words += verb.grammar.arguments.map(\.usage)
        words += verb.grammar.options.filter(\.isRequired).map { $0.label + ($0.isRepeatable ? " ..." : "") }
        if verb.grammar.options.contains(where: { !$0.isRequired }) {
            words.append("[<options>]")
        }
        return wrap("USAGE: " + words.joined(separator: " "), indent: 4)
    }

    private var discussion: String? {
        guard !verb.discussion.isEmpty else { return nil }
        return verb.discussion.map { $0.hasPrefix(" ") ? $0 : wrap($0) }.joined(separator: "\n\n")
    }

    private var examples: String? {
        guard !verb.examples.isEmpty else { return nil }
        let examples = verb.examples.map { "  $ \($0.line)\n" + wrap("      " + $0.meaning, indent: 6) }
        return "EXAMPLES:\n" + examples.joined(separator: "\n")
    }

    private var arguments: String? {
        guard !verb.grammar.arguments.isEmpty else { return nil }
        return "ARGUMENTS:\n" + verb.grammar.arguments.map { row("<\($0.name)>", $0.help) }.joined(separator: "\n")
    }

    /// What every verb has, though no grammar names it.
    static let helpOption = OptionDescription(spellings: ["-h", "--help"], help: "Show this help.")
    /// What only `dfu` itself has.
    static let versionOption = OptionDescription(spellings: ["--version"], help: "Show the version.")

    private var commonOptions: [OptionDescription] {
        path.count == 1 ? [Self.versionOption, Self.helpOption] : [Self.helpOption]
    }

    private func table(_ group: GrammarDescription.Group) -> String {
        let rows = group.options.map { row($0.label + mark($0.isAvailable), $0.help) }
        return "\(group.title.uppercased()):\n" + rows.joined(separator: "\n")
    }

    private func table(_ group: Verb.Group) -> String {
        let rows = group.verbs.map { row($0.name + mark($0.isAvailable), $0.abstract) }
        return "\(group.title.uppercased()):\n" + rows.joined(separator: "\n")
    }

    /// Points to the footnote.
    private func mark(_ isAvailable: Bool) -> String {
        isAvailable ? "" : " *"
    }

    private var statuses: String? {
        guard !verb.statuses.isEmpty else { return nil }
        let rows = (verb.statuses + [.hangup, .interrupt, .terminate]).map { status in
            row("\(status.rawValue) \(status.name)", status.meaning)
        }
        return "EXIT STATUS:\n" + rows.joined(separator: "\n")
    }

    private var footnotes: String? {
        var notes: [String] = []
        if !(verb.verbs.allSatisfy(\.isAvailable) && verb.grammar.options.allSatisfy(\.isAvailable)) {
            notes.append("  * Not in this version yet.")
        }
        if !verb.verbs.isEmpty {
            let words = ["dfu help"] + path.dropFirst().map(\.name) + ["<subcommand>"]
            notes.append(wrap("  See '\(words.joined(separator: " "))' for more.", indent: 2))
        }
        return notes.isEmpty ? nil : notes.joined(separator: "\n")
    }

    /// A label and its text, beside each other where there is room.
    private func row(_ label: String, _ text: String) -> String {
        let isNarrow = width < 60
        let column = isNarrow ? 6 : 26
        let label = "  " + label
        guard !isNarrow, label.count < column else {
            return label + "\n" + wrap(String(repeating: " ", count: column) + text, indent: column)
        }
        return wrap(label + String(repeating: " ", count: column - label.count) + text, indent: column)
    }

    private func wrap(_ paragraph: String, indent: Int = 0) -> String {
        paragraph.wrapped(to: width, indent: indent)
    }
}

extension OptionDescription {
    /// How it is written: `-v, --verbose`, `--mtu <n>`, `--verify/--no-verify`.
    var label: String {
        let long = spellings.filter { $0.hasPrefix("--") }.joined(separator: "/")
        let short = spellings.filter { !$0.hasPrefix("--") }
        return (short + [long]).joined(separator: ", ") + (placeholder.map { " <\($0)>" } ?? "")
    }
}

extension ArgumentDescription {
    fileprivate var usage: String {
        let label = "<\(name)>" + (isRepeatable ? " ..." : "")
        return isOptional ? "[\(label)]" : label
    }
}
