import DFUTransport

// How BlueZ is configured, and what connections are made with. Both only where the service is this machine's own.
extension Diagnosis {
    var configurationFindings: [Finding] {
        guard isOwnBlueZ else { return [] }
        let path = configurationPath
        guard machine.configuration != .unreadable else {
            return [
                Finding(
                    .configurationUnreadable, .note, about: path, "\(path) cannot be read by this user",
                    meaning: "What it sets could not be looked at.", cure: .init("Run dfu doctor as root."))
            ]
        }
        let configuration = configuration ?? BlueZConfiguration([])
        if let line = configuration.fault {
            return [
                Finding(
                    .configurationBroken, .warning, about: path,
                    "line \(line) of \(path) is no section, no setting and no comment",
                    meaning: "BlueZ ignores the whole file by it, and with it whatever updates were to gain from it.",
                    cure: .init("Correct the line, and restart bluetoothd."))
            ]
        }
        let summary = configuration.summary
        let sets = summary.isEmpty ? "nothing that matters to updates" : summary.joined(separator: ", ")
        return [.ok(.configuration, about: path, "\(path) sets \(sets)")]
            + configuration.ignored.map { ignored in
                Finding(
                    .settingIgnored, .warning, about: path, "BlueZ ignores a setting of \(path): \(ignored)",
                    meaning: "What it was to do for updates is not done.",
                    cure: .init("Correct it (a comment takes a line of its own), and restart bluetoothd."))
            } + findings(of: configuration)
    }

    private func findings(of configuration: BlueZConfiguration) -> [Finding] {
        var findings: [Finding] = []
        func add(
            _ id: Finding.ID, _ level: Finding.Level, _ message: String, meaning: String, _ line: String,
            below section: String
        ) {
            let cure = settingCure([line], below: section)
            findings.append(
                Finding(
                    id, level, about: configurationPath, message, meaning: meaning, cure: cure))
        }
        if configuration.word(.controllerMode) == "bredr" {
            add(
                .classicOnly, .problem, "BlueZ is told to use the classic Bluetooth alone (ControllerMode=bredr)",
                meaning: "The devices that dfu updates speak Low Energy, so no update can begin.",
                "ControllerMode=dual", below: "General")
        }
        // Since BlueZ 5.74.
        if configuration.flag(.client) == false {
            add(
                .clientOff, .problem, "BlueZ is told not to use other devices' services (Client=false)",
                meaning: "It shows no characteristics then, so no update can begin.", "Client=true", below: "GATT")
        }
        let cache = configuration.word(.cache) ?? "always"
        if cache == "always" {
            add(
                .cache, .note, "BlueZ remembers the services of all devices (Cache=always, its default)",
                meaning:
                    "A device whose firmware changes them is looked at twice, and a paired one is shown with the old "
                    + "ones.",
                "Cache=no", below: "GATT")
        } else {
            findings.append(.ok(.cache, "BlueZ remembers services as Cache=\(cache) says"))
        }
        // The default is true since BlueZ 5.65.
        let isEnabled = configuration.flag(.autoEnable) ?? version.map { $0 >= BlueZVersion(5, 65) } ?? true
        if !isEnabled {
            add(
                .autoEnableOff, .note, "BlueZ does not switch adapters on (AutoEnable=false)",
                meaning: "After each restart, and when it was plugged in, an adapter is off and no update can begin.",
                "AutoEnable=true", below: "Policy")
        }
        return findings
    }

    /// The cure of what a line in the configuration cures.
    private func settingCure(_ lines: [String], below section: String) -> Finding.Cure {
        .init("Set this below [\(section)] in \(configurationPath), and restart bluetoothd:", lines)
    }

    // MARK: Connections

    var linkFindings: [Finding] {
        guard isOwnBlueZ, let adapter = usedAdapter else { return [] }
        return [interval(of: adapter.name), timeout(of: adapter.name)]
    }

    /// What the kernel says that it makes connections with.
    private func parameters(of adapter: String) -> Machine.LinkParameters? {
        machine.controllers.first { $0.name == adapter }?.parameters
    }

    private static let assumed = "(the kernel's default; whether it is changed is not shown)"

    private func interval(of adapter: String) -> Finding {
        let kernel = parameters(of: adapter)
        let set = (configuration?.number(.minConnectionInterval), configuration?.number(.maxConnectionInterval))
        let range = [
            kernel?.minInterval ?? set.0 ?? Machine.LinkParameters.kernelDefault.minInterval,
            kernel?.maxInterval ?? set.1 ?? Machine.LinkParameters.kernelDefault.maxInterval,
        ]
        let origin = kernel != nil ? "" : set == (nil, nil) ? " \(Self.assumed)" : " (\(configurationPath))"
        let times = (range[0] == range[1] ? [range[0]] : range).map(Self.milliseconds).joined(separator: " to ")
        return finding(
            .connectionInterval, about: adapter,
            "connections are made with an interval of \(times) ms\(origin)",
            // 15 ms.
            isGood: range[1] <= 12,
            meaning: "Packets go once in an interval: unless the device asks for a shorter one, an update takes longer "
                + "than with 15 ms.",
            // Below 11.25 ms old bootloaders of Nordic's fail (release notes of the nRF5 SDK 7 to 11).
            settings: ["MinConnectionInterval=9", "MaxConnectionInterval=12"])
    }

    /// A time of so many times 1.25 ms.
    private static func milliseconds(_ units: Int) -> String {
        units % 4 == 0 ? "\(units / 4 * 5)" : Quantities.decimal(Double(units) * 1.25, units % 2 == 0 ? 1 : 2)
    }

    private func timeout(of adapter: String) -> Finding {
        let kernel = parameters(of: adapter)
        let set = configuration?.number(.supervisionTimeout)
        let time =
            (kernel?.supervisionTimeout ?? set ?? Machine.LinkParameters.kernelDefault.supervisionTimeout) * 10
        let origin = kernel != nil ? "" : set == nil ? " \(Self.assumed)" : " (\(configurationPath))"
        return finding(
            .supervisionTimeout, about: adapter,
            "a connection that is silent for \(time) ms is given up\(origin)", isGood: time >= 1000,
            meaning: "A short disturbance ends the connection, and the update has to connect anew and go on.",
            settings: ["ConnectionSupervisionTimeout=200"])
    }

    /// What is to be said of a parameter of connections. Where an update may ask for its own (docs/connection-parameters.md),
    /// it is of no concern.
    private func finding(
        _ id: Finding.ID, about adapter: String, _ message: String, isGood: Bool, meaning: String, settings: [String]
    ) -> Finding {
        // The kernel's management socket is not there in a container.
        let maySet = !machine.isContainer && machine.user.hasNetworkAdministration == true
        guard !isGood else { return .ok(id, about: adapter, message) }
        guard !maySet else { return .ok(id, about: adapter, "\(message), and an update asks for its own") }
        let cure: Finding.Cure =
            machine.isContainer
            ? settingCure(settings, below: "LE")
            : .init(
                "Let dfu ask for its own, which takes CAP_NET_ADMIN:",
                [#"setcap cap_net_admin+ep "$(command -v dfu)""#])
        return Finding(id, .note, about: adapter, message, meaning: meaning, cure: cure)
    }
}
