/// How a device is reached, and how long it may take.
struct ConnectionOptions: Sendable {
    var adapter: String?
    var powersOn = false
    var timeout: Duration?
    /// How long to look for devices, where that was said.
    var scanLimit: Duration?
    var connectRetries = 4
    /// Where a transcript goes.
    var capture: String?

    /// How long to look for devices.
    var scanTimeout: Duration { scanLimit ?? .seconds(10) }

    static let group = OptionGroup<ConnectionOptions>(
        "Connection options",
        [
            .option(
                "adapter", \.adapter, .text("hciN"), help: "The Bluetooth adapter (default: the first that is powered)."
            ),
            .option("timeout", \.timeout, .seconds(1...86_400), help: "The limit of the whole command."),
            .option(
                "scan-timeout", \.scanLimit, .seconds(1...3600),
                help: "How long to look for devices (default: 10)."),
            .option(
                "connect-retries", \.connectRetries, .number(0...100),
                help: "How often connecting is tried again (default: 4)."),
            .planned("capture", "file", help: "Write a transcript of all packets."),
            .flag("power-on", \.powersOn, help: "Power the adapter on where it is off."),
        ])

    /// The options of a verb whose work can be captured.
    static var capturingGroup: OptionGroup<ConnectionOptions> {
        var group = group
        for index in group.options.indices where group.options[index].description.name == "capture" {
            group.options[index] = .option("capture", \.capture, .file(), help: group.options[index].description.help)
        }
        return group
    }
}
