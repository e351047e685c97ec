import DFUTransport

extension Verb {
    static let forget = Verb(
        "forget", Forget.self, abstract: "Remove the bond with a device.",
        discussion: [
            "Has BlueZ forget the device: its keys, and what else is kept of it. No connection is needed; what is connected is "
                + "disconnected. The device may keep keys of its own, which then no longer fit."
        ],
        examples: [Example(line: "dfu forget C0:FF:EE:00:00:01", meaning: "Status 68 where BlueZ does not know it.")],
        statuses: benchStatuses)
}

/// `dfu forget ID`.
struct Forget: Command {
    var device = DeviceID.none
    var connection = ConnectionOptions()
    var output = OutputOptions()

    static let grammar = Grammar<Forget>(
        arguments: [.argument(\.device, .device, help: "The device: its address, the end of it, or its name.")],
        groups: [ConnectionOptions.group.nested(at: \.connection), OutputOptions.group.nested(at: \.output)])

    func validate() throws(Failure) { try device.requireBonds() }

    func run(_ session: Session) async throws(Failure) -> ExitStatus {
        let work = DeviceWork(id: device, connection: connection, output: output, session: session)
        return try await work.tell { () throws(Failure) in
            let finder = DeviceFinder(options: connection, session: session, left: { nil }, log: work.log)
            let transport = try await finder.transport()
            let known = try known(await transport.devices())
            do throws(TransportError) {
                try await transport.forget(known)
            } catch {
                throw session.failure(error, subject: known.address)
            }
            let message = known.isPaired ? "its bond is removed" : "forgotten; there was no bond"
            work.say("\(known.address): \(message)")
            return (known.address, JSONLine.Result(status: .ok, message: message))
        }
    }

    /// The device that is meant among those that BlueZ knows, in range or not.
    private func known(_ devices: [BlueZDevice]) throws(Failure) -> BlueZDevice {
        guard case .onAir(let selector) = device.kind else { preconditionFailure("\(device.text) has no bond") }
        let candidates = devices.compactMap { device in
            BluetoothAddress(device.address).map { DeviceSelector.Candidate(address: $0, name: device.name) }
        }
        switch DeviceSelector.resolve([selector], among: candidates)[0] {
        case .device(let address):
            guard let known = devices.first(where: { $0.address == address.description }) else {
                preconditionFailure("the device is one of them")
            }
            return known
        case .several(let candidates): throw .ambiguous(device, candidates)
        case .bootloader, .none:
            throw Failure(
                .notFound, subject: device.device, reason: "notFound",
                "BlueZ does not know it, so there is nothing to forget")
        }
    }
}
