import DFUKit
import DFUProtocol
import DFUTransport

/// What a verb does with one device, told to people or to programs.
struct DeviceWork: Sendable {
    let id: DeviceID
    let connection: ConnectionOptions
    let output: OutputOptions
    let session: Session

    /// Connects, does `body`, disconnects, and tells how it ended.
    ///
    /// - Parameter body: Tells people what they want to hear; its result is for programs.
    func run(
        _ body: @escaping @Sendable (ConnectedDevice) async throws(Failure) -> JSONLine.Result
    ) async throws(Failure) -> ExitStatus {
        try await tell { () throws(Failure) in
            try await connected(status: \.result.status) { device throws(Failure) in
                // The address stands there before the first write.
                line(.phase(.discover, part: 1, parts: 1), of: device.device)
                do throws(Failure) {
                    return (device.device, try await body(device))
                } catch {
                    var failure = error
                    failure.subject = failure.subject ?? device.device
                    throw failure
                }
            }
        }
    }

    /// Does `body` with the connected device; a capture ends with the `status` that its value means.
    func connected<Value: Sendable>(
        status: (Value) -> ExitStatus = { _ in .ok },
        _ body: @escaping @Sendable (ConnectedDevice) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let isShown = output.progress.resolved(for: session.terminal, json: output.json) == .bar
        if isShown {
            session.console.show({ ProgressBar.State(name: id.device, phase: Phase.connect.rawValue) }, at: 0)
        }
        defer { session.console.hideLine(at: 0) }
        var capture: CaptureFile?
        if let pattern = connection.capture { capture = try CaptureFile(CaptureName.names(pattern, for: [id])[0]) }
        let recorder = capture?.recorder { _, message in
            session.console.report("dfu: \(id.device): warning: \(message)".printable)
        }
        do throws(Failure) {
            let value = try await ConnectedDevice.use(id, connection, session, recorder: recorder, log: log) {
                device throws(Failure) in
                session.console.hideLine(at: 0)
                return try await body(device)
            }
            if let capture, let recorder { await capture.end(recorder, status(value)) }
            return value
        } catch {
            if let capture, let recorder { await capture.end(recorder, error.status, because: error.message) }
            throw error
        }
    }

    /// Does `body`, and tells programs how it ended: with the device that it was about, as far as that was found.
    func tell(
        _ body: () async throws(Failure) -> (device: String, result: JSONLine.Result)
    ) async throws(Failure) -> ExitStatus {
        if let file = output.logFile { try session.console.openLog(file) }
        if output.json { session.console.result(JSONLine(.start(version: Version.current)).text) }
        let begin = ContinuousClock.now
        func end(_ result: JSONLine.Result, of device: String) {
            var result = result
            result.seconds = begin.duration(to: .now) / .seconds(1)
            line(.result(result), of: device)
        }
        do {
            let (device, result) = try await body()
            end(result, of: device)
            return result.status
        } catch {
            let device = error.subject.flatMap(BluetoothAddress.init)?.description ?? id.device
            var result = JSONLine.Result(status: error.status, message: error.message(about: device))
            result.reason = error.reason
            result.phase = error.phase
            end(result, of: device)
            throw error
        }
    }

    /// Tells programs what happened.
    func line(_ event: JSONLine.Event, of device: String) {
        guard output.json else { return }
        let device = JSONLine.Device(device: device, id: id.text, address: device, isSimulated: id.isSimulated)
        session.console.result(JSONLine(event, device: device).text)
    }

    /// Tells people a result; programs hear of it otherwise.
    func say(_ text: String) {
        guard !output.json else { return }
        session.console.result(text)
    }

    /// Tells a line for whoever looks for the cause of trouble.
    func log(_ text: String) {
        session.console.log("\(id.device): \(text)".printable, isShown: output.verbosity >= 1)
    }

    /// Tells what is written or heard.
    func packet(_ text: String) {
        session.console.log("\(id.device): \(text)", isShown: output.verbosity >= 2)
    }

    /// What an error of the transport is, about this device.
    func failure(_ error: TransportError, of device: String, while doing: String) -> Failure {
        var failure = session.failure(error, subject: device)
        if let code = error.attCode {
            failure.message = "\(doing): it answered with the ATT error \(AttributeErrorCode(rawValue: code))"
        } else if error.code == .attributeError || error.code == .timeout {
            failure.message = "\(doing): \(error.message)"
        }
        return failure
    }
}

extension ConnectedDevice {
    /// Its services, as soon as `isEnough` of them are there: some come a moment after the connection.
    func services(until isEnough: @escaping @Sendable ([GATTService]) -> Bool) async -> [GATTService] {
        await peripheral.services(within: .seconds(3), until: isEnough)
    }
}

extension DeviceID {
    /// Nothing: the value of an argument that is not read yet.
    static let none = DeviceID(text: "", kind: .onAir(.name("")))
}

extension Verb {
    /// How a characteristic is named.
    static let characteristicHelp =
        "A characteristic is named by its UUID of 4, 8 or 32 digits, or where several services have it, as "
        + "SERVICE/CHARACTERISTIC; 'dfu inspect' lists them."

    /// What the verbs for one device can end with.
    static let benchStatuses: [ExitStatus] = [
        .ok, .usage, .input, .notFound, .environment, .internal, .output, .link, .refused, .permission, .config,
    ]
}
