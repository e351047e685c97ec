import DFUKit
import DFUProtocol
import DFUTransport

extension Verb {
    static let flash = Verb(
        "flash", Flash.self, abstract: "Update the firmware of one or several devices.",
        discussion: [
            "Reads the package and checks it, connects to the device, sends the firmware, and looks whether it runs. An "
                + "update that was interrupted goes on where the device says when the same command is run again.",
            "A device is its full address, the end of it as on labels (44:50), or its exact name. Only what is asked for is "
                + "connected and written to.",
            "sim:band is a simulated wristband: sim:band[/NAME][?OPTION=VALUE&...]. Its options: time (real or virtual), "
                + "version (1.0.0), battery (80), mtu, interval (ms), phy (1M or 2M), dle (on or off), state, image and "
                + "faults (files).",
            "sim:secure is a simulated device for Secure DFU. It has the options of sim:band without battery, and sdk (12, "
                + "15, 16 or 17), hw (its hardware version), sd (its SoftDevice, as 0x0100, or none), key (a PEM file), "
                + "buttonless (none, unbonded, bonded or sdk12), start (app or bootloader), bank (single or dual), address "
                + "and name. Its bootloader takes packages for any hardware and SoftDevice, and looks at no signature, "
                + "where hw, sd and key are left out. A version that is a whole number is the one that it compares (0).",
        ],
        examples: [
            Example(
                line: "dfu flash band_v1.1.0_810A8FF9.bin --device C0:FF:EE:12:44:50",
                meaning: "Update a device in range."),
            Example(
                line: "dfu flash band_v1.1.0_810A8FF9.bin --device sim:band",
                meaning: "Update a simulated wristband, in real time."),
            Example(
                line: "dfu flash band_v1.1.0_810A8FF9.bin --device 'sim:band?time=virtual' --json",
                meaning: "The same without waiting, told in JSON."),
            Example(
                line: "dfu flash app.zip --device sim:band/a --device sim:band/b --jobs 2",
                meaning: "Update two devices at once."),
        ],
        statuses: [
            .ok, .usage, .package, .input, .notFound, .environment, .internal, .output, .link, .refused, .permission,
            .config, .unverified, .partial,
        ])
}

/// `dfu flash PACKAGE --device ID …`.
struct Flash: Command {
    /// How the device is to be updated.
    enum Method: String, Choice {
        case auto, secure, legacy, smp
        case blockAck = "block-ack"

        var isAvailable: Bool { self != .legacy && self != .smp }

        var method: UpdateOptions.Method {
            switch self {
            case .secure: .secure
            case .blockAck: .blockAck
            case .auto, .legacy, .smp: .automatic
            }
        }
    }

    /// A check that may be left out.
    enum Check: String, Choice {
        case battery, version, hash, size, hardware

        var check: UpdateOptions.Check {
            switch self {
            case .battery: .battery
            case .version: .version
            case .hash: .hash
            case .size: .size
            case .hardware: .hardware
            }
        }
    }

    var package = ""
    var devices: [DeviceID] = []
    var method = Method.auto
    var profile: String?
    var packageOptions = PackageOptions()
    var mtu: Int?
    var prn: Int?
    var gap: BlockAck.Parameters.Gap?
    var allowDowngrade = false
    var skippedChecks: [Check] = []
    var verify: Bool?
    var jobs = 1
    var connection = ConnectionOptions()
    var output = OutputOptions()

    static let grammar = Grammar<Flash>(
        arguments: [
            .argument(
                \.package, .file("package"), help: "A .zip (Nordic DFU or nRF Connect SDK), a .bin or a .hex file.")
        ],
        groups: [
            updateOptions, PackageOptions.group.nested(at: \.packageOptions), linkOptions,
            ConnectionOptions.capturingGroup.nested(at: \.connection),
            runOptions,
            OutputOptions.group.nested(at: \.output),
        ])

    private static let updateOptions = OptionGroup<Flash>(
        "Update options",
        [
            .options("device", \.devices, .device, isRequired: true, help: "The device. Repeat it for several."),
            .option(
                "protocol", \.method, .choice("protocol"),
                help: "auto, secure, legacy, smp or block-ack (default: auto). This version has secure and block-ack."),
            .planned("assume", "state", help: "bootloader or application, for devices that do not say."),
            .option("profile", \.profile, .file(), help: "What the device's kind differs in."),
            .flag("allow-downgrade", \.allowDowngrade, help: "Let the device take an older or the same version."),
            .options(
                "skip-check", \.skippedChecks, .choice("check"),
                help: "Go on without a check: battery, version, hash, size or hardware."),
            .onOff(
                "verify", \.verify, help: "Look whether the new firmware runs (default: where the device can tell)."),
        ])

    private static let linkOptions = OptionGroup<Flash>(
        "Link options",
        [
            .option("mtu", \.mtu, .number(23...517), help: "Send no packet longer than n - 3 bytes."),
            .option("gap", \.gap, .gap, help: "The pause between packets, or 'adaptive' (default: the profile's)."),
            .option(
                "prn", \.prn, .number(0...65535),
                help: "The most packets between two receipts of Secure DFU; 0 for none (default: what goes best)."),
            .planned("smp-mode", "mode", help: "What an SMP device does with the image."),
            .planned("reset-pending", help: "Restart an SMP device that waits to test an image."),
            .planned("forget-bond", help: "Remove a bond that no longer fits."),
        ])

    private static let runOptions = OptionGroup<Flash>(
        "Run options",
        [
            .option("jobs", \.jobs, .number(1...64), help: "How many devices are updated at once (default: 1)."),
            .planned("junit", "file", help: "Write the results as JUnit XML."),
        ])

    func validate() throws(Failure) {
        try packageOptions.validate(package)
        if allowDowngrade, packageOptions.firmwareVersion != nil {
            throw .usage("--allow-downgrade and --firmware-version exclude each other")
        }
        var known: Set<String> = []
        for id in devices where !known.insert(id.device).inserted {
            throw .usage("the device \(id.device) is given twice")
        }
        if let capture = connection.capture, devices.count > 1, !capture.contains(CaptureName.placeholder) {
            throw .usage(
                "--capture: '\(capture)' is one file for \(devices.count) devices; put {} into it, which stands for the "
                    + "device")
        }
    }

    func run(_ session: Session) async throws(Failure) -> ExitStatus {
        try await FlashRun(self, session).run()
    }
}

extension ValueFormat<BlockAck.Parameters.Gap> {
    /// A number of milliseconds, or `adaptive`.
    fileprivate static var gap: Self {
        let milliseconds = ValueFormat<Duration>.milliseconds(0...1000)
        return ValueFormat(placeholder: "ms|adaptive", completion: .words(["adaptive"])) { text throws(InvalidValue) in
            if text == "adaptive" { return .adaptive(from: .milliseconds(20)) }
            guard let gap = try? milliseconds.read(text) else {
                throw .wrong("neither a number of milliseconds from 0 to 1000 nor 'adaptive'")
            }
            return .fixed(gap)
        }
    }
}
