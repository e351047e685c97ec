/// A version of BlueZ, such as 5.66.
struct BlueZVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
    var major: Int
    var minor: Int

    var description: String { "\(major).\(minor)" }

    init(_ major: Int, _ minor: Int) {
        self.major = major
        self.minor = minor
    }

    /// The version in what an adapter says that this machine is (`Modalias`): `usb:v1D6Bp0246d0542` is BlueZ 5.66.
    ///
    /// That is what bluetoothd itself was built as (`did_vendor`, `did_product` and `did_version` in BlueZ's src/main.c), since
    /// BlueZ 5.0. Nil where its configuration gives the machine another identity.
    init?(modalias: String) {
        let prefix = "usb:v1D6Bp0246d"
        let digits = modalias.dropFirst(prefix.count)
        guard modalias.hasPrefix(prefix), digits.count == 4, let number = UInt16(digits, radix: 16) else { return nil }
        self.init(Int(number >> 8), Int(number & 0xFF))
    }

    static func < (first: Self, second: Self) -> Bool {
        (first.major, first.minor) < (second.major, second.minor)
    }
}
