import DFUPackage

extension Verb {
    static let info = Verb(
        "info", Info.self, abstract: "Show what a package holds, and whether it is sound.",
        discussion: [
            "Reads the file alone; no device is needed. Of an unsound package all that could be read is shown, and the "
                + "status is 65. Signatures are shown; with the public key (--key) those of Secure DFU are verified, and a "
                + "package that is not signed with it is unsound."
        ],
        examples: [
            Example(line: "dfu info application.zip", meaning: "For people."),
            Example(line: "dfu info application.zip --key public.pem", meaning: "With a look whether it is signed."),
            Example(line: "dfu info application.zip --json", meaning: "One JSON document."),
        ],
        statuses: [.ok, .usage, .package, .input, .internal, .output, .config])
}

/// `dfu info PACKAGE`.
struct Info: Command {
    var package = ""
    var keyFile: String?
    var json = false
    var verbosity = 0

    static let grammar = Grammar<Info>(
        arguments: [
            .argument(
                \.package, .file("package"), help: "A .zip (Nordic DFU or nRF Connect SDK), a .bin or a .hex file.")
        ],
        groups: [
            OptionGroup(
                "Package options",
                [
                    .option(
                        "key", \.keyFile, .file(), help: "The public key (PEM) that must have signed the package.")
                ]),
            OptionGroup(
                "Output options",
                [
                    .flag("json", \.json, help: "Print one JSON document."),
                    .count(
                        "verbose", short: "v", \.verbosity, help: "Show where each field stands, and long values whole."
                    ),
                ]),
        ])

    func validate() throws(Failure) {
        if package.hasPrefix("https://") || package.hasPrefix("http://") {
            throw .notYet("a package from a server")
        }
    }

    func run(_ session: Session) async throws(Failure) -> ExitStatus {
        let description = try describe(key: keyFile.map(SignatureKey.load))
        if json {
            session.console.result(description.json)
        } else if description.kind != nil {
            let width = Terminal.helpWidth
            session.console.result(PackageText.text(description, isVerbose: verbosity > 0, width: width))
        }
        guard description.sound else { throw Self.failure(description, path: package) }
        return .ok
    }

    private func describe(key: SignatureKey?) throws(Failure) -> PackageDescription {
        let file: Package
        do throws(PackageError) {
            file = try Package.open(package)
        } catch {
            return PackageDescription(unreadable: package, error)
        }
        let objection = file.keyObjection
        if key != nil, file.problems.isEmpty, let objection { throw .usage(objection) }
        return PackageDescription(file, key: objection == nil ? key : nil)
    }

    /// The worst of the problems, with the file's name where it does not name the file itself.
    static func failure(_ description: PackageDescription, path: String) -> Failure {
        let problems = description.problems
        guard let worst = problems.first else { preconditionFailure("A sound package is no failure") }
        let isNamed = worst.message.hasPrefix(path) || worst.message.hasPrefix(description.file)
        let others = problems.count - 1
        let more = others == 0 ? "" : " (and \(others) more problem\(others == 1 ? "" : "s"))"
        return Failure(
            worst.code == .unreadable ? .input : .package, subject: isNamed ? nil : path, worst.message + more)
    }
}
