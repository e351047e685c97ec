import DFUProtocol
import DFUTransport

extension Verb {
    static let read = Verb(
        "read", Read.self, abstract: "Read a characteristic.",
        discussion: ["Connects, reads once, and disconnects.", characteristicHelp],
        examples: [
            Example(line: "dfu read C0:FF:EE:00:00:01 2A26 --text", meaning: "The firmware's version, as text."),
            Example(line: "dfu read 'My band' 180F/2A19", meaning: "The battery level, in hexadecimal."),
        ],
        statuses: benchStatuses)
}

/// `dfu read ID CHARACTERISTIC`.
struct Read: Command {
    var device = DeviceID.none
    var characteristic = CharacteristicID.none
    var asText = false
    var connection = ConnectionOptions()
    var output = OutputOptions()

    static let grammar = Grammar<Read>(
        arguments: [
            .argument(\.device, .device, help: "The device: its address, the end of it, its name, or sim:band."),
            .argument(\.characteristic, .characteristic, help: "The characteristic, or SERVICE/CHARACTERISTIC."),
        ],
        groups: [
            OptionGroup("Value options", [.flag("text", \.asText, help: "Print the value as text.")]),
            ConnectionOptions.capturingGroup.nested(at: \.connection), OutputOptions.group.nested(at: \.output),
        ])

    func run(_ session: Session) async throws(Failure) -> ExitStatus {
        let work = DeviceWork(id: device, connection: connection, output: output, session: session)
        return try await work.run { device throws(Failure) in
            let services = await device.services { characteristic.isThere(in: $0) }
            let match = try characteristic.resolve(in: services, for: ("be read", .read))
            let value: [UInt8]
            do throws(TransportError) {
                value = try await device.peripheral.read(match.characteristic.uuid, of: match.service)
            } catch {
                throw work.failure(error, of: device.device, while: "reading \(match.text)")
            }
            work.packet("<- \(match.text) \(value.hexadecimal)")
            work.line(.value(match, value), of: device.device)
            work.say(asText ? String(decoding: value, as: UTF8.self).printable : value.hexadecimal)
            var result = JSONLine.Result(status: .ok, message: "\(match.text) was read")
            result.bytes = value.count
            return result
        }
    }
}
