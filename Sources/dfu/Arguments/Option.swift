/// What help and completions know of an option.
struct OptionDescription: Sendable, Equatable {
    /// All spellings, dashes included, the short one first: `-v`, `--verbose`.
    var spellings: [String]
    /// What stands for its value in the help; nil for a flag.
    var placeholder: String?
    var completion = Completion.nothing
    var help: String
    /// Whether the help shows it as one that must be given; the command says what is missing where it is not.
    var isRequired = false
    var isRepeatable = false
    /// Whether this version has it. One that it has not is shown in the help, and an error on a command line.
    var isAvailable = true

    /// The name in a configuration file, and in messages: the first long spelling without its dashes.
    var name: String {
        guard let long = spellings.first(where: { $0.hasPrefix("--") }) else {
            preconditionFailure("An option without a long spelling")
        }
        return String(long.dropFirst(2))
    }
}

/// Where in a command a value goes.
typealias Place<Values, Value> = any WritableKeyPath<Values, Value> & Sendable

/// An option of a command: how it is written, what it means, and where its value goes.
struct Option<Values: Sendable>: Sendable {
    /// Puts a value in its place. A flag is handed the spelling that was used.
    typealias Assignment = @Sendable (inout Values, _ text: String) throws(InvalidValue) -> Void

    var description: OptionDescription
    let assign: Assignment
}

extension Option {
    /// An option with a value. `store` puts it in its place.
    private static func valued<Value>(
        _ name: String, _ format: ValueFormat<Value>, help: String,
        store: @escaping @Sendable (inout Values, Value) -> Void
    ) -> Self {
        let description = OptionDescription(
            spellings: ["--\(name)"], placeholder: format.placeholder, completion: format.completion, help: help)
        return Option(description: description) { values, text throws(InvalidValue) in
            store(&values, try format.read(text))
        }
    }

    /// An option with a value, which has a default.
    static func option<Value>(
        _ name: String, _ path: Place<Values, Value>, _ format: ValueFormat<Value>, help: String
    ) -> Self {
        valued(name, format, help: help) { $0[keyPath: path] = $1 }
    }

    /// An option with a value, which may be left out.
    static func option<Value>(
        _ name: String, _ path: Place<Values, Value?>, _ format: ValueFormat<Value>, help: String
    ) -> Self {
        valued(name, format, help: help) { $0[keyPath: path] = $1 }
    }

    /// An option that may be given several times.
    static func options<Value>(
        _ name: String, _ path: Place<Values, [Value]>, _ format: ValueFormat<Value>,
        isRequired: Bool = false, help: String
    ) -> Self {
        var option = valued(name, format, help: help) { $0[keyPath: path].append($1) }
        option.description.isRepeatable = true
        option.description.isRequired = isRequired
        return option
    }

    /// A flag that is off unless it is given.
    static func flag(_ name: String, _ path: Place<Values, Bool>, help: String) -> Self {
        Option(description: OptionDescription(spellings: ["--\(name)"], help: help)) { values, _ in
            values[keyPath: path] = true
        }
    }

    /// A pair of flags, `--name` and `--no-name`, of which at most one is given.
    static func onOff(_ name: String, _ path: Place<Values, Bool?>, help: String) -> Self {
        let spellings = ["--\(name)", "--no-\(name)"]
        return Option(description: OptionDescription(spellings: spellings, help: help)) { values, spelling in
            values[keyPath: path] = spelling == spellings[0]
        }
    }

    /// A flag that counts how often it is given.
    static func count(
        _ name: String, short: Character, _ path: Place<Values, Int>, help: String
    ) -> Self {
        var description = OptionDescription(spellings: ["-\(short)", "--\(name)"], help: help)
        description.isRepeatable = true
        return Option(description: description) { values, _ in values[keyPath: path] += 1 }
    }

    /// An option that the contract names and this version has not.
    static func planned(_ name: String, _ placeholder: String? = nil, help: String) -> Self {
        let description = OptionDescription(
            spellings: ["--\(name)"], placeholder: placeholder, help: help, isAvailable: false)
        return Option(description: description) { _, _ throws(InvalidValue) in throw .notYet() }
    }

    /// The same option of a larger command, whose part at `path` it fills.
    func nested<Whole>(at path: Place<Whole, Values>) -> Option<Whole> {
        Option<Whole>(description: description) { whole, text throws(InvalidValue) in
            try assign(&whole[keyPath: path], text)
        }
    }
}

/// Options that stand together under one heading in the help.
struct OptionGroup<Values: Sendable>: Sendable {
    /// The heading, with nothing before "options" in the plain case: `Connection options`.
    var title: String
    var options: [Option<Values>]

    init(_ title: String, _ options: [Option<Values>]) {
        self.title = title
        self.options = options
    }

    /// The same options of a larger command, whose part at `path` they fill.
    func nested<Whole>(at path: Place<Whole, Values>) -> OptionGroup<Whole> {
        OptionGroup<Whole>(title, options.map { $0.nested(at: path) })
    }
}
