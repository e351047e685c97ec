import DFUTransport

extension Verb {
    static let pair = Verb(
        "pair", Pair.self, abstract: "Bond with a device.",
        discussion: [
            "Connects, pairs, and keeps the keys. On a terminal you are asked for what the device shows, or shown what to type "
                + "in there; elsewhere only devices are paired that show and ask nothing. One that is paired already stays so."
        ],
        examples: [Example(line: "dfu pair C0:FF:EE:00:00:01", meaning: "'dfu forget' undoes it.")],
        statuses: benchStatuses)
}

/// `dfu pair ID`.
struct Pair: Command {
    var device = DeviceID.none
    var connection = ConnectionOptions()
    var output = OutputOptions()

    static let grammar = Grammar<Pair>(
        arguments: [.argument(\.device, .device, help: "The device: its address, the end of it, or its name.")],
        groups: [ConnectionOptions.group.nested(at: \.connection), OutputOptions.group.nested(at: \.output)])

    func validate() throws(Failure) { try device.requireBonds() }

    func run(_ session: Session) async throws(Failure) -> ExitStatus {
        let work = DeviceWork(id: device, connection: connection, output: output, session: session)
        return try await work.tell { () throws(Failure) in
            let (device, message) =
                if let address = try await pairedAddress(session, work) {
                    (address, "paired already")
                } else {
                    try await work.connected { device throws(Failure) in
                        (device.device, try await pair(with: device, session, work))
                    }
                }
            work.say("\(device): \(message)")
            return (device, JSONLine.Result(status: .ok, message: message))
        }
    }

    /// The full address of the device, where that was given and it is paired: it need not be in range then.
    private func pairedAddress(_ session: Session, _ work: DeviceWork) async throws(Failure) -> String? {
        guard case .onAir(.address(let address)) = device.kind else { return nil }
        let finder = DeviceFinder(options: connection, session: session, left: { nil }, log: work.log)
        let devices = try await finder.transport().devices()
        let isPaired = devices.contains { $0.address == address.description && $0.isPaired }
        return isPaired ? address.description : nil
    }

    private func pair(
        with device: ConnectedDevice, _ session: Session, _ work: DeviceWork
    ) async throws(Failure) -> String {
        guard let peripheral = device.peripheral as? any PairablePeripheral else {
            preconditionFailure("what is on the air comes from BlueZ")
        }
        guard await !peripheral.isPaired else { return "paired already" }
        let dialogue = PairingPrompt.dialogue(about: device.device, session.console)
        do throws(PairingError) {
            try await peripheral.pair(dialogue)
        } catch {
            switch error {
            case .refused(let message):
                let isAlone = dialogue.capability == .noInputNoOutput
                throw Failure(
                    .refused, subject: device.device, reason: "pairingFailed",
                    message + (isAlone ? "; one that asks for something is paired on a terminal" : ""))
            case .transport(let error): throw session.failure(error, subject: device.device)
            }
        }
        return "paired"
    }
}

extension DeviceID {
    /// Refuses a device that can have no bond.
    func requireBonds() throws(Failure) {
        guard !isSimulated else { throw .usage("\(device): a simulated device has no bond") }
    }
}
