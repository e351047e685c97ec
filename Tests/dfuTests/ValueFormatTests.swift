import DFUProtocol
import Testing

@testable import dfu

@Suite struct ValueFormatTests {
    @Test(arguments: [
        ("0", Duration.zero), ("20", .milliseconds(20)), ("2.5", .microseconds(2500)), ("0.125", .microseconds(125)),
        ("1000", .seconds(1)), ("007", .milliseconds(7)),
    ])
    func milliseconds(_ text: String, _ expected: Duration) throws {
        #expect(try ValueFormat<Duration>.milliseconds(0...1000).read(text) == expected)
    }

    @Test(arguments: ["", ".", "1.", ".5", "1.2.3", "-1", "+1", "1e2", "0x10", "nan", "1000.001", "1.2345", "1 ", "١"])
    func noMilliseconds(_ text: String) {
        #expect(throws: InvalidValue.wrong("not a number of milliseconds from 0 to 1000")) {
            try ValueFormat<Duration>.milliseconds(0...1000).read(text)
        }
    }

    @Test(arguments: [("9BE1D2A0", 0x9BE1_D2A0), ("9be1d2a0", 0x9BE1_D2A0), ("0x0000000f", 0xF), ("0XFFFFFFFF", .max)])
    func hex32(_ text: String, _ expected: UInt32) throws {
        #expect(try ValueFormat<UInt32>.hex32.read(text) == expected)
    }

    @Test(arguments: ["", "0x", "9BE1D2A", "9BE1D2A00", "+BE1D2A0", "9BE1D2AG", "0x9BE1D2A", "９BE1D2A0"])
    func noHex32(_ text: String) {
        #expect(throws: InvalidValue.wrong("not a CRC-32 of eight hex digits")) {
            try ValueFormat<UInt32>.hex32.read(text)
        }
    }

    @Test func choicesHaveAliases() throws {
        #expect(try ValueFormat<PackageOptions.Part>.choice("part").read("app") == .application)
        #expect(try ValueFormat<PackageOptions.Part>.choice("part").read("bl") == .bootloader)
        #expect(throws: InvalidValue.notYet()) { try ValueFormat<Flash.Method>.choice("protocol").read("smp") }
    }

    @Test func shellsAreOfferedOnlyWhatThisVersionHas() {
        #expect(ValueFormat<Flash.Method>.choice("protocol").completion == .words(["auto", "secure", "block-ack"]))
    }

    @Test(
        arguments: [
            ("", []), ("00", [0]), ("1b99", [0x1B, 0x99]), ("1B 99", [0x1B, 0x99]), ("1b:99:Ff", [0x1B, 0x99, 0xFF]),
            (" 1 b 9 9 ", [0x1B, 0x99]),
        ] as [(String, [UInt8])])
    func hexadecimal(_ text: String, _ expected: [UInt8]) throws {
        #expect(try ValueFormat<[UInt8]>.hexadecimal.read(text) == expected)
    }

    @Test(arguments: ["1", "123", "1 2 3"])
    func noWholeBytes(_ text: String) {
        let count = text.count { $0 != " " }
        #expect(
            throws: InvalidValue.wrong("not of whole bytes: it has \(count) hex digits, an odd number")
        ) { try ValueFormat<[UInt8]>.hexadecimal.read(text) }
    }

    @Test(arguments: ["0x00", "1g", "12-34", "\u{FF11}\u{FF12}", "12,34"])
    func noHexadecimal(_ text: String) {
        #expect(throws: InvalidValue.wrong("not of hex digits alone, with spaces or colons between bytes")) {
            try ValueFormat<[UInt8]>.hexadecimal.read(text)
        }
    }
}
