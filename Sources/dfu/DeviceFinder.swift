import DFUKit
import DFUTransport

/// Finds the devices of a command line on the air, by one scan for all of them.
struct DeviceFinder: Sendable {
    /// What became of one of them.
    enum Finding: Sendable {
        /// It was heard, or is connected: its full address.
        case device(String)
        /// It was not heard, but its bootloader was: that one's address.
        case bootloader(String)
        case failed(Failure)
    }

    let options: ConnectionOptions
    let session: Session
    /// The limit of the whole command, when there is one: what is left of it.
    let left: @Sendable () -> Duration?
    let log: @Sendable (String) -> Void

    /// Opens the adapter.
    func transport() async throws(Failure) -> BlueZTransport {
        var settings = BlueZTransport.Options()
        settings.adapter = options.adapter
        settings.powersOn = options.powersOn
        settings.log = log
        do throws(TransportError) {
            return try await BlueZTransport(settings)
        } catch {
            throw session.failure(error)
        }
    }

    /// Finds each of these.
    ///
    /// - Throws: What stops the whole command: the adapter cannot scan, or one of them fits several devices.
    func find(_ ids: [DeviceID], over transport: BlueZTransport) async throws(Failure) -> [Finding] {
        let selectors = ids.map { id in
            guard case .onAir(let selector) = id.kind else { preconditionFailure("\(id.text) is not on the air") }
            return selector
        }
        let limit = min(options.scanTimeout, left() ?? options.scanTimeout)
        let devices: [BlueZDevice]
        do throws(TransportError) {
            devices = try await transport.scan(for: limit) { Self.isEnough($0, for: selectors) }
        } catch {
            throw session.failure(error, phase: .scan)
        }
        let matches = DeviceSelector.resolve(selectors, among: devices.compactMap(\.candidate))
        var findings: [Finding] = []
        for (id, match) in zip(ids, matches) {
            switch match {
            case .device(let address):
                if address.description != id.device { tell("it is \(address)", of: id) }
                findings.append(.device(address.description))
            case .bootloader(let address):
                tell("it was not heard, but its bootloader \(address) was", of: id)
                findings.append(.bootloader(address.description))
            case .none: findings.append(.failed(notFound(id, limit, devices)))
            case .several(let candidates):
                let list = candidates.map { "\($0.address) \($0.name ?? "(no name)")" }.joined(separator: ", ")
                throw Failure(
                    .usage, subject: id.text, reason: "ambiguous",
                    "\(candidates.count) devices fit: \(list); name one by its full address")
            }
        }
        try refuseTwins(ids, findings)
        return findings
    }

    /// Whether nothing that is still to be heard can change what is meant. A part of an address, or a name, may fit a
    /// second device until the time is over.
    private static func isEnough(_ devices: [BlueZDevice], for selectors: [DeviceSelector]) -> Bool {
        selectors.allSatisfy { selector in
            guard case .address(let address) = selector else { return false }
            return devices.contains { $0.candidate?.address == address }
        }
    }

    private func tell(_ message: String, of id: DeviceID) {
        session.console.report("dfu: \(id.text): \(message)".printable)
    }

    private func notFound(_ id: DeviceID, _ limit: Duration, _ devices: [BlueZDevice]) -> Failure {
        let others = devices.count { $0.candidate != nil }
        let heard = others == 0 ? "nothing else was either" : "\(others) other device\(others == 1 ? " was" : "s were")"
        return Failure(
            .notFound, subject: id.device, phase: .scan, reason: "notFound",
            "it was not heard within \(limit) (\(heard)); switch it on, bring it closer, and end other connections to it"
        )
    }

    private func refuseTwins(_ ids: [DeviceID], _ findings: [Finding]) throws(Failure) {
        var known: [String: DeviceID] = [:]
        for (id, finding) in zip(ids, findings) {
            switch finding {
            case .device(let address), .bootloader(let address):
                if let other = known.updateValue(id, forKey: address) {
                    throw .usage("'\(other.text)' and '\(id.text)' are the same device, \(address)")
                }
            case .failed: continue
            }
        }
    }
}

extension Session {
    /// What an error of the transport is to the command.
    func failure(_ error: TransportError, subject: String? = nil, phase: Phase? = nil) -> Failure {
        let update = UpdateError(error, phase: phase ?? .connect, deviceState: .asBefore)
        let status = ExitStatus(update.code)
        return Failure(
            error.code == .cancelled ? interruption() ?? status : status, subject: subject, phase: phase,
            reason: update.reason, error.message)
    }
}
