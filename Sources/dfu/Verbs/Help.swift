extension Verb {
    static let help = Verb(
        "help", Help.self, abstract: "Show how a verb is used.",
        examples: [Example(line: "dfu help flash", meaning: "The same as 'dfu flash --help'.")])
}

/// `dfu help VERB`.
struct Help: Command {
    var words: [String] = []

    static let grammar = Grammar<Help>(arguments: [
        .arguments(\.words, .text("verb"), help: "The verb, and the one behind it if there is one.")
    ])

    func run(_ session: Session) async throws(Failure) -> ExitStatus {
        let (path, rest) = Verb.root.resolve(words)
        if let word = rest.first {
            let name = path.map(\.name).joined(separator: " ")
            let nearest = Spelling.nearest(to: word, among: path[path.count - 1].verbs.map(\.name))
            throw .usage("'\(name)' has no verb '\(word)'" + (nearest.map { "; did you mean '\($0)'?" } ?? ""))
        }
        session.console.result(HelpPage(path: path, width: Terminal.helpWidth).text)
        return .ok
    }
}
