import DFUProtocol
import DFUTransport

extension Verb {
    static let notify = Verb(
        "notify", Notify.self, abstract: "Show what a characteristic notifies.",
        discussion: [
            "Connects, subscribes, and prints a line for each value, with the time (UTC), until a signal, --timeout or "
                + "--count ends it.", characteristicHelp,
        ],
        examples: [
            Example(line: "dfu notify C0:FF:EE:00:00:01 2A37", meaning: "Until Ctrl-C, which ends it with 130."),
            Example(line: "dfu notify sim:band FF01 --timeout 10", meaning: "For ten seconds, connecting included."),
        ],
        statuses: benchStatuses)
}

/// `dfu notify ID CHARACTERISTIC`.
struct Notify: Command {
    var device = DeviceID.none
    var characteristic = CharacteristicID.none
    var count: Int?
    var connection = ConnectionOptions()
    var output = OutputOptions()

    static let grammar = Grammar<Notify>(
        arguments: [
            .argument(\.device, .device, help: "The device: its address, the end of it, its name, or sim:band."),
            .argument(\.characteristic, .characteristic, help: "The characteristic, or SERVICE/CHARACTERISTIC."),
        ],
        groups: [
            OptionGroup(
                "Value options",
                [.option("count", \.count, .number(1...1_000_000_000), help: "End after so many values.")]),
            ConnectionOptions.capturingGroup.nested(at: \.connection), OutputOptions.group.nested(at: \.output),
        ])

    func run(_ session: Session) async throws(Failure) -> ExitStatus {
        let work = DeviceWork(id: device, connection: connection, output: output, session: session)
        return try await work.run { device throws(Failure) in
            let services = await device.services { characteristic.isThere(in: $0) }
            let match = try characteristic.resolve(in: services, for: ("notify", [.notify, .indicate]))
            let binding = EndpointBinding(
                service: match.service, characteristic: match.characteristic.uuid, use: .notify)
            var values = 0
            var bytes = 0
            let isComplete: Bool
            do throws(TransportError) {
                let notifications = Notifications(try await device.peripheral.openLink([.reply: binding]))
                work.log("subscribed to \(match.text)")
                isComplete = try await notifications.forEach { value in
                    values += 1
                    bytes += value.count
                    work.packet("<- \(match.text) \(value.hexadecimal)")
                    work.line(.notification(match, value), of: device.device)
                    work.say("\(JSONLine.now) \(value.hexadecimal)")
                    return values != count
                }
            } catch {
                throw work.failure(error, of: device.device, while: "subscribing to \(match.text)")
            }
            if !isComplete, session.interruption() == nil, let count {
                throw Failure(
                    .link, reason: "timeLimit",
                    "\(values) of \(count) values came within the limit of the whole command")
            }
            var result = JSONLine.Result(
                status: session.interruption() ?? .ok, message: "\(values) value\(values == 1 ? "" : "s") came")
            result.bytes = bytes
            return result
        }
    }
}
