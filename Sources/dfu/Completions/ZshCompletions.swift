/// Completions for zsh 5.
struct ZshCompletions {
    var root: String
    var pages: [CompletionPage]

    var script: String {
        """
        #compdef \(root)
        # Completions of \(root) for zsh: put them as _\(root) into a folder of $fpath, or
        # source <(\(root) completions zsh)
        _\(root)() {
            local command=\(root)
            while (( CURRENT > 2 )); do
                case "$command $words[2]" in
                \(pages.dropFirst().map { "'\($0.name)'" }.joined(separator: "|"))) ;;
                *) break ;;
                esac
                command+=" $words[2]"
                shift words
                (( CURRENT-- ))
            done
            case "$command" in
        \(pages.map(page).joined(separator: "\n"))
            esac
        }
        if [[ "$funcstack[1]" == "_\(root)" ]]; then
            _\(root) "$@"
        else
            compdef _\(root) \(root)
        fi

        """
    }

    private func page(_ page: CompletionPage) -> String {
        var specifications = page.options.flatMap(option)
        if !page.verbs.isEmpty {
            let verbs = page.verbs.map { "\($0.word)\\:\(quoted(escaped($0.help)))" }.joined(separator: " ")
            specifications.append("'1:subcommand:((\(verbs)))'")
        }
        for argument in page.arguments {
            let position = argument.isRepeatable ? "*" : argument.isOptional ? ":" : ""
            specifications.append("'\(position):\(argument.name):\(action(argument.completion))'")
        }
        return """
                '\(page.name)')
                    _arguments -s -S \\
            \(specifications.map { "            \($0)" }.joined(separator: " \\\n"))
                    ;;
            """
    }

    private func option(_ option: OptionDescription) -> [String] {
        option.spellings.map { spelling in
            let repeats = option.isRepeatable ? "*" : ""
            let join = option.placeholder != nil ? "=" : ""
            let value = option.placeholder.map { ":\($0):\(action(option.completion))" } ?? ""
            return "'\(repeats)\(spelling)\(join)[\(escaped(option.help))]\(value)'"
        }
    }

    private func action(_ completion: Completion) -> String {
        switch completion {
        case .nothing: " "
        case .file: "_files"
        case .words(let words): "(\(words.map { $0.replacing(":", with: "\\:") }.joined(separator: " ")))"
        }
    }

    /// A text between the single quotes of a specification.
    private func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("[", with: "\\[").replacing("]", with: "\\]")
            .replacing(":", with: "\\:").replacing("'", with: "'\\''")
    }

    private func quoted(_ text: String) -> String { "\"\(text)\"" }
}
