internal import DFUPackage
internal import DFUProtocol
internal import DFUTransport

extension DeviceSession {
    /// How the device is to be updated.
    enum Choice {
        case blockAck
        /// The device shows this, and these parts go to it.
        case secure(DetectedProtocol, [SecurePart])
    }

    /// Chooses by what the connected device shows, by what was asked for, and by what the package is for.
    func choose(_ preflight: Preflight) async throws(UpdateError) -> Choice {
        while true {
            teller.enter(.discover)
            let profile = updater.profile
            // Whoever names block-ack knows better than services do.
            if updater.options.method == .blockAck { return .blockAck }
            let services = await services { !DetectedProtocol.all(in: $0, profile: profile).isEmpty }
            let shown = DetectedProtocol.all(in: services, profile: profile)
            if let choice = try preflight.choice(among: shown) { return choice }
            try await learnServicesAnew(because: preflight.lack(in: services))
        }
    }
}

extension Preflight {
    /// The one protocol that can come into question; nil where the device decides.
    var onlyProtocol: String? {
        switch options.method {
        case .blockAck: BlockAckUpdate.protocolName
        case .secure: SecureUpdate.protocolName
        case .automatic: package.kind == .nordicSecure ? nil : BlockAckUpdate.protocolName
        }
    }

    /// The surest of these protocols that the package can go by; nil where there is none to choose from.
    ///
    /// - Throws: what is wrong with the package for the surest one, where it can go by none.
    func choice(among shown: [DetectedProtocol]) throws(UpdateError) -> DeviceSession.Choice? {
        var refusal: UpdateError?
        for found in shown {
            do throws(UpdateError) {
                switch found {
                case .secureBootloader, .secureApplication: return .secure(found, try secureParts())
                case .legacy where options.method == .automatic: throw DeviceModes.notYet("Legacy DFU")
                case .smp where options.method == .automatic: throw DeviceModes.notYet("SMP")
                case .blockAck where options.method == .automatic:
                    // With nothing surer, its own words are the best.
                    if refusal == nil { return .blockAck }
                    _ = try blockAckImage()
                    return .blockAck
                case .legacy, .smp, .blockAck: continue
                }
            } catch {
                refusal = refusal ?? error
            }
        }
        if let refusal { throw refusal }
        return nil
    }

    /// What a device with these services lacks to be updated in the way that is asked for.
    func lack(in services: [GATTService]) -> TransportError {
        let hasService = services.contains { $0.uuid == SecureDFU.Attributes.service }
        if options.method != .secure, !hasService {
            do throws(TransportError) {
                _ = try profile.bindings(in: services)
            } catch {
                return error
            }
        }
        return DetectedProtocol.lack(in: services)
    }
}
