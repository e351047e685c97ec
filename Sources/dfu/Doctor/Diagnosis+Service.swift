import DFUTransport

// The bus, the service on it, and whether this user may talk to it.
extension Diagnosis {
    private static let unset = "unset DBUS_SYSTEM_BUS_ADDRESS"

    // MARK: The bus

    var busFindings: [Finding] {
        guard let failure = bus.failure else {
            guard isBusNamed else { return [.ok(.busReachable, "the system's message bus answers")] }
            return [
                Finding(
                    .busOther, .note, about: bus.address,
                    "DBUS_SYSTEM_BUS_ADDRESS names another bus than the system's, and it answers: \(bus.address)",
                    meaning: "Updates reach what is on that bus, and not this machine's own Bluetooth service.",
                    cure: .init("Where that is not what is wanted:", [Self.unset]))
            ]
        }
        let error = BlueZError(failure)
        let isDenied = TransportError(error, during: .look).code == .permission
        guard !isDenied else { return [denied(.busDenied, failure, "the message bus does not let this user in")] }
        return [
            Finding(
                .busMissing, .problem, about: bus.address, Self.busWords(failure),
                meaning: "BlueZ is reached by it alone, so no update can begin.", cure: busCure(failure))
        ]
    }

    private static func busWords(_ failure: DBusError) -> String {
        if failure.code == .timeout { return "the message bus does not answer" }
        return failure.message.hasPrefix("no ") ? "there is \(failure.message)" : failure.message
    }

    private func busCure(_ failure: DBusError) -> Finding.Cure {
        if isBusNamed { return .init("Where the system's bus is meant:", [Self.unset]) }
        if failure.message.hasSuffix("let us in") {
            // A user that has another number inside a container says the wrong one.
            return machine.isContainer
                ? .init("Give the container the host's users, by an option of podman run:", ["--userns=keep-id"])
                : .init("Look at who may connect to it: the <policy> of its configuration.")
        }
        if machine.isContainer {
            return .init(
                "Give the container the host's bus, by an option of docker or podman run:", ["-v /run/dbus:/run/dbus"])
        }
        if machine.hasSystemd { return .init("Start it:", ["systemctl start dbus"]) }
        return .init("Start it, as root:", ["mkdir -p /run/dbus", "dbus-daemon --system"])
    }

    private static func words(_ failure: DBusError) -> String {
        failure.code == .timeout ? "it did not answer in time" : failure.message
    }

    // MARK: The service

    var serviceFindings: [Finding] {
        guard bus.failure == nil else { return [] }
        guard let service = bus.service else { return [stopped] }
        guard case .failure(let failure) = service.objects else { return [running] }
        switch BlueZError(failure) {
        case .accessDenied: return [denied(.accessDenied, failure, "this user may not talk to the Bluetooth service")]
        case .serviceMissing: return [stopped]
        default:
            return [
                Finding(
                    .serviceFails, .problem, "the Bluetooth service does not show what it has: \(Self.words(failure))",
                    meaning: "Adapters and devices are known by it alone, so no update can begin.",
                    cure: restart(after: "Restart bluetoothd"))
            ]
        }
    }

    /// A cure that ends with the service started anew; `sentence` is without its end.
    func restart(after sentence: String) -> Finding.Cure {
        machine.hasSystemd ? .init(sentence + ":", ["systemctl restart bluetooth"]) : .init(sentence + ".")
    }

    private var running: Finding {
        let id = bus.service?.processID.map { " (process \($0))" } ?? ""
        if isOwnBlueZ {
            let arguments = machine.service?.arguments ?? []
            let line = (["bluetoothd"] + arguments).joined(separator: " ")
            return .ok(.serviceRunning, "the Bluetooth service runs, and this user may talk to it: \(line)\(id)")
        }
        let name = machine.service?.name
        return Finding(
            .serviceOther, .note,
            name.map { "org.bluez is played by \($0)\(id), and not by bluetoothd" }
                ?? "which program is org.bluez cannot be seen from here\(id)",
            meaning: "How it is configured could not be looked at; this machine's settings may say nothing of it.",
            cure: name == nil
                ? .init("Run dfu doctor as root, and where bluetoothd runs.")
                : .init("Where that is not what is wanted, end it, and start bluetoothd."))
    }

    private var stopped: Finding {
        let (state, cure) = stoppedState
        return Finding(
            .serviceStopped, .problem, "the Bluetooth service is not running\(state)",
            meaning: "Adapters are used through it alone, so no update can begin.", cure: cure)
    }

    /// Why it does not run, where that can be seen, and what helps.
    private var stoppedState: (String, Finding.Cure) {
        if isBusNamed {
            return (
                " on the message bus that DBUS_SYSTEM_BUS_ADDRESS names",
                .init("Start there what is to play it; or, to use the system's bus:", [Self.unset])
            )
        }
        switch bus.unit {
        case let unit? where unit.loadState == "masked":
            let lines = ["systemctl unmask bluetooth", "systemctl start bluetooth"]
            return (": systemd is told never to start it (masked)", .init("Take that back, and start it:", lines))
        case let unit? where unit.activeState == "failed":
            let lines = ["journalctl -u bluetooth -e", "systemctl restart bluetooth"]
            return (": it has failed", .init("Its log says why; then start it anew:", lines))
        case let unit? where unit.loadState == "loaded":
            return ("", .init("Start it, now and with the machine:", ["systemctl enable --now bluetooth"]))
        default: break
        }
        if machine.isContainer {
            return ("", .init("Start it on the host, not in this container:", ["systemctl start bluetooth"]))
        }
        guard let path = machine.daemonPath else {
            let cure: Finding.Cure =
                machine.isDebian ? .init("Install it:", ["apt install bluez"]) : .init("Install the package bluez.")
            return (": BlueZ is not installed", cure)
        }
        if machine.hasSystemd { return ("", .init("Start it:", ["systemctl start bluetooth"])) }
        return ("", .init("Start it, as root:", [path + " &"]))
    }

    // MARK: Rights

    private func denied(_ id: Finding.ID, _ failure: DBusError, _ message: String) -> Finding {
        // What follows are the fields of the message that was refused.
        let words = failure.message.prefix { $0 != ";" }
        return Finding(
            id, .problem, "\(message): \(words)",
            meaning: "Every update of this user ends with the exit status \(ExitStatus.permission.rawValue).",
            cure: rightsCure(id, failure))
    }

    private func rightsCure(_ id: Finding.ID, _ failure: DBusError) -> Finding.Cure {
        // Docker's own profile lets nothing pass to a host's bus: github.com/grishy/go-avahi-cname/issues/28.
        if failure.message.contains("AppArmor") {
            return .init(
                "Run the container without Docker's AppArmor profile, by an option of docker run:",
                ["--security-opt apparmor=unconfined"])
        }
        if id == .busDenied {
            return .init("Look at who may use its socket:", ["ls -ld /run/dbus /run/dbus/system_bus_socket"])
        }
        switch machine.user.bluetoothGroup {
        case .notYet: return .init("The user has joined the group bluetooth since this session began: log in again.")
        case .outside:
            let name = machine.user.name ?? "USER"
            return .init("Join the group bluetooth, and log in again:", ["usermod --append --groups bluetooth \(name)"])
        case .noGroup, .inside:
            return .init(
                "Look at what D-Bus's policy for org.bluez says of this user:",
                ["cat /etc/dbus-1/system.d/bluetooth.conf /usr/share/dbus-1/system.d/bluetooth.conf"])
        }
    }

    // MARK: The version

    var versionFindings: [Finding] {
        guard let tree, !tree.adapters.isEmpty else { return [] }
        guard let version else {
            return [
                Finding(
                    .versionUnknown, .note, "BlueZ's version is not known: the adapter tells another identity",
                    meaning: "Whether it is one with known trouble could not be looked at.",
                    cure: .init("It may be that of BlueZ's own tool:", ["bluetoothctl --version"]))
            ]
        }
        // The option `type` of WriteValue (github.com/bluez/bluez/commit/aa9f9b193c51); what it did to others:
        // github.com/weliem/blessed-bluez/issues/8.
        guard version < BlueZVersion(5, 51) else { return [.ok(.version, "its version is BlueZ \(version)")] }
        return [
            Finding(
                .versionOld, .warning, "its version is BlueZ \(version), which writes only as it likes itself",
                meaning: "A packet that is to go without a response may be sent as a request: slow, and not understood "
                    + "by some devices.",
                cure: .init("Use BlueZ 5.51 or later."))
        ]
    }
}
