extension Verb {
    /// All verbs of `dfu`.
    static let root = Verb(
        "dfu", abstract: "Updates the firmware of Bluetooth LE devices.",
        groups: [
            Group(
                title: "Update",
                verbs: [
                    .flash,
                    .check,
                    .planned("batch", abstract: "Update many devices by a plan."),
                    .planned("station", abstract: "Update device after device at a factory's station."),
                ]),
            Group(
                title: "Packages",
                verbs: [
                    .info,
                    .planned("verify", abstract: "Check a package's signatures, hashes and rules."),
                    .planned("pack", abstract: "Make a package."),
                    .planned("sign", abstract: "Sign a package or image."),
                    .planned("keygen", abstract: "Make a signing key."),
                    .planned("key", abstract: "Show a signing key's public half."),
                    .planned("split", abstract: "Take a package apart."),
                    .planned("merge", abstract: "Make one package of several."),
                    .planned("diff", abstract: "Show what differs between two packages."),
                    .planned("convert", abstract: "Turn an image into another form."),
                    .planned("settings", abstract: "Make a bootloader's settings page."),
                    .planned("catalog", abstract: "List and fetch the releases of a server."),
                ]),
            Group(
                title: "Devices",
                verbs: [
                    .scan, .inspect, .read, .write, .notify, .pair, .forget,
                    .planned("image", abstract: "List, test, confirm or erase the images of an SMP device."),
                    .planned("reset", abstract: "Restart an SMP device."),
                    .planned("echo", abstract: "Ask an SMP device to repeat a text."),
                    .profile,
                ]),
            Group(
                title: "Records and rehearsals",
                verbs: [
                    .planned("journal", abstract: "Show what was updated."),
                    .planned("report", abstract: "Sum up what was updated."),
                    .simulate,
                    .replay,
                    .doctor,
                ]),
            Group(title: "This program", verbs: [.help, .completions]),
        ])

    /// The options of this verb and of all behind it, each name once, as a verb has it that this version can do it for: what
    /// a configuration file may set.
    var allOptions: [OptionDescription] {
        var names: Set<String> = []
        let options = grammar.options + verbs.flatMap(\.allOptions)
        return (options.filter(\.isAvailable) + options).filter { names.insert($0.name).inserted }
    }
}
