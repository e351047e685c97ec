/// A Bluetooth device's address: six octets, the most significant first, as people write it.
package struct BluetoothAddress: Sendable, Hashable, CustomStringConvertible {
    /// The six octets.
    package let octets: [UInt8]

    /// Reads six octets in hex with colons, hyphens or nothing between them, in any case; nil for anything else.
    package init?(_ text: String) {
        guard let octets = Self.octets(of: text) else { return nil }
        self.init(octets: octets)
    }

    /// The address with these octets, the most significant first; nil where they are not six.
    package init?(octets: [UInt8]) {
        guard octets.count == 6 else { return nil }
        self.init(six: octets)
    }

    private init(six octets: [UInt8]) {
        self.octets = octets
    }

    /// The octets that a text reads as: two or more of them with colons or hyphens between, or six with nothing between;
    /// nil when it is something else.
    package static func octets(of text: String) -> [UInt8]? {
        let separator = UInt8(ascii: text.utf8.contains(UInt8(ascii: ":")) ? ":" : "-")
        var parts = text.utf8.split(separator: separator, omittingEmptySubsequences: false)
        if parts.count == 1, text.utf8.count == 12 {
            let starts = stride(from: 0, to: 12, by: 2)
            parts = starts.map { text.utf8.dropFirst($0).prefix(2) }
        }
        guard parts.count >= 2 else { return nil }
        var octets: [UInt8] = []
        for part in parts {
            // A sign would pass as a digit of a number.
            guard part.count == 2, part.first != UInt8(ascii: "+"), part.first != UInt8(ascii: "-"),
                let octet = UInt8(Substring(part), radix: 16)
            else { return nil }
            octets.append(octet)
        }
        return octets
    }

    /// Where a Nordic bootloader is found: one is added to the last octet alone, so FF becomes 00 (nRF5 SDK 17.1.0,
    /// `nrf_dfu_ble.c`).
    package var bootloader: BluetoothAddress {
        BluetoothAddress(six: octets.dropLast() + [octets[5] &+ 1])
    }

    /// The form that BlueZ writes, in upper case.
    package var description: String {
        octets.map { octet in
            let digits = String(octet, radix: 16, uppercase: true)
            return octet < 0x10 ? "0" + digits : digits
        }.joined(separator: ":")
    }
}
