extension Verb {
    static let completions = Verb(
        "completions", Completions.self, abstract: "Print the completions for a shell.",
        examples: [
            Example(line: "source <(dfu completions bash)", meaning: "Completes in this bash."),
            Example(
                line: "dfu completions fish > ~/.config/fish/completions/dfu.fish",
                meaning: "Completes in every fish from now on."),
        ])
}

/// `dfu completions SHELL`.
struct Completions: Command {
    var shell = Shell.bash

    static let grammar = Grammar<Completions>(arguments: [
        .argument(\.shell, .choice("shell"), help: "bash, zsh or fish.")
    ])

    func run(_ session: Session) async throws(Failure) -> ExitStatus {
        session.console.result(String(shell.completions(for: .root).dropLast()))
        return .ok
    }
}
