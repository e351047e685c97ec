import DFUTransport

extension Verb {
    static let simulate = Verb(
        "simulate", Simulate.self, abstract: "Put simulated devices on a bus, for this program and others.",
        discussion: [
            "Starts a message bus of its own and plays BlueZ (org.bluez, as of 5.66) on it, with simulated devices in range. "
                + "Programs that find the bus by DBUS_SYSTEM_BUS_ADDRESS use them as if they were real: dfu, bluetoothctl, "
                + "and whatever is written for BlueZ. No root, no adapter and no Bluetooth service is needed.",
            "Without a command it prints the variable, and runs until it is stopped. With a command behind -- it runs that "
                + "with the variable set, and ends with its status.",
            "With --radio the devices are not on a bus but on the air of an emulated radio, where the machine's own BlueZ "
                + "hears them: the socket is that of the lab's radio (Tests/lab in the sources).",
            "A device is sim:KIND[/NAME][?OPTION=VALUE&...], where KIND is band or secure. Its options: address, name (that "
                + "it advertises), rssi (dBm), and those of a simulated device in 'dfu help flash', but time. Without an "
                + "address the first device is C0:FF:EE:00:00:01, the next one ...:02. The bootloader of a device for "
                + "Secure DFU is found at the next address, unless it has bonds.",
        ],
        examples: [
            Example(
                line: "dfu simulate -- dfu flash band_v1.1.0_810A8FF9.bin --device C0:FF:EE:00:00:01",
                meaning: "Update a simulated band over BlueZ's interface."),
            Example(
                line: "dfu simulate --device 'sim:band?name=Left' --device 'sim:band?name=Right&rssi=-80'",
                meaning: "Two bands. Set the printed variable in another terminal."),
        ],
        statuses: [.ok, .usage, .input, .environment, .internal, .output, .config])
}

/// `dfu simulate [-- COMMAND …]`.
struct Simulate: Command {
    var command: [String] = []
    var devices: [AdvertisedDeviceID] = []
    var adapters: [String] = []
    var disconnectDelay = Duration.seconds(2)
    var faults: String?
    var radio: String?
    var json = false
    var verbosity = 0

    static let grammar = Grammar<Simulate>(
        arguments: [
            .arguments(\.command, .word, help: "What to run, and its arguments, behind --.")
        ],
        groups: [
            OptionGroup(
                "Simulation options",
                [
                    .options(
                        "device", \.devices, .advertisedDevice,
                        help: "A device in range (default: sim:band). Repeat it for several."),
                    .options(
                        "adapter", \.adapters, .adapter, help: "An adapter (default: hci0). Repeat it for several."),
                    .option(
                        "disconnect-delay", \.disconnectDelay, .milliseconds(0...60_000),
                        help: "How long after Disconnect a connection ends (default: 2000, as in BlueZ)."),
                    .option(
                        "faults", \.faults, .file(), help: "What goes wrong with adapters, BlueZ and the bus."),
                    .option(
                        "radio", \.radio, .file(),
                        help: "The socket of an emulated radio to put the devices on, not a bus."),
                ]),
            OptionGroup(
                "Output options",
                [
                    .flag("json", \.json, help: "Print one JSON object a line on stdout, and nothing else there."),
                    .count("verbose", short: "v", \.verbosity, help: "Tell on stderr what happens to the devices."),
                ]),
        ])

    func validate() throws(Failure) {
        if json, !command.isEmpty {
            throw .usage("--json and a command exclude each other: stdout is the command's")
        }
        if radio != nil, !adapters.isEmpty || faults != nil {
            throw .usage("--radio goes without --adapter and --faults: behind a radio BlueZ and its adapters are real")
        }
        guard devices.count <= 255 else { throw .usage("255 devices at the most") }
        var known: Set<String> = []
        for (device, address) in zip(devices, addresses) {
            for address in [address] + device.further(than: address) where !known.insert(address).inserted {
                throw .usage("two devices have the address \(address)")
            }
        }
        guard adapters.count <= 16 else { throw .usage("16 adapters at the most") }
        for adapter in adapters where !known.insert(adapter).inserted {
            throw .usage("the adapter \(adapter) is given twice")
        }
    }

    /// The addresses of the devices: those that are given, and for the others the first ones that are free.
    var addresses: [String] {
        var taken = Set(devices.compactMap { $0.address?.description })
        for device in devices {
            if let address = device.address { taken.formUnion(device.further(than: address.description)) }
        }
        var number = 0
        return devices.map { device in
            if let address = device.address { return address.description }
            while true {
                number += 1
                let addresses = [Self.address(number)] + device.further(than: Self.address(number))
                guard taken.isDisjoint(with: addresses) else { continue }
                taken.formUnion(addresses)
                return addresses[0]
            }
        }
    }

    private static func address(_ number: Int) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        return "C0:FF:EE:00:00:" + (number < 0x10 ? "0" : "") + digits
    }

    func run(_ session: Session) async throws(Failure) -> ExitStatus {
        var simulate = self
        if devices.isEmpty { simulate.devices = [.band] }
        if adapters.isEmpty { simulate.adapters = ["hci0"] }
        return try await SimulateRun(simulate, session).run()
    }
}

extension ValueFormat<String> {
    /// A word of another program's command line.
    fileprivate static var word: Self { ValueFormat(placeholder: "command") { $0 } }

    /// An adapter's name, as the kernel gives it.
    fileprivate static var adapter: Self {
        ValueFormat(placeholder: "hciN") { text throws(InvalidValue) in
            guard text.hasPrefix("hci"), let number = UInt8(text.dropFirst(3)), text == "hci\(number)" else {
                throw .wrong("not an adapter's name, as hci0")
            }
            return text
        }
    }
}
