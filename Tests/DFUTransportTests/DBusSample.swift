import DFUTransport
import Testing

/// A value, and how two foreign programs put it.
struct DBusSample: Sendable, CustomTestStringConvertible {
    let value: DBusValue
    /// The value as `busctl` takes it, word by word, without the type.
    let words: [String]
    /// The value as `busctl` prints it, without the type.
    let printed: String
    /// The value as `dbus-send` prints it, with one space for each gap.
    let shown: String
    /// The value as `dbus-send` takes it, which knows few types.
    let argument: String?

    /// A value that `busctl` prints as it takes it, unless told otherwise.
    init(_ value: DBusValue, _ words: String, printed: String? = nil, _ shown: String, _ argument: String? = nil) {
        self.value = value
        self.words = words.split(separator: " ").map(String.init)
        self.printed = printed ?? words
        self.shown = shown
        self.argument = argument
    }

    var testDescription: String { "\(value.type.code) \(printed)" }

    // Made anew each time: the leak sanitizer does not see what a global holds by pointers with tags.
    static var all: [DBusSample] { basic + containers }

    static var basic: [DBusSample] {
        [
            DBusSample(.byte(0xFE), "254", "byte 254", "byte:254"),
            DBusSample(.boolean(true), "true", "boolean true", "boolean:true"),
            DBusSample(.boolean(false), "false", "boolean false", "boolean:false"),
            DBusSample(.int16(.min), "-32768", "int16 -32768", "int16:-32768"),
            DBusSample(.uint16(.max), "65535", "uint16 65535", "uint16:65535"),
            DBusSample(.int32(.min), "-2147483648", "int32 -2147483648", "int32:-2147483648"),
            DBusSample(.uint32(.max), "4294967295", "uint32 4294967295", "uint32:4294967295"),
            DBusSample(
                .int64(.min), "-9223372036854775808", "int64 -9223372036854775808", "int64:-9223372036854775808"),
            DBusSample(
                .uint64(.max), "18446744073709551615", "uint64 18446744073709551615", "uint64:18446744073709551615"),
            DBusSample(.double(-0.125), "-0.125", "double -0.125", "double:-0.125"),
            DBusSample(
                .string("Grüße🦊"), "Grüße🦊", printed: #""Gr\303\274\303\237e\360\237\246\212""#, #"string "Grüße🦊""#,
                "string:Grüße🦊"),
            DBusSample(
                .objectPath(path("/org/bluez/hci0")), "/org/bluez/hci0", printed: #""/org/bluez/hci0""#,
                #"object path "/org/bluez/hci0""#, "objpath:/org/bluez/hci0"),
            DBusSample(
                .signature(signature("a{sv}(ii)")), "a{sv}(ii)", printed: #""a{sv}(ii)""#, #"signature "a{sv}(ii)""#),
        ]
    }

    static var containers: [DBusSample] {
        [
            DBusSample(.bytes([]), "0", "array [ ]"),
            DBusSample(.bytes([1, 2, 255]), "3 1 2 255", "array of bytes [ 01 02 ff ]", "array:byte:1,2,255"),
            DBusSample(.array([], of: .string), "0", "array [ ]"),
            DBusSample(
                .array([.string("a"), .string("b")], of: .string), "2 a b", printed: #"2 "a" "b""#,
                "array [ string \"a\" string \"b\" ]", "array:string:a,b"),
            DBusSample(
                .array([.boolean(true), .boolean(false)], of: .boolean), "2 true false",
                "array [ boolean true boolean false ]", "array:boolean:true,false"),
            DBusSample(
                .array([.uint64(1), .uint64(.max)], of: .uint64), "2 1 18446744073709551615",
                "array [ uint64 1 uint64 18446744073709551615 ]", "array:uint64:1,18446744073709551615"),
            DBusSample(
                .array([.bytes([7]), .bytes([])], of: .array(of: .byte)), "2 1 7 0",
                "array [ array of bytes [ 07 ] array [ ] ]"),
            DBusSample(
                .array([.variant(.byte(1)), .variant(.boolean(true))], of: .variant), "2 y 1 b true",
                "array [ variant byte 1 variant boolean true ]"),
            DBusSample(
                .array(
                    [
                        .structure([.int16(-1), .string("x")]),
                        .structure([.int16(2), .string("y")]),
                    ], of: .structure([.int16, .string])), "2 -1 x 2 y", printed: #"2 -1 "x" 2 "y""#,
                "array [ struct { int16 -1 string \"x\" } struct { int16 2 string \"y\" } ]"),
            DBusSample(
                .structure([.byte(1), .structure([.double(2.5)]), .objectPath(.root)]), "1 2.5 /",
                printed: #"1 2.5 "/""#,
                "struct { byte 1 struct { double 2.5 } object path \"/\" }"),
            DBusSample(
                .dictionary([.string("k"): .int32(5)], key: .string, value: .int32), "1 k 5", printed: #"1 "k" 5"#,
                "array [ dict entry( string \"k\" int32 5 ) ]", "dict:string:int32:k,5"),
            DBusSample(
                .dictionary([.uint16(0x004C): .variant(.bytes([2, 21]))], key: .uint16, value: .variant),
                "1 76 ay 2 2 21",
                "array [ dict entry( uint16 76 variant array of bytes [ 02 15 ] ) ]"),
            DBusSample(.properties([:]), "0", "array [ ]"),
            DBusSample(
                .dictionary(
                    [
                        .objectPath(path("/a")): .dictionary(
                            [.string("i"): .properties(["p": .boolean(true)])], key: .string,
                            value: .dictionary(key: .string, value: .variant))
                    ],
                    key: .objectPath,
                    value: .dictionary(key: .string, value: .dictionary(key: .string, value: .variant))),
                "1 /a 1 i 1 p b true", printed: #"1 "/a" 1 "i" 1 "p" b true"#,
                "array [ dict entry( object path \"/a\" array [ dict entry( string \"i\" array [ dict entry( string \"p\" variant boolean true ) ] ) ] ) ]"
            ),
            DBusSample(.variant(.int32(3)), "i 3", "variant int32 3", "variant:int32:3"),
            DBusSample(.variant(.variant(.byte(9))), "v y 9", "variant variant byte 9"),
            DBusSample(
                .variant(.structure([.boolean(true), .bytes([1])])), "(bay) true 1 1",
                "variant struct { boolean true array of bytes [ 01 ] }"),
        ]
    }
}

/// The path with this text.
func path(_ text: String) -> DBusObjectPath {
    guard let path = DBusObjectPath(text) else { preconditionFailure("\(text) is no path") }
    return path
}

/// The signature with this text.
func signature(_ text: String) -> DBusSignature {
    guard let signature = DBusSignature(text) else { preconditionFailure("\(text) is no signature") }
    return signature
}

extension DBusValue: CustomTestStringConvertible {
    package var testDescription: String { String("\(type.code) \(self)".prefix(80)) }
}

extension DBusMessage: CustomTestStringConvertible {
    package var testDescription: String { "\(member ?? "") \(body.map(\.testDescription))" }
}
