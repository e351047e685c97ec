/// Completions for fish 3.
struct FishCompletions {
    var root: String
    var pages: [CompletionPage]

    var script: String {
        """
        # Completions of \(root) for fish: put them into ~/.config/fish/completions/\(root).fish, or
        # \(root) completions fish | source
        function __\(root)_at
            set -l path \(root)
            for word in (commandline -opc)[2..]
                switch "$path $word"
                    case \(pages.dropFirst().map { "'\($0.name)'" }.joined(separator: " "))
                        set path "$path $word"
                end
            end
            test "$path" = "$argv[1]"
        end
        complete -c \(root) -f
        \(pages.flatMap(lines).joined(separator: "\n"))

        """
    }

    private func lines(_ page: CompletionPage) -> [String] {
        let start = "complete -c \(root) -n '__\(root)_at \"\(page.name)\"'"
        let verbs = page.verbs.map { "\(start) -a \($0.word) -d \(quoted($0.help))" }
        let arguments = page.arguments.compactMap { argument -> String? in
            switch argument.completion {
            case .nothing: nil
            case .file: "\(start) -F"
            case .words(let words): "\(start) -a \(quoted(words.joined(separator: " ")))"
            }
        }
        return verbs + arguments + page.options.flatMap { option($0, start) }
    }

    private func option(_ option: OptionDescription, _ start: String) -> [String] {
        option.spellings.map { spelling in
            let name = spelling.hasPrefix("--") ? "-l \(spelling.dropFirst(2))" : "-s \(spelling.dropFirst())"
            let value =
                switch (option.placeholder, option.completion) {
                case (nil, _): ""
                case (_, .nothing): " -x"
                case (_, .file): " -r -F"
                case (_, .words(let words)): " -x -a \(quoted(words.joined(separator: " ")))"
                }
            return "\(start) \(name)\(value) -d \(quoted(option.help))"
        }
    }

    private func quoted(_ text: String) -> String {
        "'\(text.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
    }
}
