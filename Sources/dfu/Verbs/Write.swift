import DFUProtocol
import DFUTransport

extension Verb {
    static let write = Verb(
        "write", Write.self, abstract: "Write a characteristic.",
        discussion: [
            "Connects, writes once, and disconnects. A write is one packet; what is longer than the link takes is refused.",
            characteristicHelp,
        ],
        examples: [
            Example(
                line: "dfu write C0:FF:EE:00:00:01 2A06 02", meaning: "One byte, with or without response as it can."),
            Example(
                line: "dfu write sim:band FF02 '1B 99 01' --checksum --reply FF01",
                meaning: "A block-ack frame with its checksum behind it, and the first answer to it."),
        ],
        statuses: benchStatuses)
}

/// `dfu write ID CHARACTERISTIC HEX`.
struct Write: Command {
    var device = DeviceID.none
    var characteristic = CharacteristicID.none
    var value: [UInt8] = []
    var withResponse = false
    var withoutResponse = false
    var addsChecksum = false
    var profile: String?
    var reply: CharacteristicID?
    var connection = ConnectionOptions()
    var output = OutputOptions()

    /// How long an answer may take.
    private static let replyLimit = Duration.seconds(5)
    /// How long a packet that the device does not acknowledge may wait on this side for its turn on the air.
    private static let departure = Duration.milliseconds(200)

    static let grammar = Grammar<Write>(
        arguments: [
            .argument(\.device, .device, help: "The device: its address, the end of it, its name, or sim:band."),
            .argument(\.characteristic, .characteristic, help: "The characteristic, or SERVICE/CHARACTERISTIC."),
            .argument(\.value, .hexadecimal, help: "The bytes, with spaces or colons between them or not."),
        ],
        groups: [
            OptionGroup(
                "Value options",
                [
                    .flag("with-response", \.withResponse, help: "Have the device confirm it (default: where it can)."),
                    .flag("without-response", \.withoutResponse, help: "Write a command, which is not confirmed."),
                    .flag("checksum", \.addsChecksum, help: "Add the block-ack checksum behind the bytes."),
                    .option("profile", \.profile, .file(), help: "The profile whose checksum it is."),
                    .option(
                        "reply", \.reply, .characteristic,
                        help: "Subscribe to this one first, and print the first value that it sends within 5 s."),
                ]),
            ConnectionOptions.capturingGroup.nested(at: \.connection), OutputOptions.group.nested(at: \.output),
        ])

    func validate() throws(Failure) {
        if withResponse, withoutResponse {
            throw .usage("--with-response and --without-response exclude each other")
        }
        if value.isEmpty { throw .usage("there is nothing to write: the value is empty") }
        if profile != nil, !addsChecksum { throw .usage("--profile is for --checksum") }
    }

    func run(_ session: Session) async throws(Failure) -> ExitStatus {
        let work = DeviceWork(id: device, connection: connection, output: output, session: session)
        let profile = try DeviceProfile.load(profile)
        let bytes = value + (addsChecksum ? profile.blockAck.checksum.bytes(closing: value) : [])
        return try await work.run { device throws(Failure) in
            let services = await device.services { services in
                characteristic.isThere(in: services) && reply?.isThere(in: services) != false
            }
            let target = try characteristic.resolve(in: services, for: kind)
            let source = try reply?.resolve(in: services, for: ("notify", [.notify, .indicate]))
            var bindings = [Endpoint.command: binding(of: target)]
            bindings[.reply] = source.map {
                EndpointBinding(service: $0.service, characteristic: $0.characteristic.uuid, use: .notify)
            }
            let link: any Link
            do throws(TransportError) {
                link = try await device.peripheral.openLink(bindings)
            } catch {
                throw work.failure(error, of: device.device, while: "opening \(target.text)")
            }
            let room = link.maximumWriteLength
            guard bytes.count <= room else {
                throw Failure(
                    .refused, reason: "valueTooLong",
                    "\(bytes.count) bytes are too many: a write on this link takes \(room)")
            }
            let notifications = source.map { _ in Notifications(link) }
            do throws(TransportError) {
                work.packet("-> \(target.text) \(bytes.hexadecimal)")
                try await link.write(bytes, to: .command)
                if let answer = try await notifications?.first(within: Self.replyLimit, clock: device.clock), let source
                {
                    work.packet("<- \(source.text) \(answer.hexadecimal)")
                    work.line(.notification(source, answer), of: device.device)
                    work.say(answer.hexadecimal)
                } else if bindings[.command]?.use == .writeWithoutResponse {
                    try? await device.clock.sleep(for: Self.departure)
                }
            } catch {
                throw work.failure(error, of: device.device, while: "writing \(target.text)")
            }
            var result = JSONLine.Result(status: .ok, message: "\(target.text) was written")
            result.bytes = bytes.count
            return result
        }
    }

    /// What the characteristic has to be able to do.
    private var kind: (word: String, properties: GATTCharacteristic.Properties) {
        if withResponse { return ("be written with response", .write) }
        if withoutResponse { return ("be written without response", .writeWithoutResponse) }
        return ("be written", [.write, .writeWithoutResponse])
    }

    private func binding(of match: CharacteristicID.Match) -> EndpointBinding {
        let isConfirmed = !withoutResponse && match.characteristic.properties.contains(.write)
        return EndpointBinding(
            service: match.service, characteristic: match.characteristic.uuid,
            use: isConfirmed ? .write : .writeWithoutResponse)
    }
}
