import DFUTransport
import Testing

@Suite struct DBusObjectPathTests {
    @Test(arguments: ["/", "/a", "/org/bluez/hci0/dev_00_11_22_33_44_55", "/_0/A9"])
    func takes(text: String) {
        #expect(DBusObjectPath(text)?.string == text)
    }

    @Test(arguments: ["", "a", "//", "/a/", "/a//b", "/a-b", "/ä", "/a b", "/a\0", "/a:b"])
    func refuses(text: String) {
        #expect(DBusObjectPath(text) == nil)
    }

    @Test(arguments: [
        ("/org/bluez/hci1", "/org/bluez/hci1", true),
        ("/org/bluez/hci1/dev", "/org/bluez/hci1", true),
        ("/org/bluez/hci10", "/org/bluez/hci1", false),
        ("/org/bluez", "/org/bluez/hci1", false),
        ("/org", "/", true),
        ("/", "/", true),
    ])
    func countsNamesWhole(lower: String, upper: String, isBelow: Bool) {
        #expect(path(lower).isAtOrBelow(path(upper)) == isBelow)
    }
}
