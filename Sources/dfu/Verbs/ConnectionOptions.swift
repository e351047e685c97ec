/// How a device is reached, and how long it may take.
struct ConnectionOptions: Sendable {
    var timeout: Duration?
    var connectRetries = 4

    static let group = OptionGroup<ConnectionOptions>(
        "Connection options",
        [
            .planned("adapter", "hciN", help: "The Bluetooth adapter (default: the first that is powered)."),
            .option("timeout", \.timeout, .seconds(1...86_400), help: "The limit of the whole command."),
            .planned("scan-timeout", "seconds", help: "How long the device is looked for (default: 10)."),
            .option(
                "connect-retries", \.connectRetries, .number(0...100),
                help: "How often connecting is tried again (default: 4)."),
            .planned("capture", "file", help: "Write a transcript of all packets."),
            .planned("power-on", help: "Power the adapter on where it is off."),
        ])
}
