/// What may stand on a command's line, each part bound to where its value goes.
///
/// Parsing, help, completions and the keys of configuration files are all derived from this one table.
struct Grammar<Values: Sendable>: Sendable {
    var arguments: [Argument<Values>] = []
    var groups: [OptionGroup<Values>] = []

    /// The part that does not depend on where values go.
    var description: GrammarDescription {
        GrammarDescription(
            arguments: arguments.map(\.description),
            groups: groups.map { group in
                GrammarDescription.Group(title: group.title, options: group.options.map(\.description))
            })
    }
}

/// What help and completions know of a command line.
struct GrammarDescription: Sendable, Equatable {
    struct Group: Sendable, Equatable {
        var title: String
        var options: [OptionDescription]
    }

    var arguments: [ArgumentDescription] = []
    var groups: [Group] = []

    var options: [OptionDescription] { groups.flatMap(\.options) }
}

extension Grammar {
    /// Reads a command line into `values`, over what a configuration file has set.
    ///
    /// Options may stand before, between and behind the arguments; behind `--` all are arguments. A value stands behind
    /// its option as a word of its own, which then must not begin with a dash unless it is a number, or joined by `=`.
    /// - Throws: `Failure` of status usage for the line's faults, config for those of the defaults.
    func parse(_ line: [String], defaults: [ConfigurationDefault] = [], into values: inout Values) throws(Failure) {
        for value in defaults {
            // It may be the default of another verb.
            guard let option = option(spelled: "--\(value.option)"), option.description.isAvailable else { continue }
            try value.assign { text throws(InvalidValue) in try option.assign(&values, text) }
        }
        var words = line[...]
        var given: [String: String] = [:]
        var operands: [String] = []
        while let word = words.popFirst() {
            if word == "--" {
                operands += words
                break
            } else if word.hasPrefix("--") {
                try parseLong(word, &words, &given, &values)
            } else if word.hasPrefix("-"), word != "-" {
                try parseShort(word, &given, &values)
            } else {
                operands.append(word)
            }
        }
        try place(operands, into: &values)
    }

    private func option(spelled spelling: String) -> Option<Values>? {
        groups.lazy.flatMap(\.options).first { $0.description.spellings.contains(spelling) }
    }

    private func parseLong(
        _ word: String, _ words: inout ArraySlice<String>, _ given: inout [String: String], _ values: inout Values
    ) throws(Failure) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let spelling = String(parts[0])
        let attached = parts.count == 2 ? String(parts[1]) : nil
        guard let option = option(spelled: spelling) else { throw unknown(spelling) }
        guard option.description.isAvailable else { throw .notYet(spelling) }
        try note(option.description, spelling, &given)
        guard option.description.placeholder != nil else {
            guard attached == nil else { throw .usage("\(spelling) takes no value") }
            try assign(option, spelling, as: spelling, &values)
            return
        }
        if let attached {
            try assign(option, attached, as: spelling, &values)
        } else if let next = words.first, !next.hasPrefix("-") || next == "-" || next.isNegativeNumber {
            words.removeFirst()
            try assign(option, next, as: spelling, &values)
        } else {
            throw .usage("\(spelling) needs a value")
        }
    }

    private func parseShort(
        _ word: String, _ given: inout [String: String], _ values: inout Values
    ) throws(Failure) {
        for letter in word.dropFirst() {
            let spelling = "-\(letter)"
            guard let option = option(spelled: spelling) else { throw unknown(spelling) }
            try note(option.description, spelling, &given)
            try assign(option, spelling, as: spelling, &values)
        }
    }

    /// Refuses a second value, and `--no-x` beside `--x`: one of the two would be ignored.
    private func note(
        _ option: OptionDescription, _ spelling: String, _ given: inout [String: String]
    ) throws(Failure) {
        if let earlier = given[option.name], !option.isRepeatable {
            if earlier != spelling {
                throw .usage("\(earlier) and \(spelling) exclude each other")
            }
            if option.placeholder != nil {
                throw .usage("\(spelling) is given twice")
            }
        }
        given[option.name] = spelling
    }

    private func assign(
        _ option: Option<Values>, _ text: String, as spelling: String, _ values: inout Values
    ) throws(Failure) {
        do {
            try option.assign(&values, text)
        } catch {
            throw .usage(error.sentence(about: text, given: spelling))
        }
    }

    private func place(_ operands: [String], into values: inout Values) throws(Failure) {
        var operands = operands[...]
        for argument in arguments {
            repeat {
                guard let text = operands.popFirst() else {
                    guard argument.description.isOptional else {
                        throw .usage("<\(argument.description.name)> is missing")
                    }
                    break
                }
                do {
                    try argument.assign(&values, text)
                } catch {
                    throw .usage(error.sentence(about: text, given: "<\(argument.description.name)>"))
                }
            } while argument.description.isRepeatable
        }
        if let surplus = operands.first {
            throw .usage("unexpected argument '\(surplus)'")
        }
    }

    private func unknown(_ spelling: String) -> Failure {
        let known = description.options.filter(\.isAvailable).flatMap(\.spellings) + ["--help"]
        guard let nearest = Spelling.nearest(to: spelling, among: known) else {
            return .usage("unknown option \(spelling)")
        }
        return .usage("unknown option \(spelling); did you mean \(nearest)?")
    }
}

extension String {
    /// Whether it is a dash with a digit behind it, which no option is.
    fileprivate var isNegativeNumber: Bool { first == "-" && dropFirst().utf8.first?.isDecimalDigit == true }
}

extension Failure {
    /// A wrong command line.
    static func usage(_ message: String) -> Failure {
        Failure(.usage, message)
    }

    /// Something that the contract names and this version has not.
    static func notYet(_ what: String) -> Failure {
        Failure(.usage, "\(what) is not in this version yet")
    }
}
