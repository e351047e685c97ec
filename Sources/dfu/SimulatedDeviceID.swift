/// The ID of a simulated device: `sim:KIND[/NAME][?option=value&…]`.
///
/// The name tells several devices of one kind apart. Values are percent-decoded.
struct SimulatedDeviceID: Sendable, Equatable {
    /// What kind of device it is.
    enum Kind: String, Choice {
        case band, secure, legacy, smp

        var isAvailable: Bool { self == .band }
    }

    /// Which time it lives in.
    enum Time: String, Choice {
        case real, virtual
    }

    /// The physical layer of its radio.
    enum PHY: String, Choice {
        case le1M = "1M"
        case le2M = "2M"
    }

    /// Whether the link layer takes long packets.
    enum DataLengthExtension: String, Choice {
        case off, on
    }

    /// The ID without its options: what the device is called in JSON and in messages.
    var device: String
    var kind: Kind
    var time = Time.real
    /// The version that it runs, as it shows it.
    var version: String?
    /// The battery level in percent.
    var battery: Int?
    var mtu: Int?
    /// The connection interval.
    var interval: Duration?
    var phy: PHY?
    var dataLengthExtension: DataLengthExtension?
    /// The file of what the device keeps between runs.
    var stateFile: String?
    /// The file that gets the image with which the device ended.
    var imageFile: String?
    /// The file of what goes wrong.
    var faultsFile: String?

    static let options: [Option<SimulatedDeviceID>] = [
        .option("time", \.time, .choice("time"), help: "The wall clock's, or a world of its own that never waits."),
        .option("version", \.version, .text("version"), help: "The version that it runs."),
        .option("battery", \.battery, .number(0...100, placeholder: "percent"), help: "The battery level."),
        .option("mtu", \.mtu, .number(23...517), help: "The MTU."),
        .option("interval", \.interval, .connectionInterval, help: "The connection interval in milliseconds."),
        .option("phy", \.phy, .choice("phy"), help: "The physical layer."),
        .option("dle", \.dataLengthExtension, .choice("dle"), help: "Long packets on the link layer."),
        .option("state", \.stateFile, .file(), help: "What the device keeps between runs."),
        .option("image", \.imageFile, .file(), help: "Gets the image with which the device ended."),
        .option("faults", \.faultsFile, .file(), help: "What goes wrong."),
    ]

    /// Reads what stands behind `sim:`.
    ///
    /// - Throws: What the whole ID is not.
    init(behindScheme text: Substring) throws(InvalidValue) {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let names = parts[0].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        device = "sim:" + parts[0]
        let word = String(names[0])
        do {
            kind = try ValueFormat<Kind>.choice("kind").read(word)
        } catch .notYet {
            throw .notYet()
        } catch {
            throw .wrong("not a device that can be simulated; \(error.sentence(about: word, given: "kind"))")
        }
        if names.count == 2, names[1].isEmpty || names[1].contains("/") {
            throw .wrong("not of the form sim:KIND/NAME")
        }
        guard parts.count == 2 else { return }
        var given: Set<String> = []
        for pair in parts[1].split(separator: "&", omittingEmptySubsequences: false) {
            try set(pair, &given)
        }
    }

    private mutating func set(_ pair: Substring, _ given: inout Set<String>) throws(InvalidValue) {
        let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(sides[0])
        guard let option = Self.options.first(where: { $0.description.name == name }) else {
            let names = Self.options.map(\.description.name)
            throw .wrong("not a device that can be simulated; '\(name)' is none of \(names.joined(separator: ", "))")
        }
        guard sides.count == 2 else { throw .wrong("not complete: \(name) needs a value") }
        guard given.insert(name).inserted else { throw .wrong("contradictory: \(name) is given twice") }
        guard let value = sides[1].percentDecoded else {
            throw .wrong("not well written: \(name) has a % that does not stand for a byte of UTF-8 (%25 is a %)")
        }
        do {
            try option.assign(&self, value)
        } catch {
            throw .wrong("not a device that can be simulated; \(error.sentence(about: value, given: name))")
        }
    }
}

extension ValueFormat<Duration> {
    /// The connection intervals of Bluetooth Core 5.4, volume 6, part B, 4.5.1: 7.5 ms to 4 s.
    fileprivate static var connectionInterval: Self {
        let milliseconds = Self.milliseconds(7...4000)
        return ValueFormat(placeholder: "ms") { text throws(InvalidValue) in
            let interval = try? milliseconds.read(text)
            guard let interval, interval >= .microseconds(7500) else {
                throw .wrong("not a number of milliseconds from 7.5 to 4000")
            }
            return interval
        }
    }
}

extension Substring {
    /// The text with `%41` read as `A`; nil where that is not possible.
    fileprivate var percentDecoded: String? {
        var bytes: [UInt8] = []
        var rest = utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(Substring(rest.prefix(2)))
            guard digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit), let value = UInt8(digits, radix: 16) else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
