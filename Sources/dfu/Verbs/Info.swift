extension Verb {
    static let info = Verb(
        "info", Info.self, abstract: "Show what a package holds, and whether it is sound.",
        discussion: ["Reads the file alone; no device is needed."],
        examples: [
            Example(line: "dfu info application.zip", meaning: "For people."),
            Example(line: "dfu info application.zip --json", meaning: "One JSON document."),
        ],
        statuses: [.ok, .usage, .package, .input, .internal, .output, .config])
}

/// `dfu info PACKAGE`.
struct Info: Command {
    var package = ""
    var json = false
    var verbosity = 0

    static let grammar = Grammar<Info>(
        arguments: [
            .argument(
                \.package, .file("package"), help: "A .zip (Nordic DFU or nRF Connect SDK), a .bin or a .hex file.")
        ],
        groups: [
            OptionGroup(
                "Output options",
                [
                    .flag("json", \.json, help: "Print one JSON document."),
                    .count("verbose", short: "v", \.verbosity, help: "Show where in the file each field stands."),
                ])
        ])

    func run(_ session: Session) async throws(Failure) -> ExitStatus {
        throw .notYet("info")
    }
}
