import DFUKit
import DFUPackage
import DFUTransport

/// The update of one device, in its turn.
struct DeviceUpdate: Sendable {
    let target: any TargetDevice
    let package: Package
    let profile: DeviceProfile
    let options: UpdateOptions
    let checkpoints: CheckpointStore?
    let time: RunTime
    let reporter: DeviceReporter
    /// Where it is written down.
    let capture: CaptureFile?
    /// The status that the user's signal asks for.
    let interruption: @Sendable () -> ExitStatus?

    /// Runs it to its end, and tells how it goes.
    func run() async -> JSONLine.Result {
        let begin = time.elapsed
        let recorder = capture?.recorder { reporter.warning(reason: $0, $1) }
        var result = await update(recorder)
        result.seconds = (time.elapsed - begin) / .seconds(1)
        if let capture, let recorder { await capture.end(recorder, result.status) }
        reporter.end(result)
        return result
    }

    private func update(_ recorder: CaptureRecorder?) async -> JSONLine.Result {
        var result: JSONLine.Result
        do throws(UpdateError) {
            result = JSONLine.Result(try await report(recorder))
            do throws(Failure) {
                try target.finish()
            } catch {
                result.status = error.status
                result.message += "; \(error.message(about: nil))"
            }
        } catch {
            var error = error
            if error.code == .timeout, let limit = time.limit {
                // The library knows only what was left of it for this device.
                error.message = "the limit of \(limit) for the whole command passed; allow more time, or try again"
            }
            result = JSONLine.Result(error, interruption: interruption())
            result.bytes = reporter.bytes
            try? target.finish()
        }
        return result
    }

    private func report(_ recorder: CaptureRecorder?) async throws(UpdateError) -> UpdateReport {
        var options = options
        options.timeLimit = time.left
        let updater = Updater(
            transport: target.transport, profile: profile, options: options, checkpoints: checkpoints,
            clock: target.clock)
        var observer = reporter.observer
        observer.capture = recorder
        return try await target.run { [observer] () async throws(UpdateError) -> UpdateReport in
            try await updater.update(target.device, at: target.address, with: package, observer: observer)
        }
    }
}
