import DFUPackage
import DFUTransport
private import FoundationEssentials

/// A line that is said at the socket of an emulated radio: one JSON object (`Tests/lab/README.md` has them all).
enum RadioMessage {
    /// What a program has a radio do.
    enum Order: Sendable {
        /// A device begins: on the air, with these services.
        case up(RadioDescription)
        /// It is off the air, without a word to its host.
        case down(device: String)
        case notify(device: String, characteristic: BluetoothUUID, value: [UInt8])
        case answer(device: String, id: Int, SimulatedConnection.Answer)
        /// The device ends its connection.
        case disconnect(device: String)
        /// Nothing is carried between a device and its host any more.
        case loseLink(device: String)
        /// The device has its keys no more.
        case forgetBonds(device: String)
        /// An adapter is plugged in, or pulled out.
        case plug(adapter: Int)
        case unplug(adapter: Int)
    }

    /// What a radio tells, as far as it matters to devices.
    enum Event: Sendable {
        case up(device: String)
        case connected(device: String)
        case disconnected(device: String)
        /// A host has written; where it waits for an answer there is an ID.
        case written(device: String, characteristic: BluetoothUUID, value: [UInt8], id: Int?)
        case read(device: String, characteristic: BluetoothUUID, id: Int)
        /// A host wants to hear of a characteristic, or no more.
        case subscribed(device: String, characteristic: BluetoothUUID, isOn: Bool, id: Int)
        /// Nothing is carried any more between a device and its host.
        case linkLost(device: String)
        case plugged(adapter: Int)
        case unplugged(adapter: Int)
        /// An order was not understood, or could not be followed.
        case failed(String)
    }
}

/// How a device is on the air.
struct RadioDescription: Sendable {
    /// What it is called at the socket; its address, if there is no other.
    var device: String
    var address: String
    var name: String?
    var advertised: [BluetoothUUID]
    var services: [GATTService]
    var rssi: Int
    var isHeard: Bool
    var pairing: DevicePairing?
    var radio: RadioModel
    /// Whether the interval is not the radio's, but what the host asks for.
    var takesHostsInterval = false
}

extension RadioMessage.Order {
    /// The line, without its end.
    var line: [UInt8] {
        let encoder = JSONEncoder()
        // The same line each time.
        encoder.outputFormatting = .sortedKeys
        guard let data = try? encoder.encode(JSONValue.object(members)) else {
            preconditionFailure("what is said to a radio can be said in JSON")
        }
        return Array(data)
    }

    private var members: [String: JSONValue] {
        switch self {
        case .up(let description):
            return description.members.merging(["do": .string("up")]) { _, last in last }
        case .down(let device): return Self.order("down", device)
        case .notify(let device, let characteristic, let value):
            return Self.order(
                "notify", device,
                ["characteristic": .string(characteristic.short), "value": .string(value.hexadecimal)])
        case .answer(let device, let id, .success(let value)):
            return Self.order("answer", device, ["id": .number(Double(id)), "value": .string(value.hexadecimal)])
        case .answer(let device, let id, .failure(let error)):
            // 0x0E: Unlikely Error (Bluetooth Core 5.4, volume 3, part F, 3.4.1.1).
            let code = Double(error.attCode ?? 0x0E)
            return Self.order("answer", device, ["id": .number(Double(id)), "error": .number(code)])
        case .disconnect(let device): return Self.order("disconnect", device)
        case .loseLink(let device): return Self.order("loseLink", device)
        case .forgetBonds(let device): return Self.order("forgetBonds", device)
        case .plug(let adapter): return ["do": .string("plug"), "adapter": .number(Double(adapter))]
        case .unplug(let adapter): return ["do": .string("unplug"), "adapter": .number(Double(adapter))]
        }
    }

    private static func order(
        _ word: String, _ device: String, _ more: [String: JSONValue] = [:]
    ) -> [String: JSONValue] {
        more.merging(["do": .string(word), "device": .string(device)]) { _, last in last }
    }
}

extension RadioDescription {
    fileprivate var members: [String: JSONValue] {
        var members: [String: JSONValue] = [
            "device": .string(device), "address": .string(address), "rssi": .number(Double(rssi)),
            "isHeard": .boolean(isHeard), "advertised": .array(advertised.map { .string($0.short) }),
            "services": .array(services.map(\.json)),
            "radio": .object(radio.json.filter { $0.key != "interval" || !takesHostsInterval }),
        ]
        if let name { members["name"] = .string(name) }
        if let pairing { members["pairing"] = .object(pairing.json) }
        return members
    }
}

extension GATTService {
    fileprivate var json: JSONValue {
        .object([
            "uuid": .string(uuid.short),
            "characteristics": .array(
                characteristics.map { characteristic in
                    .object([
                        "uuid": .string(characteristic.uuid.short),
                        "properties": .number(Double(characteristic.properties.rawValue)),
                    ])
                }),
        ])
    }
}

extension RadioModel {
    fileprivate var json: [String: JSONValue] {
        [
            "interval": .number(interval / .milliseconds(1)), "mtu": .number(Double(mtu)),
            "packetsPerEvent": .number(Double(packetsInAnEvent)), "dataLength": .number(Double(dataLength)),
            "supervisionTimeout": .number(supervisionTimeout / .milliseconds(1)),
            "advertisingInterval": .number(advertisingInterval / .milliseconds(1)),
        ]
    }

    /// How many packets of full length there is time for in a connection event.
    private var packetsInAnEvent: Int {
        packetsPerEvent ?? max(1, Int(interval / exchangeTime(host: min(dataLength, mtu + 4), device: 0)))
    }
}

extension DevicePairing {
    fileprivate var json: [String: JSONValue] {
        var json: [String: JSONValue] = ["refuses": .boolean(refusal != nil)]
        switch method {
        case .justWorks: json["method"] = .string("justWorks")
        // Which number that is, the two sides find out.
        case .comparison: json["method"] = .string("comparison")
        case .entry(let number):
            json["method"] = .string("entry")
            json["number"] = .number(Double(number))
        case .display(let number):
            json["method"] = .string("display")
            json["number"] = .number(Double(number))
        }
        if let characteristics { json["characteristics"] = .array(characteristics.map { .string($0.short) }) }
        return json
    }
}

extension RadioMessage.Event {
    /// Reads a line; nil for one that is not understood.
    init?(_ line: [UInt8]) {
        guard case .object(let members)? = try? JSONValue(parsing: line), case .string(let event)? = members["event"]
        else { return nil }
        var device: String? { if case .string(let text)? = members["device"] { text } else { nil } }
        var id: Int? { if case .number(let number)? = members["id"] { Int(exactly: number) } else { nil } }
        var adapter: Int? { if case .number(let number)? = members["adapter"] { Int(exactly: number) } else { nil } }
        var characteristic: BluetoothUUID? {
            if case .string(let text)? = members["characteristic"] { BluetoothUUID(text) } else { nil }
        }
        var value: [UInt8]? { if case .string(let text)? = members["value"] { [UInt8](digits: text) } else { nil } }
        switch event {
        case "up":
            guard let device else { return nil }
            self = .up(device: device)
        case "connected":
            guard let device else { return nil }
            self = .connected(device: device)
        case "disconnected":
            guard let device else { return nil }
            self = .disconnected(device: device)
        case "written":
            guard let device, let characteristic, let value else { return nil }
            self = .written(device: device, characteristic: characteristic, value: value, id: id)
        case "read":
            guard let device, let characteristic, let id else { return nil }
            self = .read(device: device, characteristic: characteristic, id: id)
        case "subscribed":
            guard let device, let characteristic, let id, case .boolean(let isOn)? = members["isOn"] else { return nil }
            self = .subscribed(device: device, characteristic: characteristic, isOn: isOn, id: id)
        case "linkLost":
            guard let device else { return nil }
            self = .linkLost(device: device)
        case "plugged":
            guard let adapter else { return nil }
            self = .plugged(adapter: adapter)
        case "unplugged":
            guard let adapter else { return nil }
            self = .unplugged(adapter: adapter)
        case "failed":
            guard case .string(let message)? = members["message"] else { return nil }
            self = .failed(message)
        default: return nil
        }
    }
}

extension [UInt8] {
    /// Reads two digits a byte; nil for anything else.
    fileprivate init?(digits text: String) {
        let digits = Array<UInt8>(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        self = []
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[place...(place + 1)], as: UTF8.self), radix: 16) else {
                return nil
            }
            append(byte)
        }
    }
}
