import DFUTransport

// Adapters, and the devices that are connected by them.
extension Diagnosis {
    var adapterFindings: [Finding] {
        guard let tree else { return bus.service == nil ? missingInKernel : [] }
        let adapters = tree.adapters
        guard !adapters.isEmpty else { return [adapterMissing] }
        guard !asked.isEmpty else {
            let names = adapters.map(\.name).joined(separator: ", ")
            return [
                Finding(
                    .adapterUnknown, .problem, about: adapterName,
                    "there is no adapter \(adapterName ?? ""); there is \(names)",
                    meaning: "No update can begin with it.",
                    cure: .init("Name one that is there with --adapter, or plug it in."))
            ]
        }
        return asked.flatMap { $0.isPowered ? findings(ofPowered: $0) : [off($0)] }
    }

    // MARK: None

    /// Where BlueZ does not run, the kernel alone says whether there is an adapter.
    private var missingInKernel: [Finding] {
        machine.controllers.isEmpty && !isBusNamed ? [adapterMissing] : []
    }

    private var adapterMissing: Finding {
        let kept = isOwnBlueZ ? machine.controllers.map(\.name) : []
        guard kept.isEmpty else {
            return Finding(
                .adapterMissing, .problem,
                "BlueZ has no Bluetooth adapter, though the kernel has \(kept.joined(separator: ", "))",
                meaning: "No update can begin: a program may have the adapter for itself alone.",
                cure: restart(after: "End that program (an HCI tool, an emulator), and restart bluetoothd"))
        }
        // A laptop's own switch takes the adapter off the USB as a whole.
        if let off = machine.switches.first(where: { $0.kind == "bluetooth" && $0.isBlocking }) {
            return Finding(
                .adapterMissing, .problem, "there is no Bluetooth adapter, and the machine's switch \(off.name) is off",
                meaning: "No update can begin.", cure: .init("Switch it on:", ["rfkill unblock bluetooth"]))
        }
        return Finding(
            .adapterMissing, .problem, "there is no Bluetooth adapter", meaning: "No update can begin.",
            cure: .init(
                "Plug one in; where one is, the kernel's log says why it is not used:", ["dmesg | grep -i bluetooth"]))
    }

    // MARK: One that is off

    private func off(_ adapter: BlueZAdapter) -> Finding {
        let level: Finding.Level = usedAdapter == nil ? .problem : .note
        let meaning = usedAdapter.map { "Updates use \($0.name)." } ?? "No update can begin."
        let own = machine.switches.filter { $0.name == adapter.name && $0.isBlocking }
        if own.contains(where: \.isHardBlocked) {
            return Finding(
                .adapterBlocked, level, about: adapter.name,
                "the adapter \(adapter.name) is blocked by rfkill, by the hardware", meaning: meaning,
                cure: .init("No command switches it on: use the machine's key for radios, or its firmware's set-up."))
        }
        if adapter.isBlocked || !own.isEmpty {
            return Finding(
                .adapterBlocked, level, about: adapter.name, "the adapter \(adapter.name) is blocked by rfkill",
                meaning: meaning, cure: .init("Let it be used:", ["rfkill unblock bluetooth"]))
        }
        let isOnly = tree?.adapters.count == 1
        return Finding(
            .adapterOff, level, about: adapter.name, "the adapter \(adapter.name) is off", meaning: meaning,
            cure: .init(
                "Switch it on, or give dfu the option --power-on:",
                [
                    isOnly
                        ? "bluetoothctl power on"
                        : "busctl set-property org.bluez \(adapter.path) org.bluez.Adapter1 Powered b true"
                ]))
    }

    // MARK: One that is on

    private func findings(ofPowered adapter: BlueZAdapter) -> [Finding] {
        let controller = isOwnBlueZ ? machine.controllers.first { $0.name == adapter.name } : nil
        let usb = controller?.usb.map { ", USB \($0)" } ?? ""
        let isUsed = adapter == usedAdapter
        var findings = [
            Finding.ok(
                .adapterOn, about: adapter.name,
                "the adapter \(adapter.name) is on (\(adapter.address)\(usb))\(isUsed ? ", and is used" : "")")
        ]
        guard isUsed else { return findings }
        if let roles = adapter.roles, !roles.contains("central") {
            findings.append(
                Finding(
                    .adapterClassic, .problem, about: adapter.name,
                    "the adapter \(adapter.name) does not speak Bluetooth Low Energy",
                    meaning: "The devices that dfu updates speak nothing else.",
                    cure: .init("Use another adapter (--adapter): Low Energy came with Bluetooth 4.0.")))
        }
        if adapter.isDiscovering {
            findings.append(
                Finding(
                    .adapterScanning, .warning, about: adapter.name,
                    "another program scans with the adapter \(adapter.name)",
                    meaning: "It takes air time from updates, which are slower, and connecting may fail.",
                    cure: .init("End it: close the desktop's Bluetooth settings, and end other tools for Bluetooth.")))
        }
        if controller?.mayBeSuspended == true {
            findings.append(
                Finding(
                    .adapterSuspended, .note, about: adapter.name,
                    "the kernel may suspend the adapter \(adapter.name) to save power",
                    meaning: "Some adapters lose connections by it, or do not come back.",
                    cure: .init(
                        "Where that happens, as root, until it is plugged in anew:",
                        ["echo on > /sys/class/bluetooth/\(adapter.name)/device/../power/control"])))
        }
        return findings
    }

    // MARK: Devices

    var deviceFindings: [Finding] {
        guard let tree else { return [] }
        return tree.devices().filter(\.isConnected).map { device in
            let name = ([device.address] + [device.name].compactMap(\.self)).joined(separator: " ")
            let what = "\(name) is connected by \(device.adapter.lastComponent)"
            let cut = ["bluetoothctl disconnect \(device.address)"]
            let held = tree.services(of: device.path).flatMap { tree.characteristics(of: $0.path) }
                .filter { $0.isNotifying || $0.isNotifyAcquired || $0.isWriteAcquired }
            guard !held.isEmpty else {
                return Finding(
                    .deviceConnected, .note, about: device.address, what,
                    meaning: "It takes air time from updates, and advertises no more: an update of it uses this "
                        + "connection.",
                    cure: .init("Where nothing needs the connection:", cut))
            }
            let uuids = held.map(\.uuid.short).joined(separator: ", ")
            return Finding(
                .deviceHeld, .warning, about: device.address, "\(what), and a program uses its \(uuids)",
                meaning: "It cannot be updated meanwhile, and takes air time from updates of others.",
                cure: .init("End that program, which BlueZ does not name; where it cannot be found:", cut))
        }
    }
}
