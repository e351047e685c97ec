internal import DFUProtocol
internal import DFUTransport

/// A device that is an application at one time and a bootloader at another: where each is found, and the way between.
///
/// Used by one task from beginning to end.
final class DeviceModes {
    /// What became of an application that is looked for.
    enum Sighting {
        /// It is on the air; its version where that could be read.
        case running(version: String?)
        /// Something is on the air where an application of this bootloader is to be expected.
        case expected
        /// The device is in its bootloader, and connected.
        case bootloader
        /// Nothing was heard of it.
        case gone
    }

    /// So often in a row a device is sent into its bootloader.
    private static let mostJumps = 3
    /// How long one connection may take: what was heard may have been the last of it.
    private static let connectLimit = Duration.seconds(15)
    /// Between two looks, so that a failure at once does not spin.
    private static let pause = Duration.milliseconds(250)

    private let session: DeviceSession
    private var places: DevicePlaces
    /// The name that the bootloader is asked to advertise; nil when that did not go well.
    private var wantedName: String?
    private var jumps = 0
    /// Whether the services at the present address were learnt anew.
    private var hasLearntAnew = false

    init(_ session: DeviceSession) {
        self.session = session
        // Of a length that all bootloaders take, and no other device's.
        wantedName = "Dfu\(UInt32.random(in: 10_000...99_999))"
        places = DevicePlaces(
            device: session.device, address: session.address, others: session.updater.options.otherDevices)
    }

    private var returnLimit: Duration { session.updater.options.returnLimit }

    // MARK: Into the bootloader

    /// Comes to the bootloader of the device, which shows `found` now; when it returns, that is connected.
    func reachBootloader(from found: DetectedProtocol) async throws(UpdateError) {
        var found = found
        while true {
            var isBackSoon = false
            switch found {
            case .secureBootloader:
                places.loader = session.address
                session.deviceState = .bootloader
                jumps = 0
                return
            case .secureApplication(let buttonless): isBackSoon = try await !jump(by: buttonless)
            case .legacy: throw Self.notYet("Legacy DFU", deviceState: session.deviceState)
            case .smp, .blockAck: preconditionFailure("a bootloader is looked for by Secure DFU's services")
            }
            found = try await comeBack(places.hints(applicationAfter: isBackSoon ? .zero : .seconds(5)))
        }
    }

    /// Comes to the bootloader of a device that restarts, and may be its application afterwards.
    func reachBootloaderAgain() async throws(UpdateError) {
        await session.disconnect()
        let found = try await comeBack(places.hints(applicationAfter: .seconds(3)))
        try await reachBootloader(from: found)
    }

    /// Sends the application into its bootloader; false where it restarts because it does not take a name.
    private func jump(by buttonless: DetectedProtocol.Buttonless) async throws(UpdateError) -> Bool {
        jumps += 1
        guard jumps <= Self.mostJumps else {
            session.deviceState = .asBefore
            throw UpdateError(
                .refused, phase: session.teller.phase, reason: "staysInApplication",
                message: "it was sent into its bootloader \(Self.mostJumps) times, and came back as its application; "
                    + "restart it, and try again")
        }
        places.application = session.address
        places.keepsAddress = buttonless == .bonded
        try await session.openLink(phase: .enterBootloader) { _ in buttonless.bindings }
        let name = buttonless == .unbonded ? wantedName : nil
        switch try await session.persist({ _ in SecureDFU.Entry(settingName: name) }) {
        case .entering(let name):
            places.name = name
            session.deviceState = .bootloader
            await session.disconnect()
            return true
        case .nameUnwelcome:
            session.log("it does not take a name for its bootloader: entering without one")
            wantedName = nil
            places.name = nil
            jumps -= 1
            await session.disconnect()
            return false
        }
    }

    /// Waits for the device to come back as whatever it is, and connects to it.
    private func comeBack(_ hints: [DeviceHint]) async throws(UpdateError) -> DetectedProtocol {
        hasLearntAnew = false
        let elapsed = session.updater.clock.stopwatch()
        session.teller.enter(.reconnect)
        var hints = hints
        while true {
            let left = returnLimit - elapsed()
            guard left > .zero else { throw bootloaderNotFound() }
            do throws(TransportError) {
                session.address = try await locate(hints, within: left)
                try await session.connectOnce(within: min(Self.connectLimit, left))
                if let found = await detected() { return found }
                if hasLearntAnew, places.isGuess(session.address) {
                    session.log("\(session.address) is another device")
                    hints.removeAll { $0.address == session.address }
                }
                try await learnAnew()
            } catch {
                switch error.code {
                case .cancelled, .environment, .permission, .bondMismatch: throw session.failure(error)
                case .notFound, .connectFailed, .disconnected, .servicesUnresolved, .timeout, .missing,
                    .subscribeRefused, .attributeError:
                    session.log("not there yet (\(error.message))")
                }
            }
            await session.disconnect()
            try? await session.updater.clock.sleep(for: Self.pause)
        }
    }

    /// Where the device is that fits one of these.
    private func locate(_ hints: [DeviceHint], within limit: Duration) async throws(TransportError) -> String {
        if hints.count == 1, let address = hints[0].address, hints[0].services == nil, hints[0].patience == .zero {
            // There is nothing to choose from, and connecting waits for it; a bonded one may be heard by nobody else.
            return address
        }
        let address = try await session.transport.find(hints, timeout: limit)
        session.log("heard at \(address)")
        return address
    }

    /// What the device shows that has come back; nil for what cannot be it.
    private func detected() async -> DetectedProtocol? {
        let profile = session.updater.profile
        let mayBeApplication = session.address == places.application
        @Sendable func mode(_ services: [GATTService]) -> DetectedProtocol? {
            DetectedProtocol.all(in: services, profile: profile).first { found in
                switch found {
                case .secureBootloader, .legacy: true
                case .secureApplication: mayBeApplication
                case .smp, .blockAck: false
                }
            }
        }
        return mode(await session.services { mode($0) != nil })
    }

    /// Has the services learnt anew, once: what they were may be remembered.
    private func learnAnew() async throws(TransportError) {
        await session.disconnect()
        guard !hasLearntAnew else { return }
        hasLearntAnew = true
        if try await session.transport.forgetServices(of: session.address) == .forgotten {
            session.log("its services are looked for anew")
        }
    }

    private func bootloaderNotFound() -> UpdateError {
        UpdateError(
            .linkLost, phase: .reconnect, reason: "bootloaderNotFound",
            message:
                "its bootloader did not show within \(returnLimit); bring it closer, and run the same command again",
            deviceState: session.deviceState)
    }

    /// A protocol that this version has not.
    static func notYet(_ name: String, deviceState: UpdateError.DeviceState = .asBefore) -> UpdateError {
        UpdateError(
            .refused, phase: .discover, reason: "protocolNotYet",
            message: "it is updated by \(name), which is not in this version yet", deviceState: deviceState)
    }

    // MARK: Back to the application

    /// Looks for the application, and leaves it connected where that went well.
    func lookForApplication() async throws(UpdateError) -> Sighting {
        hasLearntAnew = false
        let elapsed = session.updater.clock.stopwatch()
        session.teller.enter(.reconnect)
        var wasHeard = false
        while true {
            let left = returnLimit - elapsed()
            guard left > .zero else { return wasHeard ? .running(version: nil) : .gone }
            do throws(TransportError) {
                session.address = try await locate(places.applicationHints, within: left)
                if places.isGuess(session.address) { return .expected }
                wasHeard = wasHeard || session.address != places.loader
                try await session.connectOnce(within: min(Self.connectLimit, left))
                let services = await session.services { !$0.isEmpty }
                let found = DetectedProtocol.all(in: services, profile: session.updater.profile)
                guard found.contains(.secureBootloader) else {
                    session.teller.enter(.confirm)
                    return .running(version: await session.readVersion())
                }
                if session.address != places.application || hasLearntAnew { return .bootloader }
                try await learnAnew()
            } catch {
                switch error.code {
                case .cancelled: throw session.failure(error)
                case .environment, .permission:
                    throw session.unverified("the device accepted it, but \(error.message)")
                case .bondMismatch where session.address == places.loader:
                    throw session.unverified("the device accepted it, but \(error.message)")
                case .bondMismatch:
                    session.warn(
                        "bondLost",
                        "its application is on the air, but has lost the keys of its pairing: dfu forget "
                            + "\(session.address), then pair it again")
                    return .running(version: nil)
                case .notFound, .connectFailed, .disconnected, .servicesUnresolved, .timeout, .missing,
                    .subscribeRefused, .attributeError:
                    session.log("not back yet (\(error.message))")
                }
            }
            await session.disconnect()
            try? await session.updater.clock.sleep(for: Self.pause)
        }
    }
}
