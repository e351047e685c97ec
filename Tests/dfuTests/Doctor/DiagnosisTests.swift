import DFUTransport
import TestSupport
import Testing

@testable import dfu

/// What is said of what was seen.
@Suite struct DiagnosisTests {
    /// The finding that is not ok; there is one.
    private static func only(_ diagnosis: Diagnosis) throws -> Finding {
        let findings = diagnosis.findings.filter { $0.level != .ok }
        try #require(findings.count == 1, "\(findings)")
        return findings[0]
    }

    private static func objects(_ changes: BlueZObjects.Properties) -> BlueZObjects {
        BlueZObjects(adapters: ["hci0": changes])
    }

    @Test("Of a machine in order all is ok, in the order in which an update meets it") func inOrder() throws {
        let diagnosis = try MachineSample().diagnosis()
        #expect(
            diagnosis.text(width: 80) == """
                ok       the system's message bus answers
                ok       the Bluetooth service runs, and this user may talk to it: bluetoothd
                         --experimental (process 42)
                ok       its version is BlueZ 5.66
                ok       the adapter hci0 is on (00:1A:7D:DA:71:13, USB 0a12:0001), and is used
                ok       /etc/bluetooth/main.conf sets Cache=yes
                ok       BlueZ remembers services as Cache=yes says
                ok       connections are made with an interval of 11.25 to 15 ms
                ok       a connection that is silent for 2000 ms is given up
                ok       this process has no CAP_NET_ADMIN; updates work without
                ok       the kernel is Linux 6.1.0-18-amd64

                Nothing that was looked at stands in the way.
                """)
        #expect(diagnosis.usedAdapter?.name == "hci0")
    }

    @Test("A problem is told with what it means and what to do, in narrow lines as well") func narrow() throws {
        let diagnosis = try MachineSample(without: "/sys/class/rfkill/rfkill0/soft", "/etc/bluetooth", "/sys/kernel")
            .diagnosis(Self.objects(["Powered": .boolean(false)]))
        let lines = diagnosis.text(width: 40).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(
            lines[7..<13].joined(separator: "\n") == """
                problem  the adapter hci0 is off
                         No update can begin.
                         Switch it on, or give dfu the
                         option --power-on:
                           bluetoothctl power on
                ok       /etc/bluetooth/main.conf sets
                """)
        #expect(lines.last == "1 problem in the way of updates; 1 note.")
    }

    // MARK: The bus, the service, and rights

    @Test("BLZ-17 no bus")
    func noBus() throws {
        let missing = DBusError(.connectFailed, message: "no connection to the bus at “unix:path=/x”: No such file")
        let container = try MachineSample(without: "/run/systemd")
        try container.write("", to: "/.dockerenv")
        for (sample, line) in [
            (try MachineSample(), "systemctl start dbus"), (container, "-v /run/dbus:/run/dbus"),
            (try MachineSample(without: "/run/systemd"), "dbus-daemon --system"),
        ] {
            let finding = try Self.only(sample.diagnosis(busFailure: missing))
            #expect(finding.id == .busMissing)
            #expect(finding.status == .environment)
            #expect(finding.cure?.lines.last == line)
        }
        var diagnosis = try MachineSample().diagnosis(busFailure: missing)
        diagnosis.isBusNamed = true
        #expect(try Self.only(diagnosis).cure?.lines == ["unset DBUS_SYSTEM_BUS_ADDRESS"])
    }

    @Test("A bus that does not know this user, and one that does not answer") func oddBuses() throws {
        let closed = DBusError(.connectFailed, message: "the bus at “unix:path=/x” does not let us in")
        let finding = try Self.only(try MachineSample().diagnosis(busFailure: closed))
        #expect(finding.message == closed.message)
        #expect(finding.cure?.text.contains("<policy>") == true)
        let container = try MachineSample()
        try container.write("", to: "/.dockerenv")
        #expect(try Self.only(container.diagnosis(busFailure: closed)).cure?.lines == ["--userns=keep-id"])
        let silent = DBusError(.timeout, message: "org.freedesktop.DBus did not answer Hello within 9.9 seconds")
        #expect(
            try Self.only(try MachineSample().diagnosis(busFailure: silent)).message
                == "the message bus does not answer")
    }

    @Test("BLZ-18 a bus that does not let this user in is a matter of rights") func busDenied() throws {
        let denied = DBusError(.connectFailed, message: "no connection to the bus: Permission denied")
        let finding = try Self.only(try MachineSample().diagnosis(busFailure: denied))
        #expect(finding.id == .busDenied)
        #expect(finding.status == .permission)
        #expect(finding.cure?.lines == ["ls -ld /run/dbus /run/dbus/system_bus_socket"])
    }

    @Test(
        "BLZ-17 a the service is not running: why, and what helps",
        arguments: [
            (BusExamination.Unit(loadState: "loaded", activeState: "inactive"), "systemctl enable --now bluetooth"),
            (.init(loadState: "loaded", activeState: "failed"), "journalctl -u bluetooth -e"),
            (.init(loadState: "masked", activeState: "inactive"), "systemctl unmask bluetooth"),
            (.init(loadState: "not-found", activeState: "inactive"), "systemctl start bluetooth"),
            (nil, "systemctl start bluetooth"),
        ] as [(BusExamination.Unit?, String)])
    func serviceMissing(_ unit: BusExamination.Unit?, _ line: String) throws {
        var bus = BusExamination(address: "unix:path=/run/dbus/system_bus_socket")
        bus.unit = unit
        let finding = try Self.only(try MachineSample().diagnosis(bus))
        #expect(finding.id == .serviceStopped)
        #expect(finding.status == .environment)
        #expect(finding.cure?.lines.first == line)
    }

    @Test("Where BlueZ is not installed, that is said; and where there is no adapter either, that") func notInstalled()
        throws
    {
        let sample = try MachineSample(without: "/usr/libexec", "/sys/class/bluetooth", "/etc/debian_version")
        let diagnosis = sample.diagnosis(BusExamination(address: ""))
        #expect(diagnosis.problems.map(\.id) == [.serviceStopped, .adapterMissing])
        #expect(diagnosis.problems[0].message == "the Bluetooth service is not running: BlueZ is not installed")
        #expect(diagnosis.problems[0].cure == .init("Install the package bluez."))
        #expect(diagnosis.verdict == "2 problems in the way of updates.")
    }

    @Test("In a container the service belongs to the host") func serviceOfTheHost() throws {
        let sample = try MachineSample(without: "/run/systemd", "/usr/libexec")
        try sample.write("", to: "/run/.containerenv")
        let finding = try Self.only(sample.diagnosis(BusExamination(address: "")))
        #expect(finding.cure?.text == "Start it on the host, not in this container:")
    }

    @Test("BLZ-18 access denied: what helps depends on why") func accessDenied() throws {
        func cure(_ message: String, groups: String, members: String) throws -> Finding.Cure? {
            let sample = try MachineSample()
            try sample.write("Uid:\t1000\t1000\t1000\t1000\nGroups:\t\(groups)\n", to: "/proc/self/status")
            try sample.write("bluetooth:x:112:\(members)\n", to: "/etc/group")
            let failure = DBusError(
                name: "org.freedesktop.DBus.Error.AccessDenied", message: message + #"; type="method_call""#)
            let finding = try Self.only(sample.diagnosis(serviceFailure: failure))
            #expect(finding.id == .accessDenied)
            #expect(finding.status == .permission)
            #expect(finding.message == "this user may not talk to the Bluetooth service: \(message)")
            return finding.cure
        }
        let message = "Rejected send message"
        #expect(
            try cure(message, groups: "27", members: "bob")?.lines == ["usermod --append --groups bluetooth ada"])
        #expect(try cure(message, groups: "27", members: "ada")?.text.hasSuffix("log in again.") == true)
        #expect(try cure(message, groups: "112", members: "ada")?.text.contains("policy") == true)
        let words = "An AppArmor policy prevents this sender from sending this message to this recipient"
        #expect(try cure(words, groups: "27", members: "")?.lines == ["--security-opt apparmor=unconfined"])
    }

    @Test("A service that says nothing, or is another thing") func serviceFails() throws {
        let failures: [(DBusError, String)] = [
            (DBusError(.timeout, message: ":1.5 did not answer"), "it did not answer in time"),
            (DBusError(name: "org.freedesktop.DBus.Error.NoReply", message: "gone"), "gone"),
            (DBusError(.invalidMessage, message: "it is not BlueZ"), "it is not BlueZ"),
        ]
        for (failure, words) in failures {
            let finding = try Self.only(try MachineSample().diagnosis(serviceFailure: failure))
            #expect(finding.id == .serviceFails)
            #expect(finding.status == .environment)
            #expect(finding.message == "the Bluetooth service does not show what it has: \(words)")
        }
    }

    @Test("Of another program that is org.bluez this machine's files tell nothing", arguments: ["dfu", nil])
    func otherService(_ name: String?) throws {
        let sample = try MachineSample(without: "/proc/42")
        if let name { try sample.write(name + "\n", to: "/proc/42/comm") }
        let diagnosis = try sample.diagnosis()
        #expect(diagnosis.findings.filter { $0.level != .ok }.map(\.id) == [.serviceOther])
        #expect(!diagnosis.findings.contains { [.configuration, .cache, .connectionInterval].contains($0.id) })
        #expect(diagnosis.findings.contains { $0.message == "the adapter hci0 is on (00:1A:7D:DA:71:13), and is used" })
    }

    @Test(
        "BLZ-26 an old BlueZ is a warning, and one that does not tell is no guess",
        arguments: [
            ("usb:v1D6Bp0246d0532", Finding.ID.versionOld, Finding.Level.warning),
            ("usb:v1D6Bp0246d0533", .version, .ok), ("usb:v05ACp1234d0001", .versionUnknown, .note),
        ])
    func version(_ modalias: String, _ id: Finding.ID, _ level: Finding.Level) throws {
        let findings = try MachineSample().diagnosis(Self.objects(["Modalias": .string(modalias)])).findings
        #expect(findings.first { $0.id == id }?.level == level)
    }

    // MARK: Adapters

    @Test("BLZ-17 b no adapter: none at all, one that the machine's switch takes away, or one that another has")
    func noAdapter() throws {
        let none = try Self.only(try MachineSample(without: "/sys/class/bluetooth").diagnosis(BlueZObjects()))
        #expect(none.id == .adapterMissing)
        #expect(none.message == "there is no Bluetooth adapter")
        let laptop = try MachineSample(without: "/sys/class/bluetooth")
        try laptop.write("tpacpi_bluetooth_sw\n", to: "/sys/class/rfkill/rfkill0/name")
        try laptop.write("1\n", to: "/sys/class/rfkill/rfkill0/soft")
        #expect(try Self.only(laptop.diagnosis(BlueZObjects())).cure?.lines == ["rfkill unblock bluetooth"])
        let held = try Self.only(try MachineSample().diagnosis(BlueZObjects()))
        #expect(held.message == "BlueZ has no Bluetooth adapter, though the kernel has hci0")
    }

    @Test("BLZ-17 d blocked, by software or by hardware, as BlueZ or as the kernel says")
    func blocked() throws {
        let off = ["Powered": DBusValue.boolean(false)]
        let told = off.merging(["PowerState": .string("off-blocked")]) { $1 }
        let byBlueZ = try Self.only(try MachineSample().diagnosis(Self.objects(told)))
        let sample = try MachineSample()
        try sample.write("1\n", to: "/sys/class/rfkill/rfkill0/soft")
        let bySoftware = try Self.only(try sample.diagnosis(Self.objects(off)))
        for finding in [byBlueZ, bySoftware] {
            #expect(finding.id == .adapterBlocked)
            #expect(finding.level == .problem)
            #expect(finding.cure?.lines == ["rfkill unblock bluetooth"])
        }
        try sample.write("1\n", to: "/sys/class/rfkill/rfkill0/hard")
        let byHardware = try Self.only(try sample.diagnosis(Self.objects(off)))
        #expect(byHardware.message == "the adapter hci0 is blocked by rfkill, by the hardware")
        #expect(byHardware.cure?.lines == [])
    }

    /// Adapters that are on or off, which was asked for, and the one that is used.
    @Test(
        "BLZ-17, BLZ-19 a problem is what keeps an update from an adapter, and nothing else is",
        arguments: [
            ([], nil), ([true], nil), ([false], nil), ([true, false], nil), ([false, true], nil),
            ([false, false], nil),
            ([true, true], "hci1"), ([true, false], "hci1"), ([false, true], "hci1"), ([true], "hci1"),
        ] as [([Bool], String?)])
    func asAnUpdate(_ adapters: [Bool], _ asked: String?) throws {
        let named = adapters.enumerated().map { ("hci\($0)", ["Powered": DBusValue.boolean($1)]) }
        let objects = BlueZObjects(adapters: Dictionary(uniqueKeysWithValues: named))
        let diagnosis = try MachineSample().diagnosis(objects, adapter: asked)
        let used = try? objects.tree.usableAdapter(named: asked)
        #expect(diagnosis.usedAdapter == used)
        #expect(diagnosis.problems.isEmpty == (used != nil))
        #expect(diagnosis.problems.allSatisfy { $0.status == .environment })
    }

    @Test("An adapter that is off, beside one that is used, is no problem; the command names it") func spare() throws {
        let objects = BlueZObjects(adapters: ["hci0": [:], "hci1": ["Powered": .boolean(false)]])
        let finding = try Self.only(try MachineSample().diagnosis(objects))
        #expect(finding.level == .note)
        #expect(finding.meaning == "Updates use hci0.")
        #expect(
            finding.cure?.lines
                == ["busctl set-property org.bluez /org/bluez/hci1 org.bluez.Adapter1 Powered b true"])
    }

    @Test("An adapter without Low Energy, one that scans, and one that may be suspended") func oddAdapters() throws {
        let classic = Self.objects(["Roles": .array([], of: .string)])
        #expect(try Self.only(try MachineSample().diagnosis(classic)).id == .adapterClassic)
        let scanning = Self.objects(["Discovering": .boolean(true)])
        #expect(try Self.only(try MachineSample().diagnosis(scanning)).id == .adapterScanning)
        let sample = try MachineSample()
        try sample.write("auto\n", to: "/sys/class/bluetooth/hci0/power/control")
        #expect(try Self.only(try sample.diagnosis()).id == .adapterSuspended)
    }

    // MARK: Devices

    @Test(
        "BLZ-15, BLZ-16 a device that is connected, and one that a program uses",
        arguments: [
            ([:], false), (["Notifying": .boolean(false)], false), (["Notifying": .boolean(true)], true),
            (["NotifyAcquired": .boolean(true)], true), (["WriteAcquired": .boolean(true)], true),
        ] as [(BlueZObjects.Properties, Bool)])
    func connected(_ characteristic: BlueZObjects.Properties, _ isHeld: Bool) throws {
        var objects = BlueZObjects(adapters: ["hci0": [:]])
        objects.connect("C0:FF:EE:00:00:01", name: "Ba\u{1B}[31mnd", characteristic: characteristic)
        let diagnosis = try MachineSample().diagnosis(objects)
        let finding = try Self.only(diagnosis)
        #expect(finding.id == (isHeld ? .deviceHeld : .deviceConnected))
        #expect(finding.level == (isHeld ? .warning : .note))
        #expect(finding.about == "C0:FF:EE:00:00:01")
        #expect(finding.cure?.lines == ["bluetoothctl disconnect C0:FF:EE:00:00:01"])
        #expect(finding.message.hasSuffix(" is connected by hci0\(isHeld ? ", and a program uses its FF01" : "")"))
        #expect(!diagnosis.text(width: 80).contains("\u{1B}"), "a name moves no cursor")
    }

    // MARK: Settings

    @Test(
        "What main.conf sets that is in the way, or is not taken",
        arguments: [
            ("[General]\nControllerMode=bredr", [Finding.ID.classicOnly, .cache], "ControllerMode=dual"),
            ("[GATT]\nCache=no\nClient=false", [.clientOff], "Client=true"),
            ("[GATT]\nCache=always", [.cache], "Cache=no"), ("", [.cache], "Cache=no"),
            ("[GATT]\nCache=no # never", [.settingIgnored, .cache], nil),
            ("[GATT]\nCache=no\n[Policy]\nAutoEnable=false", [.autoEnableOff], "AutoEnable=true"),
            ("[GATT]\nCache=no\nnonsense", [.configurationBroken], nil),
        ] as [(String, [Finding.ID], String?)])
    func configuration(_ text: String, _ ids: [Finding.ID], _ line: String?) throws {
        let sample = try MachineSample()
        try sample.write(text, to: "/etc/bluetooth/main.conf")
        let findings = try sample.diagnosis().findings.filter { $0.level != .ok }
        #expect(findings.map(\.id) == ids)
        #expect(findings.first?.cure?.lines.first == line)
        let isProblem = ids.contains(.classicOnly) || ids.contains(.clientOff)
        #expect(findings.contains { $0.level == .problem } == isProblem)
    }

    @Test("Before BlueZ 5.65 adapters are not switched on unless that is set") func autoEnable() throws {
        let old = Self.objects(["Modalias": .string("usb:v1D6Bp0246d0540")])
        #expect(try Self.only(try MachineSample().diagnosis(old)).id == .autoEnableOff)
    }

    @Test("A configuration that cannot be read is said to be so") func unreadable() throws {
        let sample = try MachineSample(without: "/etc/bluetooth")
        // A folder can be opened by root as well, and not read.
        try sample.write("", to: "/etc/bluetooth/main.conf/none")
        #expect(try Self.only(try sample.diagnosis()).id == .configurationUnreadable)
        let relative = try MachineSample()
        try relative.write("bluetoothd\0-f\0main.conf\0", to: "/proc/42/cmdline")
        #expect(try Self.only(try relative.diagnosis()).about == "main.conf")
    }

    @Test("What connections are made with: as the kernel says, as it is set, or as it is by default") func parameters()
        throws
    {
        func messages(_ sample: MachineSample) throws -> [String] {
            try sample.diagnosis().findings
                .filter { $0.id == .connectionInterval || $0.id == .supervisionTimeout }
                .map { "\($0.level.rawValue): \($0.message)" }
        }
        let assumed = "(the kernel's default; whether it is changed is not shown)"
        let hidden = try MachineSample(without: "/sys/kernel")
        #expect(
            try messages(hidden) == [
                "note: connections are made with an interval of 30 to 50 ms \(assumed)",
                "note: a connection that is silent for 420 ms is given up \(assumed)",
            ])
        try hidden.write("[LE]\nMaxConnectionInterval=24", to: "/etc/bluetooth/main.conf")
        #expect(
            try messages(hidden) == [
                "note: connections are made with an interval of 30 ms (/etc/bluetooth/main.conf)",
                "note: a connection that is silent for 420 ms is given up \(assumed)",
            ])
        try hidden.write(
            "[LE]\nMinConnectionInterval=6\nMaxConnectionInterval=7\nConnectionSupervisionTimeout=100",
            to: "/etc/bluetooth/main.conf")
        #expect(
            try messages(hidden) == [
                "ok: connections are made with an interval of 7.5 to 8.75 ms (/etc/bluetooth/main.conf)",
                "ok: a connection that is silent for 1000 ms is given up (/etc/bluetooth/main.conf)",
            ])
    }

    @Test("Who may have connections of another kind needs nothing else; in a container that is not so")
    func ownParameters() throws {
        func interval(_ sample: MachineSample) throws -> Finding {
            try #require(try sample.diagnosis().findings.first { $0.id == .connectionInterval })
        }
        let sample = try MachineSample(without: "/sys/kernel")
        #expect(try interval(sample).cure?.lines == [#"setcap cap_net_admin+ep "$(command -v dfu)""#])
        try sample.write("CapEff:\t0000000000001000\n", to: "/proc/self/status")
        #expect(try interval(sample).level == .ok)
        #expect(try interval(sample).message.hasSuffix(", and an update asks for its own"))
        try sample.write("", to: "/.dockerenv")
        #expect(try interval(sample).level == .note)
        #expect(try interval(sample).cure?.lines == ["MinConnectionInterval=9", "MaxConnectionInterval=12"])
    }

    // MARK: What programs and people rely on

    @Test("Each finding has its line in the documentation") func documented() throws {
        let text = try ProjectFile.contents("docs/json.md")
        let undocumented = Finding.ID.allCases.map(\.rawValue).filter { !text.contains("`\($0)`") }
        #expect(undocumented == [])
    }

    @Test("No line is wider than the terminal but those that can be copied", arguments: [40, 60, 80])
    func width(_ width: Int) throws {
        var objects = BlueZObjects(adapters: ["hci0": ["Discovering": .boolean(true)], "hci1": [:]])
        objects.connect("C0:FF:EE:00:00:01", name: "A name that goes on for a while")
        let diagnosis = try MachineSample(without: "/sys/kernel", "/etc/bluetooth").diagnosis(objects)
        for line in diagnosis.text(width: width).split(separator: "\n") where !line.hasPrefix("           ") {
            #expect(line.count <= width, "\(line)")
            #expect(line.last != " ")
        }
    }
}
