import DFUTransport
import TestSupport
import Testing

@testable import dfu

/// What a machine's files tell.
@Suite struct MachineTests {
    @Test func everything() throws {
        let machine = try MachineSample().machine()
        #expect(machine.kernel == "6.1.0-18-amd64")
        #expect(!machine.isContainer)
        #expect(machine.hasSystemd)
        #expect(machine.isDebian)
        #expect(machine.daemonPath == "/usr/libexec/bluetooth/bluetoothd")
        #expect(
            machine.controllers == [
                Machine.Controller(
                    name: "hci0", usb: "0a12:0001", mayBeSuspended: false,
                    parameters: .init(minInterval: 9, maxInterval: 12, supervisionTimeout: 200))
            ])
        #expect(machine.switches.map(\.name) == ["hci0"])
        #expect(machine.switches.map(\.kind) == ["bluetooth"])
        #expect(machine.switches.map(\.isBlocking) == [false])
        #expect(machine.service?.isBlueZ == true)
        #expect(machine.service?.arguments == ["--experimental"])
        #expect(machine.configuration == .bytes(Array("[General]\n[GATT]\nCache=yes\n".utf8)))
    }

    @Test func nothing() throws {
        let machine = try MachineSample(without: "/").machine(service: nil)
        #expect(machine.kernel == nil)
        #expect(machine.controllers == [])
        #expect(machine.switches == [])
        #expect(machine.daemonPath == nil)
        #expect(machine.service == nil)
        #expect(machine.user == SystemUser(status: "", passwd: "", group: ""))
        #expect(machine.user.hasNetworkAdministration == nil)
    }

    @Test(
        "A container is known by what Docker and Podman put into it", arguments: ["/.dockerenv", "/run/.containerenv"])
    func container(_ path: String) throws {
        let sample = try MachineSample()
        try sample.write("", to: path)
        #expect(sample.machine().isContainer)
    }

    @Test(
        "The configuration is where bluetoothd was told that it is",
        arguments: [
            ("bluetoothd", "/etc/bluetooth/main.conf"), ("bluetoothd\0-f\0/a.conf", "/a.conf"),
            ("bluetoothd\0-n\0--configfile\0/a.conf\0-E", "/a.conf"),
            ("bluetoothd\0--configfile=/a.conf", "/a.conf"), ("bluetoothd\0-f/a.conf", "/a.conf"),
            ("bluetoothd\0-f", "/etc/bluetooth/main.conf"), ("", "/etc/bluetooth/main.conf"),
        ])
    func configurationPath(_ line: String, _ path: String) throws {
        let sample = try MachineSample()
        try sample.write(line, to: "/proc/42/cmdline")
        #expect(sample.machine().service?.configurationPath == path)
    }

    @Test func aProcessThatCannotBeSeen() throws {
        let process = try MachineSample().machine(service: 43).service
        #expect(process?.name == nil)
        #expect(process?.isBlueZ == false)
        #expect(process?.arguments == [])
    }

    @Test(
        "What the user has to do with the group bluetooth",
        arguments: [
            ("27 112", "bluetooth:x:112:ada", SystemUser.Membership.inside),
            ("27 112", "bluetooth:x:112:", .inside),
            ("27", "bluetooth:x:112:bob,ada", .notYet),
            ("27", "bluetooth:x:112:adam", .outside),
            ("27", "bluetooth:x:112:", .outside),
            ("27", "audio:x:112:ada", .noGroup),
            ("27", "bluetooth", .noGroup),
        ])
    func membership(_ groups: String, _ group: String, _ membership: SystemUser.Membership) {
        let user = SystemUser(
            status: "Uid:\t1000\t1000\t1000\t1000\nGroups:\t\(groups) \n", passwd: "ada:x:1000:1000::/:/bin/sh\n",
            group: "x\n" + group)
        #expect(user.name == "ada")
        #expect(user.bluetoothGroup == membership)
    }

    @Test("CAP_NET_ADMIN is bit 12", arguments: [("0000000000001000", true), ("000001ffffffefff", false), ("x", nil)])
    func capability(_ digits: String, _ has: Bool?) {
        #expect(SystemUser(status: "CapEff:\t\(digits)\n", passwd: "", group: "").hasNetworkAdministration == has)
    }

    @Test(
        "BlueZ's version is the end of what it says that the machine is",
        arguments: [
            ("usb:v1D6Bp0246d0542", "5.66"), ("usb:v1D6Bp0246d0532", "5.50"), ("usb:v1D6Bp0246d0600", "6.0"),
            ("usb:v1D6Bp0246d542", nil), ("usb:v1D6Bp0246d05420", nil), ("bluetooth:v05ACp1234d0001", nil), ("", nil),
        ])
    func version(_ modalias: String, _ version: String?) {
        #expect(BlueZVersion(modalias: modalias)?.description == version)
    }
}
