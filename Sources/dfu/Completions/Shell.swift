/// A shell that completions are written for.
enum Shell: String, Choice {
    case bash, zsh, fish

    /// The script that teaches the shell the verbs behind `root`.
    func completions(for root: Verb) -> String {
        let pages = CompletionPage.all(under: root)
        return switch self {
        case .bash: BashCompletions(root: root.name, pages: pages).script
        case .zsh: ZshCompletions(root: root.name, pages: pages).script
        case .fish: FishCompletions(root: root.name, pages: pages).script
        }
    }
}

/// What can follow one verb: the part of the table that a shell needs, without what this version has not got.
struct CompletionPage {
    struct Word {
        var word: String
        var help: String
    }

    /// The verbs that lead here, `dfu` first.
    var path: [String]
    var verbs: [Word]
    var options: [OptionDescription]
    var arguments: [ArgumentDescription]

    var name: String { path.joined(separator: " ") }

    /// The pages of a verb and of all behind it, the verb's own first.
    static func all(under verb: Verb, path: [String] = []) -> [CompletionPage] {
        let path = path + [verb.name]
        let verbs = verb.verbs.filter(\.isAvailable)
        var options = verb.grammar.options.filter(\.isAvailable)
        options += (path.count == 1 ? [HelpPage.versionOption] : []) + [HelpPage.helpOption]
        let page = CompletionPage(
            path: path, verbs: verbs.map { Word(word: $0.name, help: $0.abstract) }, options: options,
            arguments: verb.grammar.arguments)
        return [page] + verbs.flatMap { all(under: $0, path: path) }
    }
}
