import DFUProtocol
import DFUTransport

/// A characteristic as the user names it: its UUID, with that of its service before it where that is needed.
struct CharacteristicID: Sendable, Equatable {
    /// As typed.
    var text: String
    var service: BluetoothUUID?
    var uuid: BluetoothUUID

    /// What is meant on a device.
    struct Match: Sendable {
        var service: BluetoothUUID
        var characteristic: GATTCharacteristic

        /// For people: `180A/2A26`.
        var text: String { "\(service.short)/\(characteristic.uuid.short)" }
    }

    /// Nothing: the value of an argument that is not read yet.
    static let none = CharacteristicID(text: "", uuid: BluetoothUUID(short: 0))

    private init(text: String, uuid: BluetoothUUID) {
        self.text = text
        self.uuid = uuid
    }

    /// Reads `2A26`, `180A/2A26`, and UUIDs of 8 or 32 digits, with hyphens or without; nil for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let uuids = parts.compactMap { BluetoothUUID(typed: $0) }
        guard (1...2).contains(parts.count), uuids.count == parts.count else { return nil }
        self.text = text
        service = uuids.count == 2 ? uuids[0] : nil
        uuid = uuids[uuids.count - 1]
    }

    /// Whether these services have it.
    func isThere(in services: [GATTService]) -> Bool { !matches(in: services).isEmpty }

    /// The characteristic that is meant, with the property that it is wanted for.
    ///
    /// - Parameter use: What it is to do, such as `be read`, and the properties of which one is enough.
    func resolve(
        in services: [GATTService], for use: (word: String, properties: GATTCharacteristic.Properties)
    ) throws(Failure) -> Match {
        let matches = matches(in: services)
        guard let match = matches.first else {
            let known = services.flatMap { service in
                service.characteristics.map { "\(service.uuid.short)/\($0.uuid.short)" }
            }
            let more = known.count > 12 ? " and \(known.count - 12) more, which dfu inspect shows" : ""
            let list =
                known.isEmpty ? "it shows none at all" : "it has " + known.prefix(12).joined(separator: ", ") + more
            throw Failure(
                .refused, phase: .discover, reason: "characteristicMissing", "it has no characteristic \(text); \(list)"
            )
        }
        let places = Set(matches.map(\.service))
        guard places.count == 1 else {
            let list = places.map { "\($0.short)/\(uuid.short)" }.sorted().joined(separator: ", ")
            throw Failure(
                .usage, phase: .discover, reason: "characteristicAmbiguous",
                "\(places.count) services have a characteristic \(text); name one of \(list)")
        }
        let properties = match.characteristic.properties
        guard !properties.isDisjoint(with: use.properties) else {
            let words = properties.words
            let list = words.isEmpty ? "nothing" : words.joined(separator: ", ")
            throw Failure(
                .refused, phase: .discover, reason: "propertyMissing",
                "its characteristic \(match.text) cannot \(use.word); what it can do: \(list)")
        }
        return match
    }

    private func matches(in services: [GATTService]) -> [Match] {
        services.filter { service == nil || $0.uuid == service }.flatMap { service in
            service.characteristics.filter { $0.uuid == uuid }.map { Match(service: service.uuid, characteristic: $0) }
        }
    }
}

extension BluetoothUUID {
    /// Reads 4, 8 or 32 digits, with hyphens anywhere between them.
    init?(typed text: some StringProtocol) {
        let digits = String(text.filter { $0 != "-" })
        guard digits.count == 32 else {
            guard digits.count == text.count else { return nil }
            self.init(String(text))
            return
        }
        let groups = [8, 4, 4, 4, 12].reduce(into: (parts: [Substring](), rest: digits[...])) { groups, length in
            groups.parts.append(groups.rest.prefix(length))
            groups.rest = groups.rest.dropFirst(length)
        }
        self.init(groups.parts.joined(separator: "-"))
    }
}

extension ValueFormat<BluetoothUUID> {
    /// The UUID of a service.
    static var uuid: Self {
        ValueFormat(placeholder: "uuid") { text throws(InvalidValue) in
            guard let uuid = BluetoothUUID(typed: text) else { throw .wrong("no UUID of 4, 8 or 32 hex digits") }
            return uuid
        }
    }
}

extension ValueFormat<CharacteristicID> {
    /// A characteristic.
    static var characteristic: Self {
        ValueFormat(placeholder: "characteristic") { text throws(InvalidValue) in
            guard let id = CharacteristicID(text) else {
                throw .wrong("neither a UUID of 4, 8 or 32 hex digits nor two of them as SERVICE/CHARACTERISTIC")
            }
            return id
        }
    }
}

extension ValueFormat<[UInt8]> {
    /// Bytes in hexadecimal, with spaces or colons between them or not.
    static var hexadecimal: Self {
        ValueFormat(placeholder: "hex") { text throws(InvalidValue) in
            let digits = text.filter { $0 != " " && $0 != ":" }
            guard digits.utf8.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }) else {
                throw .wrong("not of hex digits alone, with spaces or colons between bytes")
            }
            guard digits.utf8.count % 2 == 0 else {
                throw .wrong("not of whole bytes: it has \(digits.utf8.count) hex digits, an odd number")
            }
            var bytes: [UInt8] = []
            var rest = digits[...]
            while let byte = UInt8(rest.prefix(2), radix: 16) {
                bytes.append(byte)
                rest = rest.dropFirst(2)
            }
            return bytes
        }
    }
}
