import DFUTransport

extension Verb {
    static let scan = Verb(
        "scan", Scan.self, abstract: "List the devices in range.",
        discussion: [
            "Listens for --scan-timeout, and connects to nothing. What a device is called, what it advertises, how strong it "
                + "is heard (dBm), and whether it is connected or bonded; what is known from earlier and was not heard is "
                + "marked 'cached, not heard'.",
            "A protocol that its services let expect (secure, legacy, smp, block-ack) is a hint, never a proof.",
            "With --watch it goes on until a signal, --scan-timeout or --timeout: on a terminal the list is redrawn, "
                + "elsewhere there is a line when a device comes, changes notably (10 dB) or goes. BlueZ lets a device go "
                + "when it was not heard for 30 s.",
        ],
        examples: [
            Example(line: "dfu scan --service FE59 --min-rssi -70", meaning: "Secure DFU's devices that are near."),
            Example(line: "dfu scan --name 'Band*' --watch --json", meaning: "One JSON object for each change."),
        ],
        statuses: [.ok, .usage, .input, .environment, .internal, .output, .permission, .config])
}

/// `dfu scan`.
struct Scan: Command {
    var filter = ScanFilter()
    var profile: String?
    var watches = false
    var connection = ConnectionOptions()
    var output = OutputOptions()

    static let grammar = Grammar<Scan>(groups: [
        OptionGroup(
            "Scan options",
            [
                .options(
                    "service", \.filter.services, .uuid,
                    help: "Only devices that advertise this service. Repeat it for one of several."),
                .option("name", \.filter.name, .text("glob"), help: "Only devices with such a name, as 'Band*'."),
                .option(
                    "min-rssi", \.filter.minimumRSSI, .decibels, help: "Only devices that are heard at least so strong."
                ),
                .flag("watch", \.watches, help: "Go on, and tell what changes."),
                .option("profile", \.profile, .file(), help: "What block-ack devices are known by here."),
            ]),
        ConnectionOptions.group.nested(at: \.connection), OutputOptions.documentGroup.nested(at: \.output),
    ])

    func run(_ session: Session) async throws(Failure) -> ExitStatus {
        do throws(Failure) {
            if let file = output.logFile { try session.console.openLog(file) }
            let run = ScanRun(self, session, profile: try .load(profile))
            return try await run.run()
        } catch {
            if output.json, !watches { session.console.result(JSONDocument.text(error)) }
            throw error
        }
    }
}

extension ValueFormat<Int> {
    /// A received strength, which is below zero.
    fileprivate static var decibels: Self {
        ValueFormat(placeholder: "dBm") { text throws(InvalidValue) in
            guard text.dropFirst(text.hasPrefix("-") ? 1 : 0).utf8.allSatisfy(\.isDecimalDigit), let number = Int(text),
                (-127...20).contains(number)
            else {
                throw .wrong("not a strength from -127 to 20 dBm, as -70")
            }
            return number
        }
    }
}
