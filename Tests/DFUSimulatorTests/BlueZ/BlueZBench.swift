import DFUSimulator
import DFUTransport
import TestSupport
import Testing

/// A bus with a simulated BlueZ on it, and a client that hears all that BlueZ tells.
struct BlueZBench {
    let bus: PrivateBus
    let blueZ: SimulatedBlueZ
    let client: DBusConnection
    private let signals: AsyncStream<DBusEvent>
    private let events: Locked<[SimulatedEvent.Kind]>

    static let adapter = "/org/bluez/hci0"
    static let device = adapter + "/dev_C0_FF_EE_00_00_01"
    static let command = device + "/service000e/char0012"
    static let reply = device + "/service000e/char000f"
    static let version = device + "/service0014/char0015"

    /// A BlueZ that does not keep a test waiting.
    static var quickSettings: BlueZSettings {
        var settings = BlueZSettings()
        settings.radio.advertisingInterval = .milliseconds(5)
        settings.radio.supervisionTimeout = .milliseconds(50)
        settings.disconnectDelay = .zero
        settings.pairingTimeout = .milliseconds(50)
        return settings
    }

    static func run(
        adapters: [SimulatedAdapter] = [SimulatedAdapter()],
        devices: [AdvertisedDevice] = [AdvertisedDevice(Band(), name: "Band")],
        settings: BlueZSettings = quickSettings, _ body: (BlueZBench) async throws -> Void
    ) async throws {
        let bus = try await PrivateBus.start()
        do {
            let client = try await DBusConnection.open(bus.address)
            let signals = try await client.subscribe(to: DBusMatchRule(sender: SimulatedBlueZ.name))
            let events = Locked<[SimulatedEvent.Kind]>([])
            let blueZ = SimulatedBlueZ(
                on: try await DBusConnection.open(bus.address), adapters: adapters, devices: devices,
                settings: settings
            ) { event, _ in
                events.withLock { $0.append(event.kind) }
            }
            try await blueZ.start()
            let bench = BlueZBench(bus: bus, blueZ: blueZ, client: client, signals: signals, events: events)
            for adapter in adapters { _ = await bench.story(until: "+ " + adapter.name) }
            try await body(bench)
        } catch {
            await bus.stop()
            throw error
        }
        await bus.stop()
    }

    /// Calls a method of `org.bluez`; the interface is that of the object's kind where none is given.
    @discardableResult
    func call(
        _ member: String, _ body: [DBusValue] = [], of interface: String? = nil, at path: String = adapter,
        by caller: DBusConnection? = nil
    ) async throws -> [DBusValue] {
        let path = try #require(DBusObjectPath(path))
        return try await (caller ?? client).call(
            .call(member, of: interface, at: path, destination: SimulatedBlueZ.name, body: body)
        ).body
    }

    /// The error that a call is answered with, as `Name: text`; nil where it succeeds.
    func refusal(
        _ member: String, _ body: [DBusValue] = [], of interface: String? = nil, at path: String = adapter
    ) async throws -> String? {
        do {
            try await call(member, body, of: interface, at: path)
            return nil
        } catch let error as DBusError {
            let name = error.name?.split(separator: ".").last ?? "\(error.code)"
            return "\(name): \(error.message)"
        }
    }

    /// A property; nil where there is none.
    func property(_ name: String, of interface: String, at path: String) async throws -> DBusValue? {
        do {
            let answer = try await call(
                "Get", [.string(interface), .string(name)], of: "org.freedesktop.DBus.Properties", at: path)
            guard case .variant(let value) = answer.first else { return nil }
            return value
        } catch let error as DBusError where error.name == "org.freedesktop.DBus.Error.InvalidArgs" {
            return nil
        }
    }

    /// What BlueZ tells, a line for each change, up to and with the first line that begins with `last`.
    ///
    /// A device's path is left out, an adapter's is its name.
    func story(until last: String) async -> [String] {
        var lines: [String] = []
        for await case .signal(let signal) in signals {
            let new = Self.lines(of: signal)
            lines += new
            if new.contains(where: { $0.hasPrefix(last) }) { break }
        }
        return lines
    }

    /// Lets a device be found.
    func discover() async throws {
        try await call("StartDiscovery")
        _ = await story(until: "+ device")
        try await call("StopDiscovery")
        _ = await story(until: "hci0 Discovering")
    }

    /// Lets a device be found and connects to it.
    func connect() async throws {
        try await discover()
        try await call("Connect", at: Self.device)
        _ = await story(until: "device ServicesResolved")
    }

    /// What has arrived at the device.
    var written: [[UInt8]] {
        events.withLock { events in
            events.compactMap { event in
                guard case .written(let bytes, _) = event else { return nil }
                return bytes
            }
        }
    }

    private static func lines(of signal: DBusMessage) -> [String] {
        func short(_ path: DBusObjectPath?) -> String {
            let text = path?.string ?? ""
            if text == device { return "device" }
            for prefix in [device + "/", "/org/bluez/"] where text.hasPrefix(prefix) {
                return String(text.dropFirst(prefix.utf8.count))
            }
            return text
        }
        switch (signal.member, signal.body.first) {
        case ("InterfacesAdded", .objectPath(let path)): return ["+ " + short(path)]
        case ("InterfacesRemoved", .objectPath(let path)): return ["- " + short(path)]
        case ("PropertiesChanged", _):
            guard signal.body.count == 3, let changed = signal.body[1].properties,
                case .array(let invalidated, of: .string) = signal.body[2]
            else { return [] }
            let name = short(signal.path)
            return changed.sorted { $0.key < $1.key }.map { "\(name) \($0.key) \(text(of: $0.value))" }
                + invalidated.map { "\(name) \(text(of: $0)) is gone" }
        default: return []
        }
    }

    private static func text(of value: DBusValue) -> String {
        switch value {
        case .string(let text): text
        case .boolean(let flag): "\(flag)"
        case .int16(let number): "\(number)"
        case .bytes(let bytes): "\(bytes)"
        case .array(let values, of: .string): values.map(text(of:)).joined(separator: " ")
        case let other: "\(other)"
        }
    }
}
