import DFUKit
import DFUProtocol
import DFUSimulator
import DFUTransport
import TestSupport

/// One update by Secure DFU in virtual time, of a device to which faults happen, and what it left behind.
struct SecureBreak {
    /// A device and the radio to it.
    struct Kind: Sendable {
        var name: String
        var settings = SecureDevice.Settings()
        var radio = RadioModel(dataLength: 251, mtu: 247)
        var options = UpdateOptions()

        init(_ name: String, adjust: (inout Kind) -> Void = { _ in }) {
            self.name = name
            // The new application's version is its number, so that it is told from this one.
            settings.version = "0.9"
            adjust(&self)
        }
    }

    /// Something that a fault can befall.
    struct Moment: Sendable, CustomStringConvertible {
        var side: SecureFaultPlace.Side
        /// Its number on its side.
        var number: Int
        /// What the request or the answer is about.
        var operation: SecureFaultPlace.Operation?
        /// Whether it is the last `execute` or the answer to it.
        var isLast = false
        /// Whether it is before the init packet's `execute` was answered.
        var isInitPacket = false

        var description: String { "\(number) \(operation?.rawValue ?? "")" }

        /// Whether it is between a host and an application.
        var isEntry: Bool { operation == .enter || operation == .setName }
    }

    let result: Result<UpdateReport, UpdateError>
    let device: SecureDevice
    let events: [SimulatedEvent]
    let progress: [UpdateProgress]
    let log: [String]

    init(of kind: Kind, _ faults: [SecureFault] = [], to package: Package) async {
        let device = FaultySecureDevice(SecureDevice(kind.settings), faults: SecureFaultScript(faults))
        let script = UpdateScript(
            device: device.address, package: package, profile: .band, options: kind.options)
        let end = await script.run(device, kind.radio)
        guard let left = end.device as? FaultySecureDevice else {
            preconditionFailure("the device is the one that was put there")
        }
        self.device = left.device
        result = end.result
        events = end.events
        (progress, log) = script.told.withLock { ($0.progress, $0.log) }
    }

    /// All that faults could have befallen, in its order.
    var moments: [Moment] {
        var moments: [Moment] = []
        var numbers: [SecureFaultPlace.Side: Int] = [:]
        func append(_ side: SecureFaultPlace.Side, _ operation: SecureFaultPlace.Operation? = nil) {
            numbers[side, default: 0] += 1
            let isInitPacket = !moments.contains { $0.side == .answer && $0.operation == .execute }
            moments.append(
                Moment(
                    side: side, number: numbers[side, default: 0], operation: operation, isInitPacket: isInitPacket))
        }
        var isAsked = false
        for event in events {
            switch event.kind {
            case .written(_, to: SecureDFU.Attributes.packet): append(.packet)
            case .written(let bytes, to: let characteristic):
                isAsked = true
                append(.request, SecureFaultPlace.Operation(request: bytes, to: characteristic))
            case .notified(let bytes, from: let characteristic):
                let operation = SecureFaultPlace.Operation(request: Array(bytes.dropFirst()), to: characteristic)
                append(.answer, operation == .checksum && !isAsked ? .receipt : operation)
                isAsked = false
            default: continue
            }
        }
        for side in [SecureFaultPlace.Side.request, .answer] {
            if let last = moments.lastIndex(where: { $0.side == side && $0.operation == .execute }) {
                moments[last].isLast = true
            }
        }
        return moments
    }

    /// What happened, in a line.
    var summary: String {
        let end =
            switch result {
            case .success(let report): "\(report.verdict)"
            case .failure(let error):
                "\(error.code), \(error.reason ?? "-"), \(error.phase), \(error.deviceState): \(error.message)"
            }
        return end + (device.isInBootloader ? "; in its bootloader" : "; in its application")
    }
}
