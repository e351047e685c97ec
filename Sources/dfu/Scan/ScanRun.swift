import DFUProtocol
import DFUTransport

/// `dfu scan` at work.
struct ScanRun: Sendable {
    /// How often it is looked whether there is something new to tell.
    private static let pace = Duration.milliseconds(250)

    private let scan: Scan
    private let session: Session
    private let profile: DeviceProfile
    private let teller: ScanTeller
    /// What BlueZ shows now.
    private let heard = Locked<[BlueZDevice]>([])

    init(_ scan: Scan, _ session: Session, profile: DeviceProfile) {
        self.scan = scan
        self.session = session
        self.profile = profile
        teller = ScanTeller(Self.style(of: scan, session.terminal), session.console)
    }

    private static func style(of scan: Scan, _ terminal: Terminal) -> ScanTeller.Style {
        guard !scan.output.json else { return scan.watches ? .json : .atEnd }
        let progress = scan.output.progress.resolved(for: terminal, json: false)
        // A log would be written across a list that is redrawn.
        if progress == .bar, Terminal.isOutputTerminal, scan.output.verbosity == 0 { return .redrawn }
        return scan.watches ? .lines : .atEnd
    }

    func run() async throws(Failure) -> ExitStatus {
        guard scan.output.json, scan.watches else { return try await listen() }
        session.console.result(JSONLine(.start(version: Version.current)).text)
        func end(_ status: ExitStatus, reason: String? = nil, _ message: String) {
            let result = JSONLine.Result(status: status, reason: reason, message: message)
            session.console.result(JSONLine(.result(result)).text)
        }
        do throws(Failure) {
            let status = try await listen()
            end(status, "the scan is over")
            return status
        } catch {
            end(error.status, reason: error.reason, error.message)
            throw error
        }
    }

    // MARK: Listening

    private func listen() async throws(Failure) -> ExitStatus {
        let begin = ContinuousClock.now
        let end = limit.map { begin + $0 }
        let finder = DeviceFinder(options: scan.connection, session: session, left: { scan.connection.timeout }) {
            line in
            session.console.log(line.printable, isShown: scan.output.verbosity >= 1)
        }
        let transport = try await finder.transport()
        let result = await listen(over: transport, until: end)
        let status = session.interruption()
        if case .failure(let error) = result, error.code != .cancelled || status == nil {
            throw session.failure(error, phase: .scan)
        }
        finish(transport.adapter, after: begin.duration(to: .now), status ?? .ok)
        return status ?? .ok
    }

    /// How long to listen; nil: until a signal.
    private var limit: Duration? {
        let options = scan.connection
        let limits = [scan.watches ? options.scanLimit : options.scanTimeout, options.timeout]
        return limits.compactMap(\.self).min()
    }

    private func listen(
        over transport: BlueZTransport, until end: ContinuousClock.Instant?
    ) async -> Result<Void, TransportError> {
        await withTaskGroup { group in
            group.addTask { () -> Result<Void, TransportError>? in
                let left = end.map { max(ContinuousClock.now.duration(to: $0), .zero) }
                do throws(TransportError) {
                    let devices = try await transport.scan(for: left ?? .seconds(1_000_000_000)) { devices in
                        heard.withLock { $0 = devices }
                        return false
                    }
                    heard.withLock { $0 = devices }
                    return .success(())
                } catch {
                    return .failure(error)
                }
            }
            group.addTask { () -> Result<Void, TransportError>? in
                await session.console.waitForOutputEnd()
                return .success(())
            }
            group.addTask { () -> Result<Void, TransportError>? in
                repeat {
                    teller.tell(devices, title: title(transport.adapter, until: end))
                } while (try? await ContinuousClock().sleep(for: Self.pace)) != nil
                return nil
            }
            var result: Result<Void, TransportError>?
            for await next in group {
                result = result ?? next
                group.cancelAll()
            }
            return result ?? .success(())
        }
    }

    /// What is asked for of what there is, in the order of the list.
    private var devices: [ScannedDevice] {
        heard.withLock(\.self).map { ScannedDevice($0, profile: profile) }.filter(scan.filter.admits)
            .sorted(by: ScannedDevice.order)
    }

    private func title(_ adapter: String, until end: ContinuousClock.Instant?) -> String {
        let count = devices.count { !$0.cached }
        let left = end.map { ", \(max(0, Int(ContinuousClock.now.duration(to: $0) / .seconds(1)))) s left" } ?? ""
        return "\(adapter) hears \(count == 0 ? "nothing yet" : "\(count) device\(count == 1 ? "" : "s")")\(left)"
    }

    // MARK: The end

    private func finish(_ adapter: String, after time: Duration, _ status: ExitStatus) {
        let devices = devices
        if scan.output.json, !scan.watches {
            let document = Document(
                ok: status == .ok, status: status.rawValue, adapter: adapter, seconds: time.inThousandths,
                devices: devices)
            session.console.result(JSONDocument.text(document))
        } else {
            teller.end(devices)
        }
        if status == .ok, devices.allSatisfy(\.cached) {
            let others = heard.withLock { $0.count { $0.isHeard || $0.isConnected } }
            let what =
                others == 0
                ? "nothing was heard" : "nothing that fits was heard (\(others) other\(others == 1 ? "" : "s"))"
            session.console.report("dfu: \(what) within \(Int((time / .seconds(1)).rounded())) s with \(adapter)")
        }
    }

    private struct Document: Encodable {
        var schema = 1
        var ok: Bool
        var status: Int32
        var adapter: String
        var seconds: Double
        var devices: [ScannedDevice]
    }
}

extension Duration {
    fileprivate var inThousandths: Double { ((self / .milliseconds(1)).rounded()) / 1000 }
}
