import DFUSimulator
import DFUTransport
private import Glibc

/// `dfu simulate` at work: the bus, what is on it, and the command that uses it.
struct SimulateRun: Sendable {
    private let simulate: Simulate
    private let session: Session

    init(_ simulate: Simulate, _ session: Session) {
        self.simulate = simulate
        self.session = session
    }

    func run() async throws(Failure) -> ExitStatus {
        if simulate.json { session.console.result(JSONLine(.start(version: Version.current)).text) }
        let devices = try devices()
        if let socket = simulate.radio { return try await run(devices, behind: socket) }
        let script = try script()
        let bus = try await MessageBus.start(environment: session.environment)
        let result: Result<ExitStatus, Failure>
        do throws(Failure) {
            result = .success(try await run(devices, script, on: bus))
        } catch {
            result = .failure(error)
        }
        await bus.stop()
        return try result.get()
    }

    private func run(
        _ devices: [Device], _ script: BlueZFaultScript, on bus: MessageBus
    ) async throws(Failure) -> ExitStatus {
        let blueZ: SimulatedBlueZ
        do throws(DBusError) {
            blueZ = try await play(devices, on: bus)
        } catch {
            throw Failure(.environment, "the simulated BlueZ cannot come to its bus: \(error.message)")
        }
        await blueZ.play(script) { bus.end() }
        let status: ExitStatus
        if simulate.command.isEmpty {
            tell(bus)
            tell(devices)
            await untilStopped()
            status = session.interruption() ?? .ok
        } else {
            status = try await runCommand(["DBUS_SYSTEM_BUS_ADDRESS": bus.address])
        }
        for device in devices { try device.keeper.finish(blueZ.device(device.address)) }
        return status
    }

    /// The same devices where the machine's own BlueZ hears them.
    private func run(_ devices: [Device], behind socket: String) async throws(Failure) -> ExitStatus {
        let radio: EmulatedRadio
        do throws(RadioError) {
            radio = try EmulatedRadio(
                socket: socket, devices: devices.map(\.advertised), observer: observer(of: devices))
            try await radio.start()
        } catch {
            throw Failure(.environment, subject: socket, "there is no emulated radio: \(error.message)")
        }
        let status: ExitStatus
        if simulate.command.isEmpty {
            tell(devices)
            await radio.untilGone()
            guard let interruption = session.interruption() else {
                throw Failure(.environment, subject: socket, "the emulated radio has ended")
            }
            status = interruption
        } else {
            status = try await runCommand([:])
        }
        await radio.close()
        for device in devices { try device.keeper.finish(await radio.device(device.address)) }
        return status
    }

    // MARK: Devices

    private struct Device {
        var id: AdvertisedDeviceID
        var address: String
        var keeper: any DeviceKeeping

        var name: String { id.name ?? keeper.device.advertisements.first?.name ?? "Band" }

        var advertised: AdvertisedDevice {
            var advertised = AdvertisedDevice(keeper.device, name: name)
            advertised.radio = id.device.radio
            advertised.takesHostsInterval = id.device.interval == nil
            if let rssi = id.rssi { advertised.rssi = Int16(rssi) }
            if id.device.kind == .secure, id.device.secure.buttonless == .bonded {
                // The bootloader shares the application's bond.
                advertised.pairing = DevicePairing(.justWorks, of: SecureDevice.bondedCharacteristics)
            }
            return advertised
        }

        var described: JSONLine.Device {
            JSONLine.Device(device: address, id: id.text, address: address, isSimulated: true)
        }
    }

    private func devices() throws(Failure) -> [Device] {
        var devices: [Device] = []
        for (id, address) in zip(simulate.devices, simulate.addresses) {
            let keeper = try id.device.keeper(address: address, name: id.name, profile: .band)
            // It may be in its bootloader already.
            devices.append(Device(id: id, address: keeper.device.address, keeper: keeper))
        }
        return devices
    }

    private func script() throws(Failure) -> BlueZFaultScript {
        guard let path = simulate.faults else { return BlueZFaultScript() }
        let bytes = try InputFile.read(path)
        do throws(FaultScriptError) {
            return try BlueZFaultScript(json: bytes)
        } catch {
            throw Failure(.config, subject: path, error.message)
        }
    }

    private func play(_ devices: [Device], on bus: MessageBus) async throws(DBusError) -> SimulatedBlueZ {
        var settings = BlueZSettings()
        settings.disconnectDelay = simulate.disconnectDelay
        let adapters = simulate.adapters.enumerated().map { number, name in
            SimulatedAdapter(name, address: "00:1A:7D:DA:71:" + String(0x13 + number, radix: 16))
        }
        let blueZ = SimulatedBlueZ(
            on: try await DBusConnection.open(bus.address), adapters: adapters, devices: devices.map(\.advertised),
            settings: settings, observer: observer(of: devices))
        try await blueZ.start()
        return blueZ
    }

    private func observer(of devices: [Device]) -> @Sendable (SimulatedEvent, any SimulatedDevice) -> Void {
        { event, device in
            guard let place = devices.first(where: { $0.address == event.address }) else { return }
            place.keeper.keep(device)
            tell(event, of: place)
        }
    }

    // MARK: What is told

    private func tell(_ bus: MessageBus) {
        let line = JSONLine(.bus(address: bus.address)).text
        session.console.result(simulate.json ? line : "DBUS_SYSTEM_BUS_ADDRESS=" + bus.address)
    }

    private func tell(_ devices: [Device]) {
        for device in devices {
            if simulate.json {
                session.console.result(JSONLine(.device(name: device.name), device: device.described).text)
            }
            if !simulate.json || simulate.verbosity > 0 {
                session.console.report("\(device.address): \(device.name) (\(device.id.text))".printable)
            }
        }
    }

    private func tell(_ event: SimulatedEvent, of device: Device) {
        guard let word = event.kind.word else { return }
        if simulate.json { session.console.result(JSONLine(.simulated(word), device: device.described).text) }
        if simulate.verbosity > 0 { session.console.report("\(device.address): \(word)") }
    }

    // MARK: The time while it is there

    /// Waits for the signal that stops the program.
    private func untilStopped() async {
        let (never, continuation) = AsyncStream.makeStream(of: Never.self)
        for await _ in never {}
        continuation.finish()
    }

    /// Runs the command, with these variables besides its own.
    private func runCommand(_ variables: [String: String]) async throws(Failure) -> ExitStatus {
        let environment = session.environment.merging(variables) { $1 }
        let child = try ChildProcess(simulate.command, environment: environment)
        let status = await withTaskCancellationHandler {
            await child.status()
        } onCancel: {
            // What is typed at the terminal has reached it already.
            guard let signal = session.interruption()?.signal, !Terminal.sends(signal) else { return }
            child.signal(signal)
        }
        session.foreignStatus.withLock { $0 = status }
        return .ok
    }
}

extension SimulatedEvent.Kind {
    /// What it is called where devices' packets are not told; nil for those.
    fileprivate var word: String? {
        switch self {
        case .connected: "connected"
        case .disconnected: "disconnected"
        case .wentDown: "down"
        case .rebooted: "rebooted"
        case .written, .notified: nil
        }
    }
}

extension ExitStatus {
    /// The signal that it tells of.
    fileprivate var signal: Int32? {
        switch self {
        case .hangup, .interrupt, .terminate: rawValue - 128
        default: nil
        }
    }
}

extension Terminal {
    /// Whether the terminal sends this signal to all programs that it runs together with this one.
    fileprivate static func sends(_ signal: Int32) -> Bool {
        guard signal != SIGTERM else { return false }
        let terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC)
        guard terminal >= 0 else { return false }
        defer { close(terminal) }
        return tcgetpgrp(terminal) == getpgrp()
    }
}
