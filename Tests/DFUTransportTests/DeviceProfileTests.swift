import DFUProtocol
import DFUTransport
import TestSupport
import Testing

@Suite struct DeviceProfileTests {
    private static let service = BluetoothUUID(short: 0xFEE0)

    private func device(_ characteristics: [(UInt32, GATTCharacteristic.Properties)]) -> [GATTService] {
        let characteristics = characteristics.map {
            GATTCharacteristic(uuid: BluetoothUUID(short: $0.0), properties: $0.1)
        }
        return [GATTService(uuid: Self.service, characteristics: characteristics)]
    }

    @Test(
        arguments: [
            (.writeWithoutResponse, .writeWithoutResponse),
            (.write, .write),
            ([.write, .writeWithoutResponse], .writeWithoutResponse),
        ] as [(GATTCharacteristic.Properties, EndpointBinding.Use)])
    func theWriteKindFollowsTheProperties(_ properties: GATTCharacteristic.Properties, _ use: EndpointBinding.Use)
        throws
    {
        let bindings = try DeviceProfile.band.bindings(in: device([(0xFF01, .notify), (0xFF02, properties)]))
        #expect(bindings[.command]?.use == use)
        #expect(bindings[.reply]?.use == .notify)
    }

    @Test func aProfileCanAskForTheWriteKind() throws {
        var profile = DeviceProfile.band
        profile.writeKind = .withResponse
        let both = device([(0xFF01, .notify), (0xFF02, [.write, .writeWithoutResponse])])
        #expect(try profile.bindings(in: both)[.command]?.use == .write)
        #expect(
            throws: TransportError(
                .missing, message: "its characteristic \(profile.command) cannot be written with response")
        ) {
            try profile.bindings(in: device([(0xFF01, .notify), (0xFF02, .writeWithoutResponse)]))
        }
    }

    @Test func oneCharacteristicMayDoBothRoles() throws {
        var profile = DeviceProfile.band
        profile.reply = profile.command
        let bindings = try profile.bindings(in: device([(0xFF02, [.notify, .writeWithoutResponse])]))
        #expect(bindings[.command]?.characteristic == bindings[.reply]?.characteristic)
    }

    @Test func whatIsMissingIsNamed() {
        let band = DeviceProfile.band
        #expect(throws: TransportError(.missing, message: "it has no service \(band.service)")) {
            try band.bindings(in: [])
        }
        #expect(
            throws: TransportError(
                .missing, message: "its service \(band.service) has no characteristic \(band.command)")
        ) {
            try band.bindings(in: device([(0xFF01, .notify)]))
        }
        // A Mi Band has these UUIDs with other meanings: FF02 is its name.
        #expect(throws: TransportError(.missing, message: "its characteristic \(band.reply) does not notify")) {
            try band.bindings(in: device([(0xFF01, .read), (0xFF02, [.read, .write])]))
        }
    }

    @Test func theBuiltInProfileComesBackFromItsJSON() throws {
        #expect(try DeviceProfile(json: Array(DeviceProfile.band.json.utf8)) == .band)
    }

    @Test func everyMemberComesBackFromJSON() throws {
        var profile = DeviceProfile(name: "strap")
        profile.service = BluetoothUUID(short: 0x1234)
        profile.command = BluetoothUUID(short: 0x1235)
        profile.reply = BluetoothUUID(short: 0x1235)
        profile.writeKind = .withResponse
        profile.minimumBattery = 50
        profile.versionCharacteristic = nil
        profile.identification = .none
        profile.setsTime = true
        profile.blockAck.hostHeader = 0x01
        profile.blockAck.deviceHeader = 0x02
        profile.blockAck.checksum = .sum
        profile.blockAck.byteOrder = .little
        profile.blockAck.blockSize = 4096
        profile.blockAck.packetSize = 244
        profile.blockAck.gap = .adaptive(from: .milliseconds(20))
        profile.blockAck.tries = 1
        profile.blockAck.anyVersion = false
        profile.blockAck.opcodes.start = 0x77
        profile.blockAck.limits.abort = .milliseconds(450)
        profile.connection = .parameters(try #require(ConnectionParameters(units: [7, 80, 3, 321])))
        #expect(try DeviceProfile(json: Array(profile.json.utf8)) == profile)
        #expect(profile.json != DeviceProfile.band.json)
    }

    @Test func whatIsLeftOutIsTheBandS() throws {
        var expected = DeviceProfile(name: "slow")
        expected.blockAck.gap = .fixed(.microseconds(12_500))
        #expect(try DeviceProfile(json: Array(#"{"name": "slow", "gap": 12.5}"#.utf8)) == expected)
    }

    @Test(
        arguments: [
            (#""automatic""#, .automatic, [9, 12, 0, 200]), (#""system""#, .system, nil),
            (#"{"interval": 30}"#, nil, [24, 24, 0, 200]),
            (#"{"interval": [7.5, 4000], "latency": 1, "supervisionTimeout": 32}"#, nil, [6, 3200, 1, 3200]),
            (#"{"interval": [11.25, 15], "supervisionTimeout": 0.29}"#, nil, [9, 12, 0, 29]),
        ] as [(String, DeviceProfile.Connection?, [UInt16]?)])
    func theConnectionIsAWordOrParameters(_ json: String, word: DeviceProfile.Connection?, units: [UInt16]?) throws {
        let profile = try DeviceProfile(json: Array(#"{"name": "x", "connection": \#(json)}"#.utf8))
        if let word { #expect(profile.connection == word) }
        #expect(profile.connection.parameters?.units == units)
    }

    @Test(arguments: [
        (#"[]"#, ["a profile is an object, and this is a list"]),
        (#"{}"#, ["name: missing"]),
        (#"{"name": ""}"#, ["name: wants a text"]),
        (#"{"name": "x", "pakcetSize": 20}"#, ["pakcetSize: no such member"]),
        (#"{"name": "x", "opcodes": {"strat": 1}}"#, ["opcodes.strat: no such member"]),
        (#"{"name": "x", "opcodes": []}"#, ["opcodes: this is a list, not an object"]),
        (#"{"name": "x", "opcodes": {"start": "0x+1"}}"#, [#"opcodes.start: wants a byte, as "0x1B" or 27"#]),
        (#"{"name": "x", "hostHeader": 256}"#, [#"hostHeader: wants a byte, as "0x1B" or 27"#]),
        (#"{"name": "x", "service": "fee"}"#, [#"service: wants a UUID of 4, 8 or 36 characters, as "fee0""#]),
        (#"{"name": "x", "packetSize": 19}"#, ["packetSize: wants a whole number from 20 to 255"]),
        (#"{"name": "x", "tries": 1.5}"#, ["tries: wants a whole number from 1 to 10"]),
        (#"{"name": "x", "gap": "fast"}"#, [#"gap: wants milliseconds from 0 to 10000, or "adaptive""#]),
        (#"{"name": "x", "limits": {"start": 0}}"#, ["limits.start: wants seconds, more than 0 and at most 3600"]),
        (#"{"name": "x", "checksum": "crc"}"#, [#"checksum: wants one of "complement", "sum", "none""#]),
        (#"{"name": "x", "setTime": 1}"#, ["setTime: wants true or false"]),
        (#"{"name": "x", "schema": 2}"#, ["schema: this version reads schema 1 only"]),
        (#"{"name": "x", "connection": "fast"}"#, [#"connection: wants "automatic", "system" or an object"#]),
        (#"{"name": "x", "connection": null}"#, [#"connection: wants "automatic", "system" or an object"#]),
        (#"{"name": "x", "connection": {}}"#, [#"connection.interval: missing"#]),
        (#"{"name": "x", "connection": {"interval": 15, "phy": 2}}"#, [#"connection.phy: no such member"#]),
        (
            #"{"name": "x", "connection": {"interval": 7}}"#,
            [
                #"connection.interval: wants milliseconds from 7.5 to 4000 in steps of 1.25, or a list of the least and the most"#
            ]
        ),
        (
            #"{"name": "x", "connection": {"interval": 5}}"#,
            [
                #"connection.interval: wants milliseconds from 7.5 to 4000 in steps of 1.25, or a list of the least and the most"#
            ]
        ),
        (
            #"{"name": "x", "connection": {"interval": "15"}}"#,
            [
                #"connection.interval: wants milliseconds from 7.5 to 4000 in steps of 1.25, or a list of the least and the most"#
            ]
        ),
        (
            #"{"name": "x", "connection": {"interval": [15]}}"#,
            [
                #"connection.interval: wants milliseconds from 7.5 to 4000 in steps of 1.25, or a list of the least and the most"#
            ]
        ),
        (
            #"{"name": "x", "connection": {"interval": [30, 15]}}"#,
            [
                #"connection.interval: wants milliseconds from 7.5 to 4000 in steps of 1.25, or a list of the least and the most"#
            ]
        ),
        (
            #"{"name": "x", "connection": {"interval": 1e300}}"#,
            [
                #"connection.interval: wants milliseconds from 7.5 to 4000 in steps of 1.25, or a list of the least and the most"#
            ]
        ),
        (
            #"{"name": "x", "connection": {"interval": 15, "latency": 500}}"#,
            [#"connection.latency: wants a whole number from 0 to 499"#]
        ),
        (
            #"{"name": "x", "connection": {"interval": 15, "supervisionTimeout": 2.005}}"#,
            [#"connection.supervisionTimeout: wants seconds from 0.1 to 32 in steps of 0.01"#]
        ),
        (
            #"{"name": "x", "connection": {"interval": 15, "supervisionTimeout": 1e300}}"#,
            [#"connection.supervisionTimeout: wants seconds from 0.1 to 32 in steps of 0.01"#]
        ),
        (
            #"{"name": "x", "connection": {"interval": 1000}}"#,
            [#"connection.supervisionTimeout: wants more than 2 × (latency + 1) × the longest interval"#]
        ),
        (
            #"{"name": "x", "protocol": "smp", "tries": 0}"#,
            [
                #"protocol: a profile is for "block-ack"; the other protocols need none"#,
                "tries: wants a whole number from 1 to 10",
            ]
        ),
    ])
    func everyProblemIsNamed(_ json: String, _ problems: [String]) {
        #expect(throws: DeviceProfileError(problems: problems)) { try DeviceProfile(json: Array(json.utf8)) }
    }

    @Test func whatIsNoJSONSaysSo() {
        let error = #expect(throws: DeviceProfileError.self) { try DeviceProfile(json: Array("{".utf8)) }
        #expect(error?.problems.count == 1)
        #expect(error?.problems == ["it is not valid JSON"])
    }

    @Test func theSchemaHasTheMembersThatAreRead() throws {
        let schema = try JSONValue(parsing: Array(ProjectFile.contents("Schemas/device-profile.json").utf8))
        let profile = try JSONValue(parsing: Array(DeviceProfile.band.json.utf8))
        func names(_ value: JSONValue?) -> Set<String> {
            guard case .object(let members) = value else { return [] }
            return Set(members.keys)
        }
        func member(_ value: JSONValue?, _ name: String) -> JSONValue? {
            guard case .object(let members) = value else { return nil }
            return members[name]
        }
        let properties = member(schema, "properties")
        #expect(names(properties) == names(profile).union(["$schema"]))
        for nested in ["opcodes", "limits"] {
            #expect(names(member(member(properties, nested), "properties")) == names(member(profile, nested)))
        }
    }
}
