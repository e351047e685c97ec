// How fast records go to a band on the air: stream ADDRESS SIZE COUNT, in the lab's guest. Prints the seconds.
import DFUKit
import Glibc

guard CommandLine.argc == 4, let size = Int(CommandLine.arguments[2]), let count = Int(CommandLine.arguments[3]) else {
    print("usage: stream ADDRESS SIZE COUNT")
    exit(64)
}

/// What ends a wait: the answer to the question behind the records.
let answered = Locked<CheckedContinuation<Void, Never>?>(nil)

let transport = try await BlueZTransport()
let peripheral = try await transport.connect(to: CommandLine.arguments[1], timeout: .seconds(30))
let profile = DeviceProfile.band
let services = await peripheral.services(within: .seconds(5)) { (try? profile.bindings(in: $0)) != nil }
let link = try await peripheral.openLink(profile.bindings(in: services))
link.setReceiver { event in
    if case .notification = event { answered.withLock { $0.take() }?.resume() }
}
let begin = ContinuousClock.now
// A data frame whose checksum is wrong: the band takes it and says nothing.
let record = [0x1B, 0xA2] + [UInt8](repeating: 0, count: size - 2)
for _ in 0..<count { try await link.write(record, to: .command) }
await withCheckedContinuation { continuation in
    answered.withLock { $0 = continuation }
    // The battery level is asked for.
    Task { try await link.write([0x1B, 0x99, 0x01, 0x4B], to: .command) }
}
print(begin.duration(to: .now) / .seconds(1))
await peripheral.disconnect()
