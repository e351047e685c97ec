public import DFUPackage
internal import DFUProtocol
public import DFUTransport

/// Asks a connected device what can be asked without changing anything on it, and predicts how an update would end.
///
/// Written are subscriptions, the battery question of block-ack, and a secure bootloader's `select`, which changes nothing
/// but the selected type. An application is not sent into its bootloader.
public struct DeviceCheck: Sendable {
    let package: Package
    let profile: DeviceProfile
    let options: UpdateOptions

    /// A check of `package` for devices of this profile, as an update with these options would go.
    public init(_ package: Package, profile: DeviceProfile, options: UpdateOptions) {
        self.package = package
        self.profile = profile
        self.options = options
    }

    var preflight: Preflight { Preflight(package: package, profile: profile, options: options) }

    /// Refuses what contradicts itself, whatever the device: the codes `.usage` and `.misconfigured`.
    public func checkOptions() throws(UpdateError) {
        do throws(UpdateError) {
            try Updater.preflight(package, profile: profile, options: options)
        } catch {
            if error.code == .usage || error.code == .misconfigured { throw error }
        }
    }

    /// Asks the device, which stays connected.
    ///
    /// What the device or the package is not fit for stands in the forecast; an error is what kept the device from being
    /// asked.
    public func ask(
        _ peripheral: any Peripheral, clock: any Clock<Duration> = ContinuousClock(),
        observer: ProcedureObserver = ProcedureObserver()
    ) async throws(UpdateError) -> UpdateForecast {
        let inquiry = Inquiry(peripheral: peripheral, clock: clock, observer: observer)
        var forecast = UpdateForecast()
        forecast.version = try await inquiry.version(profile)
        switch await choose(inquiry, &forecast) {
        case .blockAck?: try await askBlockAck(inquiry, &forecast)
        case .secure(let found, let parts)?: try await askSecure(inquiry, found, parts, &forecast)
        case nil: notePackage(&forecast)
        }
        return forecast
    }

    /// The way that an update would go; nil, and a point that says why, where there is none.
    private func choose(_ inquiry: Inquiry, _ forecast: inout UpdateForecast) async -> DeviceSession.Choice? {
        let profile = profile
        let services = await inquiry.services { !DetectedProtocol.all(in: $0, profile: profile).isEmpty }
        let shown = DetectedProtocol.all(in: services, profile: profile)
        do throws(UpdateError) {
            if options.method == .blockAck, shown.contains(.blockAck) { return .blockAck }
            if let choice = try preflight.choice(among: shown) { return choice }
            throw UpdateError(
                .refused, phase: .check, reason: "noKnownService",
                message: "it offers no update that this tool knows (\(preflight.lack(in: services).message)); a device "
                    + "with other UUIDs needs --profile")
        } catch {
            forecast.noteFailure(.protocol, error)
            return nil
        }
    }

    /// Whether the package is sound.
    func notePackage(_ forecast: inout UpdateForecast) {
        do throws(UpdateError) {
            try preflight.checkContent()
            forecast.note(.package, "no fault was found in \(package.fileName)")
        } catch {
            forecast.noteFailure(.package, error)
        }
    }
}

// MARK: - Block-ack

extension DeviceCheck {
    private func askBlockAck(_ inquiry: Inquiry, _ forecast: inout UpdateForecast) async throws(UpdateError) {
        let profile = profile
        forecast.protocolName = BlockAckUpdate.protocolName
        let link = try await inquiry.openLink { services throws(TransportError) in try profile.bindings(in: services) }
        if profile.identification == .battery {
            var query = BlockAck.BatteryQuery(by: profile.blockAck)
            do throws(UpdateError) {
                let level = try await inquiry.run(&query, over: link)
                forecast.note(.protocol, "block-ack, by its answer to the battery question")
                noteBattery(level, &forecast)
            } catch {
                guard error.code == .refused else { throw error }
                forecast.protocolName = nil
                forecast.noteFailure(.protocol, error)
            }
        } else {
            forecast.note(.protocol, "block-ack, as the profile \(profile.name) says")
        }
        notePackage(&forecast)
        do throws(UpdateError) {
            noteImage(try preflight.blockAckImage(), &forecast)
        } catch {
            forecast.noteFailure(.part, error)
        }
        forecast.noteUnknown(.interrupted, "the device says only when an update begins where it goes on")
    }

    private func noteBattery(_ level: BlockAck.BatteryLevel, _ forecast: inout UpdateForecast) {
        let minimum = profile.minimumBattery
        let isWaived = options.skippedChecks.contains(.battery)
        switch level {
        case .percent(let percent):
            forecast.battery = percent
            guard percent < minimum else {
                return forecast.note(.battery, "\(percent) %, and an update wants \(minimum) %")
            }
            let message = "its battery is at \(percent) %, and an update wants \(minimum) %"
            if isWaived { return forecast.note(.battery, message + ", which is waived") }
            forecast.noteFailure(
                .battery, UpdateError(.refused, phase: .check, reason: "batteryLow", message: message + "; charge it"))
        case .unknown:
            let message = "it does not tell its battery level"
            if isWaived { return forecast.note(.battery, message + ", which is waived") }
            forecast.noteFailure(
                .battery,
                UpdateError(
                    .refused, phase: .check, reason: "batteryUnknown",
                    message: message + "; --skip-check battery goes on without it"))
        }
    }

    private func noteImage(_ image: BlockAck.Image, _ forecast: inout UpdateForecast) {
        let announced = image.announcedVersion
        forecast.note(
            .part, "\(image.bytes.count) bytes, " + (announced.map { "version \($0)" } ?? "whatever runs now"))
        guard let announced else {
            return forecast.note(.version, runs(forecast) + "; the device is asked to take any")
        }
        guard let running = forecast.version.flatMap({ FileName($0, crc32: 0).version?.numbers }) else {
            return forecast.noteUnknown(.version, runs(forecast) + ", and a device takes only a newer one")
        }
        let numbers = [announced.major, announced.minor, announced.patch].map(Int.init)
        guard !(running + [0, 0]).prefix(3).lexicographicallyPrecedes(numbers) else {
            return forecast.note(.version, runs(forecast) + ", and the package's is newer")
        }
        forecast.noteFailure(
            .version,
            UpdateError(
                .refused, phase: .check, reason: "versionNotNewer",
                message: runs(forecast)
                    + ", and the package's version \(announced) is not newer; use a newer package, or "
                    + "--allow-downgrade"))
    }

    private func runs(_ forecast: UpdateForecast) -> String {
        forecast.version.map { "it runs \($0)" } ?? "it has no version to read"
    }
}
