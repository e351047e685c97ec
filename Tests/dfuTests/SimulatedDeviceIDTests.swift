import DFUTransport
import Testing

@testable import dfu

@Suite struct SimulatedDeviceIDTests {
    private func read(_ text: String) throws(InvalidValue) -> DeviceID {
        try ValueFormat<DeviceID>.device.read(text)
    }

    @Test func aKindAloneHasNoOptions() throws {
        let id = try read("sim:band")
        #expect(id.device == "sim:band")
        #expect(id.simulated == (try SimulatedDeviceID(behindScheme: "band")))
        #expect(id.simulated.time == .real)
        #expect(id.simulated.battery == nil)
    }

    @Test func everyOptionIsRead() throws {
        let text =
            "sim:band/left?time=virtual&version=2.0.1&battery=50&mtu=247&interval=7.5&phy=2M&dle=on&state=a&image=b&faults=c"
        let id = try read(text)
        #expect(id.text == text)
        #expect(id.device == "sim:band/left")
        #expect(id.simulated.kind == .band)
        #expect(id.simulated.time == .virtual)
        #expect(id.simulated.version == "2.0.1")
        #expect(id.simulated.battery == 50)
        #expect(id.simulated.mtu == 247)
        #expect(id.simulated.interval == .microseconds(7500))
        #expect(id.simulated.phy == .le2M)
        #expect(id.simulated.dataLengthExtension == .on)
        #expect(id.simulated.stateFile == "a")
        #expect(id.simulated.imageFile == "b")
        #expect(id.simulated.faultsFile == "c")
    }

    @Test func everyOptionOfADeviceForSecureDFUIsRead() throws {
        let text =
            "sim:secure/left?time=virtual&version=7&mtu=23&sdk=15&hw=52&sd=0x0101&key=k&buttonless=bonded&start=bootloader"
            + "&bank=single&address=C0:FF:EE:00:00:70&name=Left&state=a&image=b&faults=c"
        let id = try read(text)
        #expect(id.device == "sim:secure/left")
        #expect(id.simulated.kind == .secure)
        #expect(id.simulated.version == "7")
        #expect(id.simulated.mtu == 23)
        var secure = SimulatedSecureOptions()
        secure.sdk = .sdk15
        secure.hardware = 52
        secure.softdevice = .id(0x0101)
        secure.keyFile = "k"
        secure.buttonless = .bonded
        secure.start = .bootloader
        secure.bank = .single
        secure.address = BluetoothAddress("C0:FF:EE:00:00:70")
        secure.name = "Left"
        #expect(id.simulated.secure == secure)
    }

    @Test(arguments: [
        (
            "battery=50",
            "'battery' is none of time, version, mtu, interval, packets, phy, dle, state, image, faults, sdk, hw, "
                + "sd, key, buttonless, start, bank, address, name"
        ),
        ("sd=100", "sd: '100' is not a SoftDevice's firmware ID, as 0x0100, or none"),
        ("sd=0x10000", "sd: '0x10000' is not a SoftDevice's firmware ID, as 0x0100, or none"),
        ("sdk=14", "sdk: '14' is not one of 12, 15, 16, 17"),
    ])
    func whatADeviceForSecureDFUHasNotIsRefused(_ option: String, _ problem: String) {
        #expect(throws: InvalidValue.wrong("not a device that can be simulated; " + problem)) {
            try read("sim:secure?" + option)
        }
    }

    @Test func aBandHasNoSDK() {
        #expect(throws: InvalidValue.self) { try read("sim:band?sdk=17") }
    }

    @Test(arguments: [
        ("a%20b", "a b"), ("%2Ftmp%2fx", "/tmp/x"), ("100%25", "100%"), ("a=b", "a=b"), ("a+b", "a+b"),
        ("%C3%A4", "ä"), ("a?b", "a?b"),
    ])
    func valuesArePercentDecoded(_ text: String, _ expected: String) throws {
        #expect(try read("sim:band?state=\(text)").simulated.stateFile == expected)
    }

    @Test(arguments: ["%", "%2", "%G0", "a%+1", "%FF", "%C3"])
    func badPercentsAreRefused(_ text: String) {
        let message = "not well written: state has a % that does not stand for a byte of UTF-8 (%25 is a %)"
        #expect(throws: InvalidValue.wrong(message)) { try read("sim:band?state=\(text)") }
    }
}

extension DeviceID {
    /// The simulated device that it must be.
    fileprivate var simulated: SimulatedDeviceID {
        guard case .simulated(let id) = kind else { preconditionFailure("\(text) is no simulated device") }
        return id
    }
}
