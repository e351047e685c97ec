internal import DFUProtocol
internal import DFUTransport

extension DeviceSession {
    /// Runs a procedure on the link, and again over a new link as long as losing it can be repaired.
    ///
    /// - Parameters:
    ///   - after: Hears how each try ended; whether it brought anything new.
    ///   - reopen: Makes the link anew, in place of `reopen()`.
    func persist<P: CapturedProcedure>(
        _ make: (any Link) -> P, after: (P) -> Bool = { _ in false },
        reopen: (() async throws(UpdateError) -> Void)? = nil
    ) async throws(UpdateError) -> P.Outcome {
        while true {
            guard let link else { preconditionFailure("a procedure runs on an open link") }
            var procedure = make(link)
            let result = await drive(&procedure, over: link)
            let gained = after(procedure)
            switch result {
            case .success(let outcome): return outcome
            case .failure(let error):
                try throwMachineFailure()
                guard error.code == .linkLost else { throw failure(error) }
                try noteLoss(gained: gained)
                if let reopen { try await reopen() } else { try await self.reopen() }
            }
        }
    }

    /// Runs a procedure on the link once.
    func run<P: CapturedProcedure>(_ procedure: P) async throws(UpdateError) -> P.Outcome {
        guard let link else { preconditionFailure("a procedure runs on an open link") }
        var procedure = procedure
        let result = await drive(&procedure, over: link)
        switch result {
        case .success(let outcome): return outcome
        case .failure(let error):
            try throwMachineFailure()
            throw failure(error)
        }
    }

    private func drive<P: CapturedProcedure>(
        _ procedure: inout P, over link: any Link
    ) async -> Result<P.Outcome, ProcedureError> {
        guard let recorder = observer.capture else {
            return await DFUKit.run(&procedure, over: link, clock: updater.clock, observer: procedureObserver)
        }
        var recording = recorder.recording(procedure, in: rules.dialect)
        defer { procedure = recording.procedure }
        return await DFUKit.run(&recording, over: link, clock: updater.clock, observer: procedureObserver)
    }

    /// What a procedure says of a device that could not be written to is not why it failed.
    private func throwMachineFailure() throws(UpdateError) {
        if let error = machineFailure.withLock({ $0.take() }) { throw failure(error) }
    }

    private var procedureObserver: ProcedureObserver {
        let teller = teller
        let machineFailure = machineFailure
        return ProcedureObserver(
            progress: { teller.advance($0, $1) }, log: observer.log, packet: observer.packet,
            writeFailure: { error in
                guard error.code == .environment || error.code == .permission else { return }
                machineFailure.withLock { $0 = error }
            })
    }
}

// MARK: Telling

extension DeviceSession {
    func log(_ line: String) {
        observer.capture?.remark(line)
        observer.log?(line)
    }

    func warn(_ reason: String, _ message: String) {
        observer.capture?.remark(message)
        observer.warning?(UpdateWarning(reason: reason, message: message))
    }

    func failure(_ error: TransportError) -> UpdateError {
        var failure = UpdateError(error, phase: teller.phase, deviceState: deviceState)
        if error.code == .cancelled { failure.message = stopMessage }
        return failure
    }

    func failure(_ error: ProcedureError) -> UpdateError {
        let isUndecided = isUndecided && error.code != .refused
        var failure = UpdateError(error, phase: teller.phase, deviceState: isUndecided ? .unknown : deviceState)
        if error.code == .aborted, failure.deviceState == .bootloader { failure.message = stopMessage }
        return failure
    }

    private var stopMessage: String {
        switch deviceState {
        case .asBefore: "stopped; the device goes on with the firmware that it runs"
        case .bootloader: "stopped on the way; run the same command to go on"
        case .updated, .unknown: "stopped; the device has the whole image, and whether it runs was not looked at"
        }
    }

    func unverified(_ message: String) -> UpdateError {
        UpdateError(.unverified, phase: teller.phase, message: message, deviceState: deviceState)
    }
}
