import DFUTransport

extension Verb {
    static let doctor = Verb(
        "doctor", Doctor.self, abstract: "Find what on this machine stands in the way.",
        discussion: [
            "Looks at the message bus, the Bluetooth service, adapters, connected devices, settings and rights, in the order in "
                + "which an update meets them. What is not as it should be is told with what it means for updates and a "
                + "cure. Nothing is switched on, changed or connected.",
            "A problem is what no update gets past; the status is what that update would end with. With warnings and notes "
                + "alone it is 0. As root it sees more.",
        ],
        examples: [
            Example(line: "dfu doctor", meaning: "For people; also what to send to whoever is to help."),
            Example(line: "dfu doctor --adapter hci1 --json", meaning: "One JSON document, about one adapter."),
        ],
        statuses: [.ok, .usage, .environment, .internal, .output, .permission, .config])
}

/// `dfu doctor`.
struct Doctor: Command {
    var adapter: String?
    var timeout: Duration?
    var json = false

    static let grammar = Grammar<Doctor>(groups: [
        OptionGroup(
            "Connection options",
            [
                .option(
                    "adapter", \.adapter, .text("hciN"),
                    help: "The Bluetooth adapter (default: the first that is powered)."),
                .option("timeout", \.timeout, .seconds(1...86_400), help: "The limit of the whole command."),
            ]),
        OptionGroup("Output options", [.flag("json", \.json, help: "Print one JSON document.")]),
    ])

    func run(_ session: Session) async throws(Failure) -> ExitStatus {
        let diagnosis: Diagnosis
        do throws(Failure) {
            diagnosis = try await diagnose(session)
        } catch {
            if json { session.console.result(JSONDocument.text(error)) }
            throw error
        }
        session.console.result(
            json ? JSONDocument.text(Document(diagnosis)) : diagnosis.text(width: Terminal.helpWidth))
        let problems = diagnosis.problems
        guard let first = problems.first else { return .ok }
        let others = problems.count - 1
        let more = others == 0 ? "" : " (and \(others) more problem\(others == 1 ? "" : "s"))"
        throw Failure(first.status, first.line + more)
    }

    private func diagnose(_ session: Session) async throws(Failure) -> Diagnosis {
        let time = RunTime(limit: timeout)
        let bus: BusExamination
        do throws(TransportError) {
            // As long as an update would wait.
            let patience = BlueZTransport.Options().openingLimit
            bus = try await BusExamination(asking: DBusConnection.systemBusAddress) {
                min(patience, time.left ?? patience)
            }
        } catch {
            throw session.failure(error)
        }
        return Diagnosis(
            bus: bus, machine: Machine(SystemFiles(), service: bus.service?.processID), adapterName: adapter,
            isBusNamed: session.environment["DBUS_SYSTEM_BUS_ADDRESS"].map { !Self.systemBuses.contains($0) } ?? false)
    }

    /// The system's bus, by its names (D-Bus specification, "Well-known Message Bus Instances").
    private static let systemBuses = [
        "unix:path=/var/run/dbus/system_bus_socket", "unix:path=/run/dbus/system_bus_socket",
    ]

    private struct Document: Encodable {
        var schema = 1
        var ok: Bool
        var status: Int32
        var name: String
        /// The adapter that an update would use.
        var adapter: String?
        var versions: Versions
        var findings: [Finding]

        struct Versions: Encodable {
            var dfu = Version.current
            var bluez: String?
            var linux: String?
        }

        init(_ diagnosis: Diagnosis) {
            findings = diagnosis.findings
            let status = diagnosis.problems.first?.status ?? .ok
            ok = status == .ok
            self.status = status.rawValue
            name = status.name
            adapter = diagnosis.usedAdapter?.name
            versions = Versions(bluez: diagnosis.version?.description, linux: diagnosis.machine.kernel)
        }
    }
}
