import DFUKit
import DFUSimulator
import DFUTransport

/// A device that is connected for the time of a verb.
struct ConnectedDevice: Sendable {
    /// What it is called: its full address, or a simulated one's ID without options.
    var device: String
    /// How it was typed.
    var id: String
    var peripheral: any Peripheral
    /// The clock of its time.
    var clock: any Clock<Duration> = ContinuousClock()

    /// Finds the device, connects, and disconnects however `body` ends, unless it was connected already. `--timeout` bounds
    /// all of it. A recorder writes down all that is said with the device.
    static func use<Value: Sendable>(
        _ id: DeviceID, _ options: ConnectionOptions, _ session: Session, recorder: CaptureRecorder?,
        log: @escaping @Sendable (String) -> Void,
        _ body: @escaping @Sendable (ConnectedDevice) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await session.within(options.timeout, of: id) { left throws(Failure) in
            switch id.kind {
            case .simulated(let simulated):
                let target = try SimulatedTarget(simulated, profile: .band)
                let transport = target.transport.captured(by: recorder, on: target.clock, as: simulated.device)
                let work: @Sendable () async -> Result<Value, Failure> = {
                    await outcome { () throws(Failure) in
                        try await connect(to: target.address, id, over: transport, options, session, log) {
                            device throws(Failure) in
                            var device = device
                            device.device = simulated.device
                            device.clock = target.clock
                            return try await body(device)
                        }
                    }
                }
                let result = if let world = target.world { await world.run(work) } else { await work() }
                try target.finish()
                return try result.get()
            case .onAir:
                let finder = DeviceFinder(options: options, session: session, left: left, log: log)
                let transport = try await finder.transport()
                let found = try await finder.find([id], over: transport)[0].get()
                let air = transport.captured(by: recorder, on: ContinuousClock(), as: found.address)
                return try await connect(to: found.address, id, over: air, options, session, log, body)
            }
        }
    }

    private static func connect<Value: Sendable>(
        to address: String, _ id: DeviceID, over transport: any Transport, _ options: ConnectionOptions,
        _ session: Session, _ log: @Sendable (String) -> Void,
        _ body: @Sendable (ConnectedDevice) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let peripheral = try await peripheral(at: address, over: transport, options, session, log)
        let connected = ConnectedDevice(device: address, id: id.text, peripheral: peripheral)
        if peripheral.wasConnected {
            // Another program may need it; what this one has of it ends with the connection to the bus.
            session.console.report(
                "dfu: \(address): it is connected already, by another program or an earlier run: that connection is used, "
                    + "and stays")
            return try await body(connected)
        }
        let result = await outcome { () throws(Failure) in try await body(connected) }
        await peripheral.disconnect()
        return try result.get()
    }

    private static func peripheral(
        at address: String, over transport: any Transport, _ options: ConnectionOptions, _ session: Session,
        _ log: @Sendable (String) -> Void
    ) async throws(Failure) -> any Peripheral {
        var retriesLeft = options.connectRetries
        while true {
            do throws(TransportError) {
                return try await transport.connect(to: address, timeout: UpdateOptions().connectLimit)
            } catch {
                let isWorthATry = error.code == .connectFailed || error.code == .disconnected
                guard isWorthATry, retriesLeft > 0 else {
                    throw session.failure(error, subject: address, phase: .connect)
                }
                retriesLeft -= 1
                log("\(address): connecting failed (\(error.message)); trying again, \(retriesLeft) more times at most")
            }
        }
    }

    private static func outcome<Value>(
        _ body: () async throws(Failure) -> Value
    ) async -> Result<Value, Failure> {
        do throws(Failure) {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}

extension Transport {
    /// The same transport, with all that is said over it written down where there is a recorder.
    fileprivate func captured(
        by recorder: CaptureRecorder?, on clock: any Clock<Duration>, as device: String
    ) -> any Transport {
        guard let recorder else { return self }
        recorder.noteDevice(device)
        recorder.measure(on: clock)
        return CapturingTransport(self, recorder: recorder, capturesPackets: true)
    }
}

extension Session {
    /// Does `body` within a limit; it is cancelled when that is over, and told what is left of it meanwhile.
    func within<Value: Sendable>(
        _ limit: Duration?, of id: DeviceID,
        _ body: @escaping @Sendable (_ left: @escaping @Sendable () -> Duration?) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let end = limit.map { ContinuousClock.now + $0 }
        let left: @Sendable () -> Duration? = { end.map { max(ContinuousClock.now.duration(to: $0), .zero) } }
        let result: Result<Value, Failure> = await withTaskGroup { group in
            group.addTask { () -> Result<Value, Failure>? in
                do throws(Failure) {
                    return .success(try await body(left))
                } catch {
                    return .failure(error)
                }
            }
            if let end {
                group.addTask { () -> Result<Value, Failure>? in
                    try? await ContinuousClock().sleep(until: end)
                    return nil
                }
            }
            var isOver = false
            while let next = await group.next() {
                group.cancelAll()
                guard let result = next else {
                    isOver = interruption() == nil
                    continue
                }
                guard isOver, case .failure = result, let limit else { return result }
                return .failure(
                    Failure(
                        .link, subject: id.device, reason: "timeLimit",
                        "the limit of \(limit) for the whole command passed; allow more time, or try again"))
            }
            preconditionFailure("the work always gives a result")
        }
        return try result.get()
    }
}
