import DFUProtocol

/// Nordic's SoftDevices, by the firmware ID with which an init packet asks for one.
enum SoftDevice {
    /// `0x0100 (S140 7.2.0)`, or the number alone.
    static func description(of id: UInt32) -> String {
        let hex = "0x" + (UInt16(exactly: id)?.hexadecimal ?? id.hexadecimal)
        return name(of: id).map { "\(hex) (\($0))" } ?? hex
    }

    private static func name(of id: UInt32) -> String? {
        switch id {
        case 0: "none"
        case 0xFFFE: "any"
        default: names[id]
        }
    }

    /// The well-known values that nrfutil's help lists for `--sd-req`.
    private static let names: [UInt32: String] = [
        0x67: "S130 1.0.0", 0x80: "S130 2.0.0", 0x81: "S132 2.0.0", 0x87: "S130 2.0.1", 0x88: "S132 2.0.1",
        0x8C: "S132 3.0.0", 0x91: "S132 3.1.0", 0x95: "S132 4.0.0", 0x98: "S132 4.0.2", 0x99: "S132 4.0.3",
        0x9D: "S132 5.0.0", 0x9E: "S132 4.0.4", 0x9F: "S132 4.0.5", 0xA5: "S132 5.1.0", 0xA7: "S112 6.0.0",
        0xA8: "S132 6.0.0", 0xA9: "S140 6.0.0", 0xAE: "S140 6.1.0", 0xAF: "S132 6.1.0", 0xB0: "S112 6.1.0",
        0xB6: "S140 6.1.1", 0xB7: "S132 6.1.1", 0xB8: "S112 6.1.1", 0xB9: "S340 6.1.1", 0xBA: "S332 6.1.1",
        0xBC: "S212 6.1.1", 0xC1: "S140 7.0.0", 0xC2: "S132 7.0.0", 0xC3: "S113 7.0.0", 0xC4: "S112 7.0.0",
        0xCA: "S140 7.0.1", 0xCB: "S132 7.0.1", 0xCC: "S113 7.0.1", 0xCD: "S112 7.0.1", 0xEA: "S122 8.0.0",
        0x100: "S140 7.2.0", 0x101: "S132 7.2.0", 0x102: "S113 7.2.0", 0x103: "S112 7.2.0", 0x112: "S122 8.1.1",
        0x123: "S140 7.3.0", 0x124: "S132 7.3.0", 0x125: "S113 7.3.0", 0x126: "S112 7.3.0",
    ]
}
