/// What is told, and where.
struct OutputOptions: Sendable {
    var json = false
    var progress = ProgressStyle.auto
    var verbosity = 0
    var logFile: String?

    static let group = OptionGroup<OutputOptions>(
        "Output options",
        [
            .flag("json", \.json, help: "Print one JSON object a line on stdout, and nothing else there."),
            .option(
                "progress", \.progress, .choice("style"),
                help: "auto, bar, plain or none (default: auto, a bar on a terminal and plain lines elsewhere)."),
            .count("verbose", short: "v", \.verbosity, help: "Log to stderr; twice with every packet."),
            .option("log", \.logFile, .file(), help: "Add the log with every packet to a file."),
        ])

    /// The options of a verb that prints one document.
    static var documentGroup: OptionGroup<OutputOptions> {
        var group = group
        for index in group.options.indices where group.options[index].description.name == "json" {
            group.options[index].description.help = "Print one JSON document."
        }
        return group
    }

    /// How a device's update is told.
    func style(for terminal: Terminal) -> DeviceReporter.Style {
        DeviceReporter.Style(
            json: json, progress: progress.resolved(for: terminal, json: json), verbosity: verbosity)
    }
}
