import DFUTransport
import Testing

@Suite struct DBusSignatureTests {
    @Test(arguments: [
        ("", [DBusType]()),
        ("y", [.byte]),
        (
            "ybnqiuxtdsogh",
            [
                .byte, .boolean, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double, .string, .objectPath,
                .signature,
                .fileDescriptor,
            ]
        ),
        ("aay", [.array(of: .array(of: .byte))]),
        (
            "a{oa{sa{sv}}}",
            [
                .dictionary(
                    key: .objectPath,
                    value: .dictionary(key: .string, value: .dictionary(key: .string, value: .variant)))
            ]
        ),
        (
            "(i(sa(yv)))s",
            [
                .structure([.int32, .structure([.string, .array(of: .structure([.byte, .variant]))])]), .string,
            ]
        ),
    ])
    func listsTypes(text: String, types: [DBusType]) throws {
        #expect(try #require(DBusSignature(text)).types == types)
        #expect(DBusSignature(types)?.string == text)
    }

    @Test(arguments: [
        "a", "(", ")", "()", "(i", "i)", "{sv}", "a{s}", "a{}", "a{vs}", "a{(i)s}", "a{sii}", "z", "m", "r", "e", "s\0",
        String(repeating: "y", count: 256), String(repeating: "a", count: 33) + "y",
        String(repeating: "(", count: 33) + "y" + String(repeating: ")", count: 33),
    ])
    func refuses(text: String) {
        #expect(DBusSignature(text) == nil)
    }

    @Test func takesTheLongestAndDeepest() {
        #expect(DBusSignature(String(repeating: "y", count: 255)) != nil)
        #expect(DBusSignature(String(repeating: "a", count: 32) + "y") != nil)
        let deep = String(repeating: "(", count: 32) + "y" + String(repeating: ")", count: 32)
        #expect(DBusSignature(deep)?.types.first?.code == deep)
    }

    @Test func refusesTypesThatMakeNone() {
        #expect(DBusSignature([.structure([])]) == nil)
        #expect(DBusSignature([.dictionary(key: .variant, value: .byte)]) == nil)
    }
}
