import DFUKit
import DFUPackage
import DFUTransport

extension Verb {
    static let check = Verb(
        "check", Check.self, abstract: "Ask a device whether it would take a package, and change nothing.",
        discussion: [
            "Reads the package, connects, and tells point by point what an update would meet: the protocol, the package, "
                + "what would be sent, what of it the device decides by and does not tell, and an interrupted update that "
                + "would go on or be replaced.",
            "Written are subscriptions, the battery question to a block-ack device, and to a secure bootloader the question "
                + "what it holds. A device that runs its application stays in it, and what only its bootloader can tell is "
                + "named.",
            "0: nothing stands in the way, as far as can be known.",
        ],
        examples: [
            Example(line: "dfu check app.zip --device C0:FF:EE:12:44:50", meaning: "For people."),
            Example(
                line: "dfu check app.zip --device C0:FF:EE:12:44:50 --key public.pem --json",
                meaning: "With a look at the signatures, as one JSON document."),
        ],
        statuses: [.ok, .usage, .package] + benchStatuses.filter { ![.ok, .usage].contains($0) })
}

/// `dfu check PACKAGE --device ID`.
struct Check: Command {
    var package = ""
    var device: DeviceID?
    var method = Flash.Method.auto
    var profile: String?
    var allowDowngrade = false
    var skippedChecks: [Flash.Check] = []
    var packageOptions = PackageOptions()
    var connection = ConnectionOptions()
    var output = OutputOptions()

    static let grammar = Grammar<Check>(
        arguments: [
            .argument(
                \.package, .file("package"), help: "A .zip (Nordic DFU or nRF Connect SDK), a .bin or a .hex file.")
        ],
        groups: [
            updateOptions, PackageOptions.group.nested(at: \.packageOptions),
            ConnectionOptions.capturingGroup.nested(at: \.connection), OutputOptions.documentGroup.nested(at: \.output),
        ])

    private static var updateOptions: OptionGroup<Check> {
        var device = Option<Check>.option("device", \.device, .device, help: "The device.")
        device.description.isRequired = true
        return OptionGroup(
            "Update options",
            [
                device,
                .option(
                    "protocol", \.method, .choice("protocol"),
                    help:
                        "auto, secure, legacy, smp or block-ack (default: auto). This version has secure and block-ack."
                ),
                .option("profile", \.profile, .file(), help: "What the device's kind differs in."),
                .flag("allow-downgrade", \.allowDowngrade, help: "Let the device take an older or the same version."),
                .options(
                    "skip-check", \.skippedChecks, .choice("check"),
                    help: "Go on without a check: battery, version, hash, size or hardware."),
            ])
    }

    func validate() throws(Failure) {
        try packageOptions.validate(package)
        if allowDowngrade, packageOptions.firmwareVersion != nil {
            throw .usage("--allow-downgrade and --firmware-version exclude each other")
        }
    }

    func run(_ session: Session) async throws(Failure) -> ExitStatus {
        let report: CheckReport
        do throws(Failure) {
            if let file = output.logFile { try session.console.openLog(file) }
            report = try await ask(session)
        } catch {
            if output.json { session.console.result(JSONDocument.text(error, id: device?.text)) }
            throw error
        }
        session.console.result(output.json ? JSONDocument.text(report) : report.text(width: Terminal.helpWidth))
        if let failure = report.failure { throw failure }
        return .ok
    }

    private func ask(_ session: Session) async throws(Failure) -> CheckReport {
        let profile = try DeviceProfile.load(profile)
        let file = try file()
        let check = try check(file, profile)
        guard let device else {
            let limit = connection.timeout
            let finder = DeviceFinder(options: connection, session: session, left: { limit }, log: { _ in })
            throw await finder.missingDevice()
        }
        let work = DeviceWork(id: device, connection: connection, output: output, session: session)
        return try await work.connected(status: \.exitStatus) { connected throws(Failure) in
            let observer = ProcedureObserver(log: { work.log($0) })
            do throws(UpdateError) {
                let forecast = try await check.ask(connected.peripheral, clock: connected.clock, observer: observer)
                return CheckReport(forecast, of: file.fileName, by: connected)
            } catch {
                let status = error.code == .aborted ? session.interruption() : nil
                throw Failure(
                    status ?? ExitStatus(error.code), subject: connected.device, phase: error.phase,
                    reason: error.reason ?? error.code.rawValue, error.message)
            }
        }
    }

    private func file() throws(Failure) -> Package {
        do throws(PackageError) {
            return try Package.open(package)
        } catch {
            throw Failure(error)
        }
    }

    private func check(_ file: Package, _ profile: DeviceProfile) throws(Failure) -> DeviceCheck {
        var options = UpdateOptions()
        try packageOptions.fill(&options)
        options.method = method.method
        options.allowDowngrade = allowDowngrade
        options.skippedChecks = Set(skippedChecks.map(\.check))
        let check = DeviceCheck(file, profile: profile, options: options)
        do throws(UpdateError) {
            try check.checkOptions()
        } catch {
            throw Failure(ExitStatus(error.code), phase: error.phase, reason: error.reason, error.message)
        }
        return check
    }
}
