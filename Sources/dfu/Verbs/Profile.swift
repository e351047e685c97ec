import DFUProtocol
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

/// `dfu profile show [FILE]`.
struct ProfileShow: Command {
    var file: String?

    static let grammar = Grammar<ProfileShow>(arguments: [
        .argument(\.file, .file(), help: "The profile (default: the built-in band's).")
    ])

    func run(_ session: Session) async throws(Failure) -> ExitStatus {
        guard let file else {
            session.console.result(DeviceProfile.band.json)
            return .ok
        }
        let bytes = try InputFile.read(file)
        let profile: DeviceProfile
        do throws(DeviceProfileError) {
            profile = try DeviceProfile(json: bytes)
        } catch {
            throw .wrongProfile(file, error.problems)
        }
        session.console.result(profile.json)
        let problems = profile.blockAck.problems
        guard problems.isEmpty else { throw .wrongProfile(file, problems) }
        return .ok
    }
}

/// `dfu profile check FILE`.
struct ProfileCheck: Command {
    var file = ""

    static let grammar = Grammar<ProfileCheck>(arguments: [.argument(\.file, .file(), help: "The profile.")])

    func run(_ session: Session) async throws(Failure) -> ExitStatus {
        let problems = try problems()
        guard problems.isEmpty else {
            for problem in problems { session.console.result("\(file): \(problem)".printable) }
            throw .wrongProfile(file, problems)
        }
        session.console.result("\(file): right".printable)
        return .ok
    }

    private func problems() throws(Failure) -> [String] {
        let bytes = try InputFile.read(file)
        do throws(DeviceProfileError) {
            return try DeviceProfile(json: bytes).blockAck.problems
        } catch {
            return error.problems
        }
    }
}

extension Failure {
    /// A profile that no update can go by.
    fileprivate static func wrongProfile(_ file: String, _ problems: [String]) -> Failure {
        let count = problems.count
        let more = count == 1 ? "" : " (and \(count - 1) more problem\(count == 2 ? "" : "s"))"
        return Failure(.config, subject: file, (problems.first ?? "") + more)
    }
}
