/// Completions for bash 4.4 and later, without the bash-completion package.
struct BashCompletions {
    var root: String
    var pages: [CompletionPage]

    var script: String {
        """
        # Completions of \(root) for bash: put them into /etc/bash_completion.d, or
        # source <(\(root) completions bash)
        _\(root)() {
            local line="${COMP_LINE:0:COMP_POINT}" command=\(root) current="" option="" candidates="" word
            local -a words=()
            read -ra words <<<"$line"
            if [[ $line != *[[:space:]] ]]; then
                current="${words[-1]}"
                unset 'words[-1]'
            fi
            for word in "${words[@]:1}"; do
                case "$command $word" in
                \(pages.dropFirst().map { "\"\($0.name)\"" }.joined(separator: " | "))) command+=" $word" ;;
                esac
            done
            if [[ $current == --*=* ]]; then
                option="${current%%=*}"
                current="${current#*=}"
            elif [[ ${words[-1]} == -* ]]; then
                option="${words[-1]}"
            fi
            COMPREPLY=()
            case "$command $option" in
        \(values.joined(separator: "\n"))
            *)
                case "$command" in
        \(pages.map(page).joined(separator: "\n"))
                esac
                ;;
            esac
            mapfile -t COMPREPLY < <(compgen -W "$candidates" -- "$current")
            # Readline takes what stands behind the last colon for the word.
            if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then
                COMPREPLY=("${COMPREPLY[@]#"${current%"${current##*:}"}"}")
            fi
        }
        complete -F _\(root) \(root)

        """
    }

    /// What can stand behind each option that has a value.
    private var values: [String] {
        pages.flatMap { page in
            page.options.compactMap { option in
                guard option.placeholder != nil else { return nil }
                let patterns = option.spellings.map { "\"\(page.name) \($0)\"" }.joined(separator: " | ")
                return "    \(patterns)) \(offer(option.completion)) ;;"
            }
        }
    }

    private func page(_ page: CompletionPage) -> String {
        let options = page.options.flatMap(\.spellings).joined(separator: " ")
        var other = page.verbs.map(\.word)
        var takesFile = false
        for argument in page.arguments {
            switch argument.completion {
            case .nothing: break
            case .file: takesFile = true
            case .words(let words): other += words
            }
        }
        let files = takesFile ? "compopt -o default" : ":"
        return """
                    "\(page.name)")
                        if [[ $current == -* ]]; then
                            candidates="\(options)"
                        else
                            candidates="\(other.joined(separator: " "))"
                            \(files)
                        fi
                        ;;
            """
    }

    private func offer(_ completion: Completion) -> String {
        switch completion {
        case .nothing: ":"
        case .file: "compopt -o default"
        case .words(let words): "candidates=\"\(words.joined(separator: " "))\""
        }
    }
}
