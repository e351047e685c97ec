import DFUTransport
import TestSupport

/// A kernel's management of Bluetooth that keeps what it is asked, and answers as the test wants.
final class ScriptedKernel: ManagementChannel {
    /// What happened, in its order.
    enum Event: Sendable, Hashable {
        case asked(ManagementCommand)
        case connected(String)
        case disconnected(String)
    }

    /// What it is like.
    struct Script: Sendable {
        /// Its version is 1 and this.
        var revision: UInt8 = 22
        /// The address of its adapter.
        var address: [UInt8] = [0x00, 0x1A, 0x7D, 0xDA, 0x71, 0x13]
        /// What each command with this number fails with.
        var failures: [UInt16: ManagementError] = [:]
        /// Its default for adapters, in the controller's units.
        var defaults: [UInt8] = [0x10, 0x20, 0, 0x64]
        /// The PHYs that are selected.
        var selectedPHYs: [UInt8] = [0xFF, 0x07, 0, 0]
    }

    private let script: Script
    private let happened = Locked<[Event]>([])

    init(_ adjust: (inout Script) -> Void = { _ in }) {
        var script = Script()
        adjust(&script)
        self.script = script
    }

    /// What happened, but for what says nothing of parameters.
    var events: [Event] {
        happened.withLock { $0 }.filter { event in
            guard case .asked(let command) = event, case .loadConnectionParameters = command else {
                if case .asked = event { return false }
                return true
            }
            return true
        }
    }

    /// The numbers of all commands.
    var commands: [UInt16] {
        happened.withLock { $0 }.compactMap { event in
            guard case .asked(let command) = event else { return nil }
            return command.code
        }
    }

    func note(_ event: Event) {
        happened.withLock { $0.append(event) }
    }

    func ask(_ command: ManagementCommand) throws(ManagementError) -> [UInt8] {
        note(.asked(command))
        if let failure = script.failures[command.code] { throw failure }
        switch command {
        case .readVersion: return [1, script.revision, 0]
        case .readControllerInformation: return script.address.reversed() + Array(repeating: 0, count: 274)
        case .loadConnectionParameters: return []
        case .readPHYConfiguration: return [0xFF, 0x1F, 0, 0, 0, 0, 0, 0] + script.selectedPHYs
        case .readDefaultSystemConfiguration:
            return zip([0x17, 0x18, 0x19, 0x1A] as [UInt8], script.defaults).flatMap { [$0, 0, 2, $1, 0] }
        }
    }
}

extension ScriptedKernel.Event {
    /// A load of these units for each address.
    static func loaded(_ entries: [(String, [UInt16])]) -> Self {
        .asked(
            .loadConnectionParameters(
                entries.map { address, units in
                    guard let address = BluetoothAddress(address), let parameters = ConnectionParameters(units: units)
                    else { preconditionFailure("\(address) or \(units) is none") }
                    return DeviceConnectionParameters(
                        address: address, addressType: .leRandom, parameters: parameters)
                }, adapter: 0))
    }
}
