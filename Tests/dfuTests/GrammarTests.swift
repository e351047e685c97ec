import Testing

@testable import dfu

@Suite struct GrammarTests {
    struct Values: Equatable {
        var number = 1
        var text: String?
        var list: [Int] = []
        var flag = false
        var pair: Bool?
        var count = 0
        var operand = ""
        var rest: [String] = []
    }

    private static let grammar = Grammar<Values>(
        arguments: [
            .argument(\.operand, .text("operand"), help: "An operand."),
            .arguments(\.rest, .text("rest"), help: "The rest."),
        ],
        groups: [
            OptionGroup(
                "Options",
                [
                    .option("number", \.number, .number(0...9), help: "A number."),
                    .option("text", \.text, .text("text"), help: "A text."),
                    .options("list", \.list, .number(0...9), help: "Numbers."),
                    .flag("flag", \.flag, help: "A flag."),
                    .onOff("pair", \.pair, help: "A pair."),
                    .count("verbose", short: "v", \.count, help: "A count."),
                    .planned("later", "x", help: "Not built."),
                ])
        ])

    private func parse(_ line: [String], defaults: [ConfigurationDefault] = []) throws(Failure) -> Values {
        var values = Values()
        try Self.grammar.parse(line, defaults: defaults, into: &values)
        return values
    }

    @Test(arguments: [
        (["a"], Values(operand: "a")),
        (["--number", "2", "a"], Values(number: 2, operand: "a")),
        (["a", "--number=2"], Values(number: 2, operand: "a")),
        (["--text=a=b", "c"], Values(text: "a=b", operand: "c")),
        (["--text=--flag", "c"], Values(text: "--flag", operand: "c")),
        (["--text", "-", "-"], Values(text: "-", operand: "-")),
        (["--text", "-70", "c"], Values(text: "-70", operand: "c")),
        (["--list", "1", "a", "--list=2"], Values(list: [1, 2], operand: "a")),
        (["--flag", "--flag", "a"], Values(flag: true, operand: "a")),
        (["--pair", "a"], Values(pair: true, operand: "a")),
        (["--no-pair", "a"], Values(pair: false, operand: "a")),
        (["-v", "a"], Values(count: 1, operand: "a")),
        (["-vvv", "a", "--verbose"], Values(count: 4, operand: "a")),
        (["a", "b", "--flag", "c"], Values(flag: true, operand: "a", rest: ["b", "c"])),
        (["--", "--flag", "-v", "--"], Values(operand: "--flag", rest: ["-v", "--"])),
    ])
    func reads(_ line: [String], _ expected: Values) throws {
        #expect(try parse(line) == expected)
    }

    @Test(arguments: [
        ([], "<operand> is missing"),
        (["--number"], "--number needs a value"),
        (["--number", "--flag", "a"], "--number needs a value"),
        (["--number", "10", "a"], "--number: '10' is not a whole number from 0 to 9"),
        (["--number=", "a"], "--number: '' is not a whole number from 0 to 9"),
        (["--number=1", "--number=1", "a"], "--number is given twice"),
        (["--text=", "a"], "--text: '' is empty"),
        (["--list", "1", "--list", "x", "a"], "--list: 'x' is not a whole number from 0 to 9"),
        (["--flag=1", "a"], "--flag takes no value"),
        (["--pair", "--no-pair", "a"], "--pair and --no-pair exclude each other"),
        (["--flog", "a"], "unknown option --flog; did you mean --flag?"),
        (["--no-pari", "a"], "unknown option --no-pari; did you mean --no-pair?"),
        (["--xyz", "a"], "unknown option --xyz"),
        (["-x", "a"], "unknown option -x"),
        (["-vx", "a"], "unknown option -x"),
        (["--later", "a"], "--later is not in this version yet"),
        (["--later=1", "a"], "--later is not in this version yet"),
    ])
    func refuses(_ line: [String], _ message: String) {
        #expect(throws: Failure(.usage, message)) { try parse(line) }
    }

    @Test func optionsWinOverDefaults() throws {
        let defaults = [
            ConfigurationDefault(option: "number", text: "3", file: "a.json"),
            ConfigurationDefault(option: "number", text: "4", file: "b.json"),
            ConfigurationDefault(option: "flag", text: "--flag", file: "b.json"),
            ConfigurationDefault(option: "unheard", text: "of", file: "b.json"),
        ]
        #expect(try parse(["a"], defaults: defaults) == Values(number: 4, flag: true, operand: "a"))
        #expect(try parse(["--number", "5", "a"], defaults: defaults).number == 5)
    }

    @Test func aDefaultThatDoesNotFitIsTheFilesFault() {
        let defaults = [ConfigurationDefault(option: "number", text: "x", file: "a.json")]
        #expect(throws: Failure(.config, subject: "a.json", "\"number\": 'x' is not a whole number from 0 to 9")) {
            try parse(["a"], defaults: defaults)
        }
    }

    @Test func everyVerbsOptionsHaveDistinctSpellings() {
        func check(_ verb: Verb) {
            let spellings = verb.grammar.options.flatMap(\.spellings) + ["-h", "--help"]
            #expect(Set(spellings).count == spellings.count, "\(verb.name)")
            verb.verbs.forEach(check)
        }
        check(.root)
    }
}
