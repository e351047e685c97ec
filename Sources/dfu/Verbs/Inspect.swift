import DFUTransport

extension Verb {
    static let inspect = Verb(
        "inspect", Inspect.self, abstract: "Show a device's services and versions.",
        discussion: [
            "Connects, lists the services and characteristics, reads the battery level and what Device Information has of "
                + "model and versions, and names the DFU protocols whose characteristics are there. Nothing is written."
        ],
        examples: [
            Example(line: "dfu inspect C0:FF:EE:00:00:01", meaning: "For people."),
            Example(line: "dfu inspect sim:band --json", meaning: "One JSON document."),
        ],
        statuses: benchStatuses)
}

/// `dfu inspect ID`.
struct Inspect: Command {
    var device = DeviceID.none
    var profile: String?
    var connection = ConnectionOptions()
    var output = OutputOptions()

    static let grammar = Grammar<Inspect>(
        arguments: [
            .argument(\.device, .device, help: "The device: its address, the end of it, its name, or sim:band.")
        ],
        groups: [
            OptionGroup(
                "Device options",
                [.option("profile", \.profile, .file(), help: "What block-ack devices are known by here.")]),
            ConnectionOptions.capturingGroup.nested(at: \.connection), OutputOptions.documentGroup.nested(at: \.output),
        ])

    func run(_ session: Session) async throws(Failure) -> ExitStatus {
        let work = DeviceWork(id: device, connection: connection, output: output, session: session)
        do throws(Failure) {
            if let file = output.logFile { try session.console.openLog(file) }
            let profile = try DeviceProfile.load(profile)
            let inspection = try await work.connected { device throws(Failure) in
                do throws(TransportError) {
                    return try await DeviceInspection(device, profile: profile)
                } catch {
                    throw work.failure(error, of: device.device, while: "looking at it")
                }
            }
            session.console.result(
                output.json ? JSONDocument.text(inspection) : inspection.text(width: Terminal.helpWidth))
            return .ok
        } catch {
            if output.json { session.console.result(JSONDocument.text(error, id: device.text)) }
            throw error
        }
    }
}
