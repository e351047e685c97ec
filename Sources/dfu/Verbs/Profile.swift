import DFUTransport

extension Verb {
    static let profile = Verb(
        "profile", abstract: "Show or check a device profile.",
        discussion: [
            "A profile is a JSON file of what a kind of block-ack device differs in from the built-in band: its UUIDs, "
                + "opcodes, checksum, block size, limits."
        ],
        groups: [Group(title: "Subcommands", verbs: [.profileShow, .profileCheck])])

    private static let profileShow = Verb(
        "show", ProfileShow.self, abstract: "Print a profile with every value that holds.",
        examples: [
            Example(line: "dfu profile show > band.json", meaning: "The built-in band's, to begin a new one with.")
        ],
        statuses: profileStatuses)

    private static let profileCheck = Verb(
        "check", ProfileCheck.self, abstract: "Say whether a profile is right, and all that is wrong.",
        examples: [Example(line: "dfu profile check band.json", meaning: "Ends with 0 or 78.")],
        statuses: profileStatuses)

    private static let profileStatuses: [ExitStatus] = [.ok, .usage, .input, .internal, .output, .config]
}

/// `dfu profile show FILE`.
struct ProfileShow: Command {
    var files: [String] = []

    static let grammar = Grammar<ProfileShow>(arguments: [
        .arguments(\.files, .file(), help: "The profile (default: the built-in band's).")
    ])

    func run(_ session: Session) async throws(Failure) -> ExitStatus {
        throw .notYet("profile show")
    }
}

/// `dfu profile check FILE`.
struct ProfileCheck: Command {
    var file = ""

    static let grammar = Grammar<ProfileCheck>(arguments: [.argument(\.file, .file(), help: "The profile.")])

    func run(_ session: Session) async throws(Failure) -> ExitStatus {
        throw .notYet("profile check")
    }
}
