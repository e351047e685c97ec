/// The ID of a simulated device: `sim:KIND[/NAME][?option=value&…]`.
///
/// The name tells several devices of one kind apart. Values are percent-decoded.
struct SimulatedDeviceID: Sendable, Equatable {
    /// What kind of device it is.
    enum Kind: String, Choice {
        case band, secure, legacy, smp

        var isAvailable: Bool { self == .band || self == .secure }
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
    /// What only a device for Secure DFU has.
    var secure = SimulatedSecureOptions()
    /// A band's battery level in percent.
    var battery: Int?
    var mtu: Int?
    /// The connection interval.
    var interval: Duration?
    /// The most packets in a connection event.
    var packets: Int?
    var phy: PHY?
    var dataLengthExtension: DataLengthExtension?
    /// The file of what the device keeps between runs.
    var stateFile: String?
    /// The file that gets the image with which the device ended.
    var imageFile: String?
    /// The file of what goes wrong.
    var faultsFile: String?

    /// The options of a kind of device.
    static func options(of kind: Kind) -> [Option<SimulatedDeviceID>] {
        switch kind {
        case .band: options
        case .secure:
            options.filter { $0.description.name != "battery" }
                + SimulatedSecureOptions.options.map { $0.nested(at: \.secure) }
        case .legacy, .smp: []
        }
    }

    private static let options: [Option<SimulatedDeviceID>] = [
        .option("time", \.time, .choice("time"), help: "The wall clock's, or a world of its own that never waits."),
        .option("version", \.version, .text("version"), help: "The version that it runs."),
        .option("battery", \.battery, .number(0...100, placeholder: "percent"), help: "The battery level."),
        .option("mtu", \.mtu, .number(23...517), help: "The MTU."),
        .option("interval", \.interval, .connectionInterval, help: "The connection interval in milliseconds."),
        .option(
            "packets", \.packets, .number(1...100, placeholder: "count"),
            help: "The most packets in a connection event."),
        .option("phy", \.phy, .choice("phy"), help: "The physical layer."),
        .option("dle", \.dataLengthExtension, .choice("dle"), help: "Long packets on the link layer."),
        .option("state", \.stateFile, .file(), help: "What the device keeps between runs."),
        .option("image", \.imageFile, .file(), help: "Gets the image with which the device ended."),
        .option("faults", \.faultsFile, .file(), help: "What goes wrong."),
    ]
}

extension SimulatedDeviceID {
    /// Reads what stands behind `sim:`.
    ///
    /// - Throws: What the whole ID is not.
    init(behindScheme text: Substring) throws(InvalidValue) {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        try self.init(kindAndName: parts[0])
        if parts.count == 2 { try OptionQuery.read(parts[1], Self.options(of: kind), into: &self) }
    }

    /// Reads what stands before the options.
    ///
    /// - Throws: What the whole ID is not.
    init(kindAndName text: Substring) throws(InvalidValue) {
        let names = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let word = String(names[0])
        do {
            self.init(device: "sim:" + text, kind: try ValueFormat<Kind>.choice("kind").read(word))
        } catch .notYet {
            throw .notYet()
        } catch {
            throw .wrong("not a device that can be simulated; \(error.sentence(about: word, given: "kind"))")
        }
        if names.count == 2, names[1].isEmpty || names[1].contains("/") {
            throw .wrong("not of the form sim:KIND/NAME")
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
