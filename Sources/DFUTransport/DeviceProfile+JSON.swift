internal import DFUProtocol
private import FoundationEssentials

/// Why a profile cannot be used: every fault that was found, one sentence each.
public struct DeviceProfileError: Error, Sendable, Hashable {
    /// What is wrong, each with the member's name in front.
    public var problems: [String]

    package init(problems: [String]) {
        self.problems = problems
    }
}

extension DeviceProfile {
    /// Reads a profile from JSON; `Schemas/device-profile.json` describes the form.
    ///
    /// Members that are not there keep the built-in band's values. Members that the form does not know are errors,
    /// because a misspelt one would silently leave a default in force.
    public init(json bytes: [UInt8]) throws(DeviceProfileError) {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw DeviceProfileError(problems: [error.message])
        }
        guard case .object(let members) = value else {
            throw DeviceProfileError(problems: ["a profile is an object, and this is \(value.kind)"])
        }
        var reader = DeviceProfileReader(members: members)
        self = reader.profile()
        guard reader.problems.isEmpty else { throw DeviceProfileError(problems: reader.problems) }
    }

    /// The profile as JSON with every member, in the form that `init(json:)` reads.
    public var json: String {
        func byte(_ value: UInt8) -> JSONValue {
            let digits = String(value, radix: 16, uppercase: true)
            return .string("0x" + (digits.count < 2 ? "0" : "") + digits)
        }
        func seconds(_ value: Duration) -> JSONValue { .number(value / .seconds(1)) }
        let opcodes = Self.opcodes.map { ($0.name, byte(blockAck.opcodes[keyPath: $0.path])) }
        let limits = Self.limits.map { ($0.name, seconds(blockAck.limits[keyPath: $0.path])) }
        let gap: JSONValue =
            switch blockAck.gap {
            case .fixed(let gap): .number(gap / .milliseconds(1))
            case .adaptive: .string("adaptive")
            }
        let connection: JSONValue =
            switch self.connection {
            case .automatic: .string("automatic")
            case .system: .string("system")
            case .parameters(let parameters):
                .object([
                    "interval": .array(
                        [parameters.interval.lowerBound, parameters.interval.upperBound].map {
                            .number($0 / .milliseconds(1))
                        }),
                    "latency": .number(Double(parameters.latency)),
                    "supervisionTimeout": seconds(parameters.supervisionTimeout),
                ])
            }
        let members: [String: JSONValue] = [
            "schema": .number(1),
            "name": .string(name),
            "protocol": .string("block-ack"),
            "service": .string(service.description),
            "command": .string(command.description),
            "reply": .string(reply.description),
            "write": .string(writeKind.rawValue),
            "hostHeader": byte(blockAck.hostHeader),
            "deviceHeader": byte(blockAck.deviceHeader),
            "opcodes": .object(Dictionary(uniqueKeysWithValues: opcodes)),
            "checksum": .string(blockAck.checksum.rawValue),
            "byteOrder": .string(blockAck.byteOrder.rawValue),
            "blockSize": .number(Double(blockAck.blockSize)),
            "packetSize": .number(Double(blockAck.packetSize)),
            "gap": gap,
            "limits": .object(Dictionary(uniqueKeysWithValues: limits)),
            "tries": .number(Double(blockAck.tries)),
            "minimumBattery": .number(Double(minimumBattery)),
            "versionCharacteristic": versionCharacteristic.map { .string($0.description) } ?? .null,
            "identify": .string(identification.rawValue),
            "connection": connection,
            "anyVersion": .boolean(blockAck.anyVersion),
            "setTime": .boolean(setsTime),
        ]
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(JSONValue.object(members)) else {
            preconditionFailure("a profile's values can all be written as JSON")
        }
        return String(decoding: data, as: UTF8.self)
    }

    static let members: Set<String> = [
        "$schema", "schema", "name", "protocol", "service", "command", "reply", "write", "hostHeader", "deviceHeader",
        "opcodes", "checksum", "byteOrder", "blockSize", "packetSize", "gap", "limits", "tries", "minimumBattery",
        "versionCharacteristic", "identify", "anyVersion", "connection", "setTime",
    ]

    static var opcodes: [(name: String, path: WritableKeyPath<BlockAck.Parameters.Opcodes, UInt8>)] {
        [
            ("battery", \.battery), ("batteryReply", \.batteryReply), ("setTime", \.setTime), ("start", \.start),
            ("blockHeader", \.blockHeader), ("data", \.data), ("blockEnd", \.blockEnd), ("complete", \.complete),
            ("abort", \.abort),
        ]
    }

    static var limits: [(name: String, path: WritableKeyPath<BlockAck.Parameters.Limits, Duration>)] {
        [
            ("battery", \.battery), ("setTime", \.setTime), ("start", \.start), ("blockEnd", \.blockEnd),
            ("complete", \.complete), ("abort", \.abort), ("reconnect", \.reconnect),
        ]
    }
}
