/// A word behind `dfu`, and everything that help and completions say of it.
struct Verb: Sendable {
    /// A command line that works, and what it does.
    struct Example: Sendable {
        var line: String
        var meaning: String
    }

    /// Verbs that stand together under one heading in the help.
    struct Group: Sendable {
        var title: String
        var verbs: [Verb]
    }

    /// Reads the rest of a command line into a command that is ready to run.
    typealias Parser = @Sendable (_ line: [String], _ defaults: [ConfigurationDefault]) throws(Failure) -> any Command

    var name: String
    /// One line.
    var abstract: String
    /// Further paragraphs. A line that begins with a space is kept as it is.
    var discussion: [String] = []
    var examples: [Example] = []
    /// What it can end with, besides the interrupts.
    var statuses: [ExitStatus] = []
    var groups: [Group] = []
    var grammar = GrammarDescription()
    /// Nil where only a verb behind this one does something, or where this version has not got it.
    var parser: Parser?

    /// Whether this version has it.
    var isAvailable: Bool { parser != nil || verbs.contains(where: \.isAvailable) }

    /// The verbs behind it.
    var verbs: [Verb] { groups.flatMap(\.verbs) }

    /// A verb that does what `command` does.
    init<C: Command>(
        _ name: String, _ command: C.Type, abstract: String, discussion: [String] = [], examples: [Example] = [],
        statuses: [ExitStatus] = []
    ) {
        self.name = name
        self.abstract = abstract
        self.discussion = discussion
        self.examples = examples
        self.statuses = statuses
        grammar = C.grammar.description
        parser = { line, defaults throws(Failure) in
            var command = C()
            try C.grammar.parse(line, defaults: defaults, into: &command)
            try command.validate()
            return command
        }
    }

    /// A verb that only leads to others.
    init(_ name: String, abstract: String, discussion: [String] = [], groups: [Group]) {
        self.name = name
        self.abstract = abstract
        self.discussion = discussion
        self.groups = groups
    }

    /// A verb that the contract names and this version has not.
    static func planned(_ name: String, abstract: String) -> Verb {
        Verb(name, abstract: abstract, groups: [])
    }
}

extension Verb {
    /// What a command line asks for.
    enum Request: Sendable {
        /// The help page of the last of these verbs.
        case help([Verb])
        /// The version of the command.
        case version
        case run(any Command)
    }

    /// The verbs that the line begins with, this one first, and what stands behind them.
    func resolve(_ line: [String]) -> (path: [Verb], rest: ArraySlice<String>) {
        var path = [self]
        var rest = line[...]
        while let word = rest.first, let verb = path[path.count - 1].verbs.first(where: { $0.name == word }) {
            path.append(verb)
            rest.removeFirst()
        }
        return (path, rest)
    }

    /// Reads a whole command line. `defaults` is asked only when a command is to be read.
    func request(
        _ line: [String], defaults: () throws(Failure) -> [ConfigurationDefault]
    ) throws(Failure) -> Request {
        let (path, rest) = resolve(line)
        let verb = path[path.count - 1]
        let name = path.map(\.name).joined(separator: " ")
        if rest.prefix(while: { $0 != "--" }).contains(where: { $0 == "-h" || $0 == "--help" }) {
            return .help(path)
        }
        if path.count == 1, Array(rest) == ["--version"] {
            return .version
        }
        guard let parser = verb.parser else {
            throw verb.missing(rest.first, name)
        }
        do {
            return .run(try parser(Array(rest), defaults()))
        } catch {
            throw error.hinting(at: name)
        }
    }

    /// The fault of a line that names no verb that does something.
    private func missing(_ word: String?, _ name: String) -> Failure {
        guard !verbs.isEmpty else { return .notYet("'\(name)'") }
        guard let word else { return .usage("a subcommand is missing").hinting(at: name) }
        guard word != "--version" else { return .usage("--version stands alone").hinting(at: name) }
        guard !word.hasPrefix("-") else { return .usage("unknown option \(word)").hinting(at: name) }
        guard let nearest = Spelling.nearest(to: word, among: verbs.map(\.name)) else {
            return .usage("unknown subcommand '\(word)'").hinting(at: name)
        }
        return .usage("unknown subcommand '\(word)'; did you mean '\(nearest)'?").hinting(at: name)
    }
}

extension Failure {
    /// The same fault of a command line, with the way to the help.
    fileprivate func hinting(at command: String) -> Failure {
        guard status == .usage else { return self }
        var failure = self
        failure.message += (message.hasSuffix("?") ? " See" : "; see") + " '\(command) --help'"
        return failure
    }
}
