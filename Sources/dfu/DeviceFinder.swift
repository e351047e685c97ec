import DFUKit
import DFUTransport

/// Finds the devices of a command line on the air, by one scan for all of them.
struct DeviceFinder: Sendable {
    /// A device that was found.
    struct Found: Sendable {
        /// Its full address, as the unit was asked for.
        var device: String
        /// The address to speak to: another one where the bootloader of an absent device was found.
        var address: String
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
        settings.openingLimit = min(settings.openingLimit, left() ?? settings.openingLimit)
        settings.log = log
        do throws(TransportError) {
            return try await BlueZTransport(settings)
        } catch {
            throw session.failure(error)
        }
    }

    /// Finds each of these; one that is not there is a failure of its own.
    ///
    /// - Throws: What stops the whole command: the adapter cannot scan, or one of them fits several devices.
    func find(_ ids: [DeviceID], over transport: BlueZTransport) async throws(Failure) -> [Result<Found, Failure>] {
        let selectors = ids.map { id in
            guard case .onAir(let selector) = id.kind else { preconditionFailure("\(id.text) is not on the air") }
            return selector
        }
        let limit = min(options.scanTimeout, left() ?? options.scanTimeout)
        let devices = try await session.scan(transport, for: limit) { Self.isEnough($0, for: selectors) }
        let matches = DeviceSelector.resolve(selectors, among: devices.compactMap(\.candidate))
        var findings: [Result<Found, Failure>] = []
        for (id, match) in zip(ids, matches) {
            switch match {
            case .device(let address):
                if address.description != id.device { tell("it is \(address)", of: id) }
                findings.append(.success(Found(device: address.description, address: address.description)))
            case .bootloader(let address):
                tell("it was not heard, but its bootloader \(address) was", of: id)
                findings.append(.success(Found(device: id.device, address: address.description)))
            case .none: findings.append(.failure(notFound(id, limit, devices)))
            case .several(let candidates): throw .ambiguous(id, candidates)
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
        let time = Quantities.decimal(limit / .seconds(1), 1)
        return Failure(
            .notFound, subject: id.device, phase: .scan, reason: "notFound",
            "it was not heard within \(time) s (\(heard)); switch it on, bring it closer, and end other connections to it"
        )
    }

    private func refuseTwins(_ ids: [DeviceID], _ findings: [Result<Found, Failure>]) throws(Failure) {
        var known: [String: DeviceID] = [:]
        for case (let id, .success(let found)) in zip(ids, findings) {
            if let other = known.updateValue(id, forKey: found.address) {
                throw .usage("'\(other.text)' and '\(id.text)' are the same device, \(found.address)")
            }
        }
    }

    /// What a command line without a device is told: which there are.
    func missingDevice() async -> Failure {
        let devices: [BlueZDevice]
        do throws(Failure) {
            let limit = min(options.scanTimeout, left() ?? options.scanTimeout)
            devices = try await session.scan(try await transport(), for: limit)
        } catch {
            return .usage(
                "--device is missing: which device is to be updated? Those in range cannot be listed: \(error.message)")
        }
        let list = devices.compactMap(\.candidate).map { "\($0.address) \($0.name ?? "(no name)")" }
        return .usage(
            "--device is missing: which device is to be updated? In range: "
                + (list.isEmpty ? "none" : list.joined(separator: ", ")))
    }
}

extension Failure {
    /// An ID that fits several devices.
    static func ambiguous(_ id: DeviceID, _ candidates: [DeviceSelector.Candidate]) -> Failure {
        let list = candidates.map { "\($0.address) \($0.name ?? "(no name)")" }.joined(separator: ", ")
        return Failure(
            .usage, subject: id.text, reason: "ambiguous",
            "\(candidates.count) devices fit: \(list); name one by its full address")
    }
}

extension Session {
    /// Listens for devices, until the limit or until there are enough.
    func scan(
        _ transport: BlueZTransport, for limit: Duration,
        until isEnough: @escaping @Sendable ([BlueZDevice]) -> Bool = { _ in false }
    ) async throws(Failure) -> [BlueZDevice] {
        do throws(TransportError) {
            return try await transport.scan(for: limit, until: isEnough)
        } catch {
            throw failure(error, phase: .scan)
        }
    }

    /// What an error of the transport is to the command.
    func failure(_ error: TransportError, subject: String? = nil, phase: Phase? = nil) -> Failure {
        let update = UpdateError(error, phase: phase ?? .connect, deviceState: .asBefore)
        let status = ExitStatus(update.code)
        return Failure(
            error.code == .cancelled ? interruption() ?? status : status, subject: subject, phase: phase,
            reason: update.reason, error.message)
    }
}
